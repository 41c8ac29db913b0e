"""Random methods as people write them: lookups, loops, `match`, places that locals name."""
