"""Compiled inner loops. They take addresses and sizes, never names, and decide nothing."""
