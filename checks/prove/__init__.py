"""Proofs with Z3: induction, k-induction, bounded search, constrained Horn clauses."""

from .strategy import How, Method, prove

__all__ = ["How", "Method", "prove"]
