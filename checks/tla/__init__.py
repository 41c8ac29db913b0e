"""A machine with its scope as a TLA+ module, for TLC to check again."""
