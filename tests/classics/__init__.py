"""Machines of the literature, with the figures that were published for them.

Each module declares one machine and its `COUNTS`: distinct states, generated states and depth, as
the language page defines them ("Scope, cuts, counts"). That is how TLC counts, too.
"""
