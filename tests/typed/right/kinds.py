"""Types and expressions: ordered sorts, time, bags, lists, tuples, unions."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, assert_type

from annotated_types import Interval, MaxLen

from lawful import (
    Clock,
    Machine,
    Nat,
    Opaque,
    OrderedSort,
    Param,
    Record,
    Scope,
    Timer,
    implies,
    initial,
    invariant,
    needed,
    predecessor,
    rank,
    reachable,
    require,
    step_property,
    successor,
    total,
    transition,
)

Payload = Annotated[bytes, Opaque("Payload")]
Slot = Annotated[int, Interval(ge=0, le=3)]


class Node(OrderedSort):
    """On a ring."""


class Data(Record):
    slot: Slot
    body: Payload
    route: tuple[Node, ...] = ()


class Gone(Record):
    """Nothing more comes."""


class Ring(Machine):
    clock: Clock = Clock(tick=0.5)
    due: Timer = Timer(urgent=True)
    timers: dict[Node, Timer] = total(Timer())
    token: Node
    last: Data | Gone | None = None
    pair: tuple[Node, bool] | None = None
    queue: Annotated[list[Data], MaxLen(2)] = []
    bag: Counter[Slot] = Counter()
    seen: set[Node] = set()
    level: dict[Slot, Nat] = total(lambda k: k + 1)
    weight: Param[Mapping[bool, Nat]] = {True: 1, False: 0}

    @initial
    def begin(self, first: Node) -> None:
        self.token = first

    @transition()
    def send(self, slot: Slot, body: Payload) -> Data:
        made = Data(slot, body, (self.token, successor(self.token)))
        require(len(self.queue) < 2, f"{len(self.queue)} wait")
        self.queue.append(made)
        self.bag[slot] += 1
        self.due.start(self.weight[True])
        return made.replace(route=made.route[1:])

    @transition(timer="due")
    def take(self) -> Slot:
        first = self.queue.pop(0)
        self.last = first
        self.bag[first.slot] -= 1
        low, high = divmod(first.slot + self.clock.now, 2)
        return low + high

    @transition()
    def move(self) -> tuple[Node, int]:
        self.seen |= {self.token, predecessor(self.token)}
        self.token = successor(self.token)
        self.pair = (self.token, rank(self.token) == 0)
        for n in Node:
            if n not in self.seen:
                self.timers[n].start(1.0)
        return self.token, len(Node) - len(self.seen)

    @transition()
    def end(self) -> Nat:
        match self.last:
            case Data(slot, _, _):
                self.last = Gone()
                return slot
            case Gone():
                return 0
            case None:
                return 1

    @transition()
    def best(self, order: tuple[Node, ...]) -> Node:
        require(len(order) > 0 and all(order[i - 1] < s for i, s in enumerate(order) if i > 0))
        who, ready = needed(self.pair, "nobody was there")
        require(ready, "not there yet")
        found = next((n for n in order if n in self.seen), who)
        heads = sorted(n for n in self.seen if n < found)
        return heads[0] if len(heads) > 0 else min(order)

    @invariant
    def once(self, a: Node, b: Node) -> bool:
        return implies(rank(a) < rank(b), a < b) and sum(1 for n in Node if n == a) == 1

    @invariant
    def levels(self) -> bool:
        totals = {slot: n + 1 for slot, n in self.level.items()}
        return max(totals.values(), default=0) <= 9 and self.bag.total() <= len(self.queue)

    @step_property
    def time_goes_on(self, after: "Ring") -> bool:
        return after.clock.now >= self.clock.now

    @reachable
    def gone(self) -> bool:
        return isinstance(self.last, Gone)

    deadlock_ok = True
    scope = Scope(Node=2, Payload=1, clock=2, bag=2, route=2, order=2, Nat=range(0, 3))


class Hand:
    """A clock of a service's own."""

    def now(self) -> float:
        return 0.0


def words(ring: Ring, node: Node) -> None:
    """What words and operations give, as type checkers see it."""
    assert_type(successor(node), Node)
    assert_type(predecessor(node), Node)
    assert_type(rank(node), int)
    assert_type(needed(ring.pair, "none"), tuple[Node, bool])
    assert_type([n for n in Node], list[Node])
    assert_type(len(Node), int)
    assert_type(ring.queue[0], Data)
    assert_type(ring.level[0], int)
    assert_type(implies(True, False), bool)
    match ring.last:
        case Data(slot, body, route):
            assert_type(slot, int)
            assert_type(body, bytes)
            assert_type(route, tuple[Node, ...])
        case Gone() | None:
            assert_type(ring.last, Gone | None)


def embed() -> None:
    ring = Ring(universe={Node: ["a", "b"]}, clock=Hand())
    ring.begin(Node("b"))
    assert_type(ring.send(1, b"x"), Data)
    assert_type(ring.move(), tuple[Node, int])
    assert_type(ring.best((Node("a"),)), Node)
    assert_type(ring.end(), int)
    assert_type(ring.last, Data | Gone | None)
    assert_type(ring.pair, tuple[Node, bool] | None)
    assert_type(ring.bag, Counter[int])
    assert_type(ring.weight[True], int)
    assert_type(ring.clock.now, int)
    assert_type(ring.due.armed, bool)
    assert_type(ring.timers[Node("a")].deadline, float | None)
    for fired in ring.lawful.fire_due(1.0):
        assert_type(fired.event, str)
    for reason in ring.lawful.explain("take"):
        assert_type(str(reason), str)
