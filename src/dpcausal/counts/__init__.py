"""Contingency tables: one protocol, backends in memory, in chunks and on engines, kernels chosen by measured cost."""
