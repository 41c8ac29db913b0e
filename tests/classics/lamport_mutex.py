"""Mutual exclusion by logical clocks, over FIFO channels.

Source: L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System" (1978); as in
tlaplus/Examples, specifications/lamport_mutex, whose manifest has the figures for MCLamportMutex.
The configuration was not read: they come out for three processes and clocks up to 6.
"""

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    constraint,
    invariant,
    reachable,
    require,
    total,
    transition,
)

COUNTS = (724274, 2729079, 61)

PROCESSES = 3
Process = Annotated[int, Interval(ge=1, le=3)]


class Request(Record):
    """Asks for the critical section."""

    clock: Nat


class Acknowledge(Record):
    """The request was seen."""


class Release(Record):
    """The critical section is left."""


Message = Request | Acknowledge | Release


class LamportMutex(Machine):
    """A request is answered by all; the earliest one of all that a process knows may enter."""

    clock: dict[Process, Nat] = total(1)
    known: dict[Process, dict[Process, Nat]] = total(total(0))
    answered: dict[Process, set[Process]] = total(set())
    network: dict[tuple[Process, Process], list[Message]] = total([])
    critical: set[Process] = set()

    def everybody(self, p: Process, message: Message) -> None:
        """Broadcast."""
        for q in range(1, PROCESSES + 1):
            if q != p:
                self.network[p, q].append(message)

    def beats(self, p: Process, q: Process) -> bool:
        theirs = self.known[p][q]
        return theirs == 0 or (self.known[p][p], p) < (theirs, q)

    @transition()
    def request(self, p: Process) -> None:
        """Request."""
        require(self.known[p][p] == 0, "has asked")
        self.known[p][p] = self.clock[p]
        self.everybody(p, Request(self.clock[p]))
        self.answered[p] = {p}

    @transition()
    def receive(self, p: Process, q: Process) -> None:
        """ReceiveRequest, ReceiveAck, ReceiveRelease."""
        require(len(self.network[q, p]) > 0, "nothing has come")
        match self.network[q, p].pop(0):
            case Request(clock):
                self.known[p][q] = clock
                self.clock[p] = max(clock, self.clock[p]) + 1
                self.network[p, q].append(Acknowledge())
            case Acknowledge():
                self.answered[p].add(q)
            case Release():
                self.known[p][q] = 0

    @transition()
    def enter(self, p: Process) -> None:
        """Enter."""
        require(len(self.answered[p]) == PROCESSES, "not all have answered")
        others = range(1, PROCESSES + 1)
        require(all(self.beats(p, q) for q in others if q != p), "others come first")
        self.critical.add(p)

    @transition()
    def leave(self, p: Process) -> None:
        """Exit."""
        require(p in self.critical, "is not there")
        self.critical.remove(p)
        self.everybody(p, Release())
        self.known[p][p] = 0
        self.answered[p] = set()

    @constraint
    def early(self) -> bool:
        """ClockConstraint."""
        return all(self.clock[p] <= 6 for p in range(1, PROCESSES + 1))

    @invariant
    def mutual_exclusion(self) -> bool:
        """Mutex."""
        return len(self.critical) <= 1

    @reachable
    def enters(self, p: Process) -> bool:
        return p in self.critical

    scope = Scope(Nat=range(0, 9), network=6)
