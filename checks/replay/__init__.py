"""Replay of recorded events against a machine: here, or on Spark."""

from .fold import ReplayProgram
from .sources import ReplayError
from .validation import Engine, ReplayResult, replay

__all__ = ["Engine", "ReplayError", "ReplayProgram", "ReplayResult", "replay"]
