"""Exploration: every reachable state within a scope, with shortest counterexamples."""

from .check import Engine, Limits, NoEngine, Progress, explore, explore_on_spark
from .result import CheckResult

__all__ = ["CheckResult", "Engine", "Limits", "NoEngine", "Progress", "explore", "explore_on_spark"]
