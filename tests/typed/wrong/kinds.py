"""Mistakes about values: sorts, records, unions, collections, time, and the words over them."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from annotated_types import Interval, MaxLen

from lawful import (
    Clock,
    Ghost,
    Machine,
    Nat,
    Opaque,
    OrderedSort,
    Param,
    Record,
    Serial,
    Sort,
    Timer,
    before,
    implies,
    needed,
    predecessor,
    rank,
    require,
    subsets,
    successor,
    total,
    transition,
)

Payload = Annotated[bytes, Opaque("Payload")]
Slot = Annotated[int, Interval(ge=0, le=3)]
Seqno = Annotated[int, Serial(bits=16)]


class Node(Sort):
    """Who takes part."""


class Seat(OrderedSort):
    """Where."""


class Data(Record):
    slot: Slot
    body: Payload
    route: tuple[Seat, ...] = ()


class Gone(Record):
    """Nothing more comes."""


class Ring(Machine):
    clock: Clock = Clock(tick="1")  # error
    due: Timer = Timer(urgent=3)  # error
    timers: dict[Node, Timer] = total(3)  # error
    node: Node = "a"  # error
    slot: Slot = None  # error
    next: Seqno = 0
    seat: Seat = Seat("a")
    pair: tuple[Seat, bool] = (Seat("a"), Seat("b"))  # error
    last: Data | Gone | None = Seat("a")  # error
    queue: Annotated[list[Data], MaxLen(2)] = set()  # error
    sent: frozenset[Data] = frozenset()
    seen: set[Seat] = {"a"}  # error
    bag: Counter[Slot] = {}  # error
    level: dict[Slot, Nat] = total(lambda k: "x")  # error
    weight: Param[Mapping[bool, Nat]] = {True: "x"}  # error
    told: Ghost[Nat] = "x"  # error

    @transition()
    def collections(self) -> None:
        self.queue.append(3)  # error
        self.seen.add(Node("a"))  # error
        self.sent.add(Data(1, b"x"))  # error
        self.bag["x"] += 1  # error
        self.level["x"] = 1  # error
        self.level[1] = "x"  # error
        self.weight[True] = 3  # error
        self.pair[0] = Seat("a")  # error
        self.queue.pop("x")  # error
        self.queue.push(Data(1, b"x"))  # error
        for _ in Data:  # error
            self.slot = 1
        require(all(n for n in self.slot))  # error

    @transition()
    def words(self) -> None:
        require(rank(self.node) == 0)  # error
        self.seat = successor(self.node)  # error
        self.seat = predecessor(3)  # error
        require(before("x", self.next))  # error
        require(implies(1, True))  # error
        require(len(subsets(3)) > 0)  # error
        require("1")  # error
        self.slot = needed(self.last, "none").slot  # error
        self.slot = needed(self.last, why="none")  # error

    @transition()
    def time(self) -> None:
        self.clock.now = 3  # error
        self.due.start()  # error
        self.due.deadline.now()  # error
        self.timers[self.seat].stop()  # error
        require(self.timers[self.node].running)  # error

    @transition()
    def records(self, m: Data | Gone) -> Slot:
        Data(1)  # error
        Data(1, "x")  # error
        Data(slot=1, text=b"x")  # error
        Gone(1)  # error
        self.last = m.slot  # error
        match m:
            case Data(slot, body, route, more):  # error
                return slot
            case Gone(slot):  # error
                return 0
            case _:
                return 1


def embed(ring: Ring) -> None:
    ring.due.start("now")  # error
    ring.seat.missing  # error
    ring.records("x")  # error
    ring.words().slot  # error
    ring.level["x"]  # error
