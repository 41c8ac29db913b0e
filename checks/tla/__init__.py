"""Export of a machine with its scope as a TLA+ module, which TLC can check."""
