"""Declared domains, and files read into codes. Nothing past this room can fail on a value in a row."""
