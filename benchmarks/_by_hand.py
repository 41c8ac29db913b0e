"""The machines of `_kinds` as classes by hand.

They make the same checks: types and bounds of arguments, control states and guards. A false guard
raises ValueError with a text that has the values. They undo nothing.
"""

from __future__ import annotations

from benchmarks._kinds import Phase, Point, Span

OPEN, BUSY, SHUT = Phase


class SenderByHand:
    __slots__ = ("acked", "sent")

    def __init__(self) -> None:
        self.sent = 0
        self.acked = 0

    def send(self) -> int:
        """Count a message."""
        self.sent += 1
        return self.sent

    def ack(self, upto: int) -> None:
        """Count what was acknowledged."""
        if type(upto) is not int:
            raise TypeError("ack: upto")
        if upto < 0:
            raise ValueError("ack: upto")
        if not upto <= self.sent:
            raise ValueError(f"acknowledges what was never sent ({upto} <= {self.sent} is false)")
        if upto > self.acked:  # noqa: PLR1730  # A call of max is slower.
            self.acked = upto


class TakerByHand:
    __slots__ = ("chosen", "either", "flag", "maybe", "name", "pair", "phase", "span")

    def __init__(self) -> None:
        self.phase = OPEN
        self.flag = False
        self.name = ""
        self.span = Span(0, 0)
        self.maybe: Span | None = None
        self.either: Span | Point = Point(0)
        self.chosen: frozenset[int] = frozenset()
        self.pair = (0, False)

    def scalars(self, phase: Phase, flag: bool, name: str) -> None:
        """Keep an enum, a truth and a text."""
        if type(phase) is not Phase or type(flag) is not bool or type(name) is not str:
            raise TypeError("scalars")
        self.phase = phase
        self.flag = flag
        self.name = name

    def record(self, span: Span) -> None:
        """Keep a record."""
        if type(span) is not Span or type(span.low) is not int or type(span.high) is not int:
            raise TypeError("record")
        if span.low < 0 or span.high < 0:
            raise ValueError("record")
        self.span = span

    def optional(self, maybe: Span | None) -> None:
        """Keep a record or None."""
        if maybe is not None:
            if type(maybe) is not Span or type(maybe.low) is not int or type(maybe.high) is not int:
                raise TypeError("optional")
            if maybe.low < 0 or maybe.high < 0:
                raise ValueError("optional")
        self.maybe = maybe

    def union(self, either: Span | Point) -> None:
        """Keep one of two records."""
        if type(either) is Span:
            if type(either.low) is not int or type(either.high) is not int:
                raise TypeError("union")
            if either.low < 0 or either.high < 0:
                raise ValueError("union")
        elif type(either) is not Point or type(either.at) is not int:
            raise TypeError("union")
        self.either = either

    def frozen(self, chosen: frozenset[int]) -> None:
        """Keep an immutable set."""
        if type(chosen) is not frozenset:
            raise TypeError("frozen")
        for each in chosen:
            if type(each) is not int:
                raise TypeError("frozen")
        self.chosen = chosen

    def pairs(self, pair: tuple[int, bool]) -> None:
        """Keep a tuple."""
        if type(pair) is not tuple or len(pair) != 2:
            raise TypeError("pairs")
        if type(pair[0]) is not int or type(pair[1]) is not bool:
            raise TypeError("pairs")
        self.pair = pair


