"""Revisions of the tables of a desk, in order."""
