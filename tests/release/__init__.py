"""What a release promises: the formats of its files, and what is installed of it."""
