"""A machine as a transition system in terms of first-order logic."""
