"""Effects of a treatment on an outcome, adjusted for other columns, under differential privacy."""
