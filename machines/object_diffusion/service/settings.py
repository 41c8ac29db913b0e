"""The configuration of a node, and what it works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lawful.runtime.instance import Machine
from lawful.runtime.timers import REAL, Clock

from ...services.limits import check_ranges, check_seconds
from .wire import LONGEST_BODY, MOST_IDS


@dataclass(frozen=True)
class Config:
    """How a node behaves; times in seconds.

    The first six are the parameters of `Registry`. `period`: between two rounds of decisions, at
    least. `longest_object`: bytes. `most_objects`: that the pool keeps; then it drops the oldest.
    `redial`: the pause before a lost connection is made again. It doubles, up to `longest_redial`,
    each time a peer lied, brought less than it owes, or owes the same as before: so peers that
    stall by turns do not keep an object from being asked of an honest one. `longest_poll`: the
    longest pause before a peer that had no IDs is asked for some again. `greeting`: until a peer
    has said its name. `backlog`: bytes that may wait to be sent to one peer; with more, requests to
    it wait until it reads. Errors: ValueError for a value out of its range.
    """

    redundancy: int = 1
    outstanding: int = 100
    inflight_per_peer: int = 50
    inflight_total: int = 500
    ids_per_request: int = 10
    reply_timeout: int = 10
    period: float = 0.01
    longest_object: int = 65_536
    most_objects: int = 1_000_000
    redial: float = 1.0
    longest_redial: float = 600.0
    longest_poll: float = 1.0
    greeting: float = 10.0
    backlog: int = 65_536

    def __post_init__(self) -> None:
        check_seconds(self, ("period", "redial", "longest_redial", "longest_poll", "greeting"))
        limits = {
            "redundancy": 2**16,
            "outstanding": MOST_IDS,
            "inflight_per_peer": MOST_IDS,
            "inflight_total": 2**31,
            "ids_per_request": MOST_IDS,
            "reply_timeout": 2**31,
            "longest_object": LONGEST_BODY,
            "most_objects": 2**40,
            "backlog": 2**40,
        }
        check_ranges(self, {name: (1, most) for name, most in limits.items()})
        if self.most_objects < self.inflight_total:
            raise ValueError(
                f"most_objects is at least inflight_total, which is {self.inflight_total},"
                f" not {self.most_objects}"
            )


class Recorder(Protocol):
    """Hears of each event of a machine: a `Journal`."""

    def attach(self, entry: Machine, instance: str) -> object: ...


@dataclass(frozen=True)
class Options:
    """`name`: of the machine in the journal. `clock`: seconds; when it goes back, no time has
    passed. `journal`: gets a row for each event of the machine."""

    name: str = "node"
    clock: Clock = REAL
    journal: Recorder | None = None
