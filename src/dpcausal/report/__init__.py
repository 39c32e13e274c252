"""Pages and plots from results only: nothing here sees data."""
