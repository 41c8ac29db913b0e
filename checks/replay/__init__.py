"""Replay of recorded events against a machine, in this process or on Spark."""

from .columnar.trace_store import TraceStore
from .engine_choice import Engine, EngineChoice
from .increments.continuation import Increment, replay_increment
from .increments.given_files import GivenFiles
from .increments.joint_increment import JointIncrement, replay_joint_increment
from .joint.joint_mappings import read_mappings
from .joint.joint_program import JointProgram, joint_program
from .mapping import TraceMapping, read_mapping
from .preparation.preparation_table import LinePattern, Preparation, RowForm
from .program import ReplayProgram
from .resuming import Policy
from .sources import ReplayError
from .spark.frames import ReplayFrames, replay_frame
from .spark.property_columns import property_column
from .spark.streaming import replay_stream
from .storing import write_store
from .tally import Demands
from .validation import ReplayResult, replay, replay_store

__all__ = [
    "Demands",
    "Engine",
    "EngineChoice",
    "GivenFiles",
    "Increment",
    "JointIncrement",
    "JointProgram",
    "LinePattern",
    "Policy",
    "Preparation",
    "ReplayError",
    "ReplayFrames",
    "ReplayProgram",
    "ReplayResult",
    "RowForm",
    "TraceMapping",
    "TraceStore",
    "joint_program",
    "property_column",
    "read_mapping",
    "read_mappings",
    "replay",
    "replay_frame",
    "replay_increment",
    "replay_joint_increment",
    "replay_store",
    "replay_stream",
    "write_store",
]
