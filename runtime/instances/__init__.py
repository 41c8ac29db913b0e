"""Instances: how they are made, observed, copied, kept and restored."""
