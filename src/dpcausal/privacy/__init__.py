"""Noise, mechanisms, accounting, budgets, the ledger. It never holds a data set."""
