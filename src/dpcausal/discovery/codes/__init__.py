"""Discovery of links among hundreds of rare yes/no columns: capped co-occurrences, measured with noise."""
