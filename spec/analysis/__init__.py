"""Analyses of the IR that every engine may ask: walks, effects, partiality, order of loops."""
