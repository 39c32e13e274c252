"""Contingency tables: one protocol, backends in memory and in DuckDB, kernels chosen by measured cost."""
