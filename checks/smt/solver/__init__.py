"""The solver: the only modules that know Z3."""
