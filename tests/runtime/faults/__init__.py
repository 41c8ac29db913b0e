"""Faults on purpose, and what they cost: the campaign of `make nightly`, and a short one."""
