"""Compiled inner loops of the statistics: arrays in, arrays out."""
