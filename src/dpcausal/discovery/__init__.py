"""From answers to graphs: one search that asks questions and never holds data, one driver per algorithm."""
