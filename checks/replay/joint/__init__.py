"""Several machines with mappings over one log, which is read once."""
