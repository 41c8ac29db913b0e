"""Replay of recorded events against a machine, in this process or on Spark."""

from .mapping import TraceMapping, read_mapping
from .program import ReplayProgram
from .resuming import Policy
from .sources import ReplayError
from .spark.frames import ReplayFrames, replay_frame
from .validation import Demands, Engine, EngineChoice, ReplayResult, replay

__all__ = [
    "Demands",
    "Engine",
    "EngineChoice",
    "Policy",
    "ReplayError",
    "ReplayFrames",
    "ReplayProgram",
    "ReplayResult",
    "TraceMapping",
    "read_mapping",
    "replay",
    "replay_frame",
]
