"""Short forms of Python, as the longer ones of the IR that they stand for."""
