"""Regression of columns on others: kernels, kernel ridge regression, features. Pure functions of arrays."""
