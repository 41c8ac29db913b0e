"""Legality: the rules that a resolved machine has to keep, as rows."""
