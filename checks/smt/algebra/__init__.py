"""Terms, their sorts and their simplification. Nothing here knows Z3."""
