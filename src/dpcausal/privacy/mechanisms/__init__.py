"""Mechanisms: one file each, a proof beside it. Each is a frozen value with a cost, an event and a sample."""
