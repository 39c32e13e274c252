"""Alembic: how the tables of a desk came to be as they are."""
