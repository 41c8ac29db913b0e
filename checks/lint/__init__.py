"""Lint: suspicious parts of a declaration, and mutants that no property detects."""

from .findings import Finding, lint

__all__ = ["Finding", "lint"]
