"""Declared columns, and files read into codes. Nothing above this room can fail on a value in a row."""