class DoorByHand:
    __slots__ = ("count", "most", "state")

    def __init__(self, most: int = 1_000_000_000) -> None:
        self.state = OPEN
        self.count = 0
        self.most = most

    def turn(self, by: int) -> None:
        """Two transitions, by the control state."""
        if type(by) is not int:
            raise TypeError("turn")
        if by < 0:
            raise ValueError("turn")
        if self.state is OPEN:
            self.count += by
            self.state = BUSY
        elif self.state is BUSY:
            self.count += by
            self.state = OPEN
        else:
            raise ValueError(f"turn: {self.state.name} is not one of OPEN, BUSY")

    def add(self, by: int) -> None:
        """Two transitions, by a guard."""
        if type(by) is not int:
            raise TypeError("add")
        if by < 0:
            raise ValueError("add")
        if self.state is not OPEN:
            raise ValueError(f"add: {self.state.name} is not OPEN")
        if self.count + by <= self.most:
            self.count += by
        else:
            self.count = by

    def never(self) -> None:
        """Refused."""
        if self.state is not SHUT:
            raise ValueError(f"never: the state is {self.state.name}, not SHUT")

    def close(self) -> None:
        """Shut it."""
        if self.state is not OPEN:
            raise ValueError(f"close: the state is {self.state.name}, not OPEN")
        self.state = SHUT

    def guarded(self, by: int) -> None:
        """Refused by a guard."""
        if type(by) is not int:
            raise TypeError("guarded")
        if by < 0:
            raise ValueError("guarded")
        if not by <= self.count:
            raise ValueError(f"guarded: too much ({by} <= {self.count} is false)")
        self.count = by

    def knock(self) -> None:
        """Ignored while it is open."""
        if self.state is not SHUT:
            if self.state is OPEN:
                return
            raise ValueError(f"knock: the state is {self.state.name}, not SHUT")


class LampByHand:
    __slots__ = ("on", "times")

    def __init__(self) -> None:
        self.on = False
        self.times = 0

    def flip(self, by: int) -> None:
        """Turn it on or off."""
        if not by < 100:
            raise ValueError(f"too many ({by} < 100 is false)")
        self.on = not self.on
        self.times += by


class PanelByHand:
    __slots__ = ("lamp", "lamps")

    def __init__(self) -> None:
        self.lamp = LampByHand()
        self.lamps: dict[int, LampByHand] = {}

    def press(self, by: int) -> None:
        """Call the part's event."""
        if type(by) is not int:
            raise TypeError("press")
        if by < 0:
            raise ValueError("press")
        self.lamp.flip(by)

    def put(self, key: int) -> None:
        """Make a part."""
        self.lamps[key] = LampByHand()

    def renew(self, key: int) -> None:
        """Make a part in the place of another."""
        if type(key) is not int:
            raise TypeError("renew")
        self.lamps[key] = LampByHand()

    def press_one(self, key: int, by: int) -> None:
        """Call the event of one of the parts."""
        if type(key) is not int or type(by) is not int:
            raise TypeError("press_one")
        if by < 0:
            raise ValueError("press_one")
        if key not in self.lamps:
            raise ValueError(f"no such lamp ({key} in lamps is false)")
        self.lamps[key].flip(by)


class BooksByHand:
    __slots__ = ("counts", "known", "nested")

    def __init__(self) -> None:
        self.known: set[int] = set()
        self.counts: dict[int, int] = {}
        self.nested: dict[int, dict[int, int]] = {}

    def fill(self, count: int) -> None:
        """Begin with so many."""
        self.known = set(range(count))
        self.counts = dict.fromkeys(range(count), 0)
        self.nested = {i: {i: 0} for i in range(count)}

    def set_one(self, key: int, count: int) -> None:
        """Set one entry."""
        if type(key) is not int or type(count) is not int:
            raise TypeError("set_one")
        if count < 0:
            raise ValueError("set_one")
        self.counts[key] = count

    def if_there(self, key: int, count: int) -> None:
        """Set one entry under an `if`."""
        if type(key) is not int or type(count) is not int:
            raise TypeError("if_there")
        if count < 0:
            raise ValueError("if_there")
        if key in self.known:
            self.counts[key] = count
        else:
            self.known.add(key)

    def by_helper(self, key: int, count: int) -> None:
        """Change two containers in another method."""
        if type(key) is not int or type(count) is not int:
            raise TypeError("by_helper")
        if count < 0:
            raise ValueError("by_helper")
        self.put(key, count)

    def put(self, key: int, count: int) -> None:
        """Add it with its count."""
        self.known.add(key)
        self.counts[key] = count

    def inside(self, key: int, inner: int, count: int) -> None:
        """Set one entry of an inner map."""
        if type(key) is not int or type(inner) is not int or type(count) is not int:
            raise TypeError("inside")
        if count < 0:
            raise ValueError("inside")
        if key not in self.nested:
            raise ValueError(f"no such book ({key} in nested is false)")
        self.nested[key][inner] = count

    def add_twice(self, key: int) -> None:
        """Change a set in two places."""
        if type(key) is not int:
            raise TypeError("add_twice")
        self.known.add(key)
        self.known.discard(-key)
