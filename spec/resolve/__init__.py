"""Resolution: syntax tree -> typed IR. Names, types, scopes of locals, and calls."""

from .resolver import Resolved, abstract_scopes, resolve, settings_of

__all__ = ["Resolved", "abstract_scopes", "resolve", "settings_of"]
