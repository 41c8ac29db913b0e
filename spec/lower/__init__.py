"""Lowering: typed IR and a scope -> `Flat`, in which everything has bounds."""

from .lowering import lower

__all__ = ["lower"]
