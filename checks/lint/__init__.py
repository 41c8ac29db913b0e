"""Lint: suspicious parts of a declaration."""

from .findings import Finding, lint

__all__ = ["Finding", "lint"]
