"""A statistic and a mechanism make a test of conditional independence; classical ones too."""
