"""Contingency tables, fast: one protocol, thin backends (memory, DuckDB), kernels chosen by measurement."""
