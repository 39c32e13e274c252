"""`measured`: plan, measure, weigh evidence, search, report (``method.py``)."""
