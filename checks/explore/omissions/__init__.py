"""The arguments of possible steps that a scope leaves out, found by interval analysis."""
