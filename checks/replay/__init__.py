"""Replay of recorded events against a machine, in this process or on Spark."""

from .fold import ReplayProgram
from .sources import ReplayError
from .validation import Engine, ReplayResult, replay

__all__ = ["Engine", "ReplayError", "ReplayProgram", "ReplayResult", "replay"]
