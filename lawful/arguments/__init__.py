"""The arguments of each command of the command line, and their help texts."""
