"""Small machines written to break the front end or the reference engine."""
