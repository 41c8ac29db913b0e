"""The table `[history]` of a mapping: rows are calls and returns of processes.

    [history]
    process = "$.process"          # who calls; it has one call at a time
    phase = "$.type"               # whether the row is a call, or how one ended

    [history.phases]               # what the values of `phase` mean, where they differ
    invoke = "call"
    ok = "return"
    fail = "failed"                # the call had no effect
    info = "unknown"               # nobody knows; it may have its effect at any time later

The arguments are those of the call, the output is that of the return.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lawful.spec.codec.as_json import is_object

from ..preparation.record_paths import is_path, wrong_path

CALL, RETURN, FAILED, UNKNOWN = "call", "return", "failed", "unknown"
PHASES = (CALL, RETURN, FAILED, UNKNOWN)
NO_PHASE = f"neither a call nor a return: {{}} is not one of {', '.join(PHASES)}"


@dataclass(frozen=True)
class HistoryTable:
    """Where a record says who calls, and whether it is a call or a return."""

    process: str
    phase: str
    phases: Mapping[str, str] = field(default_factory=dict[str, str])

    def phase_of(self, value: Any) -> str:
        """What the value of `phase` means; empty where it means nothing."""
        found = self.phases.get(value, value) if isinstance(value, str) else ""
        return found if found in PHASES else ""


def history_of(data: Any) -> HistoryTable:
    """The table in a JSON object. Raises ValueError, which says what is wrong."""
    if not is_object(data) or not data.keys() <= {"process", "phase", "phases"}:
        raise ValueError("history has the keys process, phase and phases")
    for name in ("process", "phase"):
        if not is_path(data.get(name)):
            raise ValueError(f'history.{name} has to be a path such as "$.{name}"')
        if why := wrong_path(data[name]):
            raise ValueError(f"history.{name}: {why}")
    phases = data.get("phases", {})
    if not is_object(phases) or not set(phases.values()) <= set(PHASES):
        raise ValueError(f"history.phases has values of {', '.join(PHASES)}")
    return HistoryTable(data["process"], data["phase"], phases)
