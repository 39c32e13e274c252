"""Compiled inner loops. They see addresses and sizes, never names, and hold no policy."""
