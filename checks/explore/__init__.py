"""Exploration: every reachable state within a scope, with shortest counterexamples."""

from .check import Engine, Limits, NoEngine, Progress, explore
from .result import CheckResult

__all__ = ["CheckResult", "Engine", "Limits", "NoEngine", "Progress", "explore"]
