"""What is to happen in a simulated run of the unicast service: faults, each at its moment."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from lawful.runtime.simulation.datagrams import DatagramFaults

NAMES = "ABC"
BAD = DatagramFaults(loss=0.1, duplicate=0.05, reorder=0.1)
FAULTS = (
    "cut",
    "killed",
    "closed",
    "clock back",
    "clock forward",
    "deaf",
    "lies",
    "forged",
    "view",
    "disconnected",
)


@dataclass(frozen=True)
class Fault:
    """At a moment, in seconds, something happens to an endpoint, for `length` seconds."""

    at: float
    what: str
    name: str
    length: float
    number: int


@dataclass(frozen=True)
class Plan:
    """What is to happen in a run: the faults, how many messages each sends to each other, and how
    bad the network is besides. `takes`: the largest payload of a life, where lives differ in it;
    one life has the first of these, the next one the second, and so on."""

    faults: tuple[Fault, ...]
    messages: int
    network: DatagramFaults
    takes: tuple[int, ...] = ()


UNEVEN = (300, 60, 130)


def plan_of(seed: int, messages: int = 120, seconds: float = 8.0) -> Plan:
    """The plan of a seed. In every fifth world peers are forgotten, and met again."""
    draw = random.Random(seed)
    whats = FAULTS if seed % 5 == 3 else FAULTS[:-1]
    faults: list[Fault] = []
    at = 0.0
    while (at := at + draw.uniform(0.05, 0.9)) < seconds:
        length = draw.choice((0.1, 0.5, 2.5))
        what = draw.choice(whats)
        faults.append(Fault(at, what, draw.choice(NAMES), length, draw.randrange(2**32)))
    network = replace(BAD, hold=draw.choice((0.05, 0.3, 2.0)))
    takes = UNEVEN if seed % 6 == 5 else ()
    return Plan(tuple(faults), messages, network, takes)
