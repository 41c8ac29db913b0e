"""Lint: what is odd about a declaration, and which small changes no property notices."""

from .findings import Finding, lint

__all__ = ["Finding", "lint"]
