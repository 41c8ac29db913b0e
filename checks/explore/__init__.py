"""Exploration: every reachable state within a scope, with shortest counterexamples."""

from .check import CheckResult, Engine, Limits, NoEngine, Progress, explore

__all__ = ["CheckResult", "Engine", "Limits", "NoEngine", "Progress", "explore"]
