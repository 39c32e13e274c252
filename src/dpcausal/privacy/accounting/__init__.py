"""What a list of events costs together: composition, conversion, numerical plans, the filter that stops.

Nothing here draws noise or sees data. Costs are public numbers; sums of them are exact (``accounting/composition.py``).
"""
