"""What is wrong with rows and mappings: where, what was found, and what was expected."""
