"""Statements of a method's body, each kind as typed IR."""
