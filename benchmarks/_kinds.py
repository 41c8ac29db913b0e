"""A machine for each kind of event; `MAKERS` has what is compared with the classes by hand."""

from __future__ import annotations

from typing import Annotated

from lawful import Machine, Nat, Opaque, Param, Record, State, ignore, require, transition

Text = Annotated[str, Opaque("Text")]


class Phase(State):
    OPEN = "open"
    BUSY = "busy"
    SHUT = "shut"


class Span(Record):
    low: Nat
    high: Nat


class Point(Record):
    at: int


class Sender(Machine):
    """The machine of the bar: a Nat argument, an output, `max`."""

    sent: Nat = 0
    acked: Nat = 0

    @transition()
    def send(self) -> Nat:
        self.sent += 1
        return self.sent

    @transition()
    def ack(self, upto: Nat) -> None:
        require(upto <= self.sent, "acknowledges what was never sent")
        self.acked = max(self.acked, upto)


class Taker(Machine):
    """Arguments of every kind; each event keeps what it is given."""

    phase: Phase = Phase.OPEN
    flag: bool = False
    name: Text | None = None
    span: Span = Span(0, 0)
    maybe: Span | None = None
    either: Span | Point = Point(0)
    chosen: frozenset[int] = frozenset()
    pair: tuple[int, bool] = (0, False)

    @transition()
    def scalars(self, phase: Phase, flag: bool, name: Text) -> None:
        self.phase = phase
        self.flag = flag
        self.name = name

    @transition()
    def record(self, span: Span) -> None:
        self.span = span

    @transition()
    def optional(self, maybe: Span | None) -> None:
        self.maybe = maybe

    @transition()
    def union(self, either: Span | Point) -> None:
        self.either = either

    @transition()
    def frozen(self, chosen: frozenset[int]) -> None:
        self.chosen = chosen

    @transition()
    def pairs(self, pair: tuple[int, bool]) -> None:
        self.pair = pair


class Door(Machine):
    """Events of two transitions, refused ones, and ignored ones."""

    state: Phase = Phase.OPEN
    count: Nat = 0
    most: Param[Nat] = 1_000_000_000

    @transition(event="turn", source=Phase.OPEN, target=Phase.BUSY)
    def begin(self, by: Nat) -> None:
        self.count += by

    @transition(event="turn", source=Phase.BUSY, target=Phase.OPEN)
    def end(self, by: Nat) -> None:
        self.count += by

    @transition(event="add", source=Phase.OPEN)
    def more(self, by: Nat) -> None:
        require(self.count + by <= self.most, "no room")
        self.count += by

    @transition(event="add", source=Phase.OPEN)
    def over(self, by: Nat) -> None:
        require(self.count + by > self.most, "there is room")
        self.count = by

    @transition(source=Phase.SHUT)
    def never(self) -> None: ...

    @transition(source=Phase.OPEN, target=Phase.SHUT)
    def close(self) -> None: ...

    @transition()
    def guarded(self, by: Nat) -> None:
        require(by <= self.count, "too much")
        self.count = by

    @transition(source=Phase.SHUT)
    def knock(self) -> None: ...

    late = ignore("knock", source=Phase.OPEN, because="nobody hears it")


class Lamp(Machine):
    """A part."""

    on: bool = False
    times: Nat = 0

    @transition()
    def flip(self, by: Nat) -> None:
        require(by < 100, "too many")
        self.on = not self.on
        self.times += by


class Panel(Machine):
    """A machine with a part, and with a family of parts."""

    lamp: Lamp = Lamp()
    lamps: dict[int, Lamp] = {}

    @transition()
    def press(self, by: Nat) -> None:
        self.lamp.flip(by)

    @transition()
    def put(self, key: int) -> None:
        self.lamps[key] = Lamp()

    @transition()
    def renew(self, key: int) -> None:
        self.lamps[key] = Lamp()

    @transition()
    def press_one(self, key: int, by: Nat) -> None:
        require(key in self.lamps, "no such lamp")
        self.lamps[key].flip(by)


class Books(Machine):
    """Containers that are updated under an `if`, and nested ones."""

    known: set[int] = set()
    counts: dict[int, Nat] = {}
    nested: dict[int, dict[int, Nat]] = {}
    queue: list[int] = []

    @transition()
    def fill(self, count: Nat) -> None:
        self.known = {i for i in range(count)}
        self.counts = {i: 0 for i in range(count)}
        self.nested = {i: {i: 0} for i in range(count)}

    @transition()
    def set_one(self, key: int, count: Nat) -> None:
        self.counts[key] = count

    @transition()
    def if_there(self, key: int, count: Nat) -> None:
        if key in self.known:
            self.counts[key] = count
        else:
            self.known.add(key)

    @transition()
    def inside(self, key: int, inner: int, count: Nat) -> None:
        require(key in self.nested, "no such book")
        self.nested[key][inner] = count

    @transition()
    def by_helper(self, key: int, count: Nat) -> None:
        self.put(key, count)

    def put(self, key: int, count: Nat) -> None:
        self.known.add(key)
        self.counts[key] = count

    @transition()
    def add_twice(self, key: int) -> None:
        self.known.add(key)
        self.known.discard(-key)
