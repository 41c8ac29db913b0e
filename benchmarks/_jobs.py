"""The machines whose instances `runtime.py` measures, and a hand-written version of the second."""

from __future__ import annotations

from lawful import Machine, Nat, Param, Record, Sort, State, require, transition


class Phase(State):
    IDLE = "idle"
    BUSY = "busy"
    OVER = "over"


class Job(Machine):
    """Three states, one guard, one counter."""

    state: Phase = Phase.IDLE
    done: Nat = 0
    most: Param[int] = 1_000_000_000_000

    @transition(source=Phase.IDLE, target=Phase.BUSY)
    def start(self) -> None: ...

    @transition(source=Phase.BUSY)
    def work(self) -> None:
        require(self.done < self.most, "all is done")
        self.done += 1

    @transition(source=Phase.BUSY, target=Phase.OVER)
    def finish(self) -> None: ...

    @transition(source=Phase.OVER, target=Phase.IDLE)
    def again(self) -> None: ...


class Entry(Record):
    key: int
    count: Nat


class Held(Machine):
    """A set, a map and a record: each event changes one element of each."""

    known: set[int] = set()
    counts: dict[int, Nat] = {}
    last: Entry = Entry(0, 0)

    @transition()
    def put(self, key: int, count: Nat) -> None:
        require(key not in self.known, "it is there")
        self.known.add(key)
        self.counts[key] = count
        self.last = Entry(key, count)

    @transition()
    def drop(self, key: int) -> None:
        require(key in self.known, "it is not there")
        self.known.remove(key)
        del self.counts[key]
        self.last = Entry(key, 0)


class Node(Sort):
    """A node that joins and leaves."""


class Present(Machine):
    """Each event takes an element of a sort."""

    here: set[Node] = set()

    @transition()
    def put(self, node: Node, times: Nat) -> None:
        require(node not in self.here, "it is there")
        self.here.add(node)

    @transition()
    def drop(self, node: Node) -> None:
        require(node in self.here, "it is not there")
        self.here.remove(node)


class HeldByHand:
    """The same by hand; it checks its arguments as lawful does."""

    __slots__ = ("counts", "known", "last")

    def __init__(self) -> None:
        self.known: set[int] = set()
        self.counts: dict[int, int] = {}
        self.last = Entry(0, 0)

    def put(self, key: int, count: int) -> None:
        """Add one element."""
        if type(key) is not int or type(count) is not int:
            raise TypeError("put")
        if count < 0:
            raise ValueError("put")
        if key in self.known:
            raise ValueError("put: it is there")
        self.known.add(key)
        self.counts[key] = count
        self.last = Entry(key, count)

    def drop(self, key: int) -> None:
        """Remove one element."""
        if type(key) is not int:
            raise TypeError("drop")
        if key not in self.known:
            raise ValueError("drop: it is not there")
        self.known.remove(key)
        del self.counts[key]
        self.last = Entry(key, 0)
