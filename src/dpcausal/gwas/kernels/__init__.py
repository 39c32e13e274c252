"""Compiled loops of the gwas room."""
