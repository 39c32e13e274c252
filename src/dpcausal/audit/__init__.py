"""Checks of mechanisms: exact privacy losses, empirical lower bounds on epsilon, and known-broken variants."""
