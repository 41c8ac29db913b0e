"""Mutation testing of properties: which small changes of a machine `check` and `prove` miss."""
