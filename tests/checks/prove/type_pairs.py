"""A machine with one variable, in versions of different types, with values of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from annotated_types import Interval, MaxLen

from lawful import Machine, Opaque, OrderedSort, Record, Serial, Sort
from lawful.runtime.interop.text import executed
from lawful.runtime.timers import SimulatedClock

__all__ = ["MaxLen"]


class Node(Sort): ...


class Seat(OrderedSort): ...


class Color(Enum):
    RED = 1
    BLUE = 2


class Paint(Enum):
    """One of its members is a color."""

    RED = 1
    GREEN = 2


class Shade(Enum):
    """All colors, and more."""

    BLUE = 1
    RED = 2
    GREEN = 3


class Ping(Record):
    a: int
    b: bool


class Pong(Record):
    n: Node


Blob = Annotated[bytes, Opaque("Blob")]
Lump = Annotated[bytes, Opaque("Lump")]
Low = Annotated[int, Interval(ge=-2, le=1)]
Turn = Annotated[int, Serial(bits=3)]

NODES = Node("a"), Node("b")
UNIVERSE: dict[type[Any], Any] = {Node: ["a", "b"], Seat: ["s", "t"]}
A, B = NODES
PING, PONG = Ping(5, True), Pong(B)


@dataclass(frozen=True)
class Kind:
    """A type as it is written, its default, and values; of a timer and a clock, what happens."""

    text: str
    default: str
    values: tuple[Any, ...] = ()


BIG = 2**60
NO_SET: set[Any] = set()
NO_FROZEN: frozenset[Any] = frozenset()
NO_BAG: Counter[Any] = Counter()
KINDS = (
    Kind("bool", "False", (False, True)),
    Kind("int", "0", (0, 1, -7, 900, BIG, -BIG)),
    Kind("Nat", "0", (0, 1, 5, 900, BIG)),
    Kind("Low", "0", (-2, 0, 1)),
    Kind("Turn", "0", (0, 1, 7)),
    Kind("Color", "Color.RED", tuple(Color)),
    Kind("Paint", "Paint.RED", tuple(Paint)),
    Kind("Shade", "Shade.RED", tuple(Shade)),
    Kind("Node | None", "None", (None, *NODES)),
    Kind("Seat | None", "None", (None, Seat("s"), Seat("t"))),
    Kind("Blob | None", "None", (None, b"x", b"a")),
    Kind("Lump | None", "None", (None, b"x", b"a")),
    Kind("int | None", "None", (None, 0, -7, BIG)),
    Kind("Nat | None", "None", (None, 0, 7, BIG)),
    Kind("Color | None", "None", (None, *Color)),
    Kind("bool | None", "None", (None, True, False)),
    Kind("Ping", "Ping(0, False)", (Ping(0, False), PING)),
    Kind("Ping | None", "None", (None, PING)),
    Kind("Ping | Pong", "Ping(0, False)", (PING, PONG, Pong(A))),
    Kind("Ping | Pong | None", "None", (None, PING, PONG)),
    Kind("tuple[int, bool]", "(0, False)", ((0, False), (-3, True))),
    Kind("tuple[int, int]", "(0, 0)", ((0, 0), (-3, BIG))),
    Kind("tuple[int, int] | None", "None", (None, (0, 0), (-3, BIG))),
    Kind("Annotated[tuple[int, ...], MaxLen(3)]", "()", ((), (1,), (1, -2), (1, 2, 3))),
    Kind("Annotated[tuple[Nat, ...], MaxLen(2)]", "()", ((), (1,), (1, 2))),
    Kind("Annotated[tuple[Color, ...], MaxLen(2)]", "()", ((), (Color.RED,))),
    Kind("Annotated[list[int], MaxLen(3)]", "[]", ([], [1], [-1, 2], [1, 2, 3])),
    Kind("Annotated[list[Nat], MaxLen(2)]", "[]", ([], [1], [1, 2])),
    Kind("Annotated[list[int | None], MaxLen(2)]", "[]", ([], [None], [1, None])),
    Kind("set[int]", "set()", (NO_SET, {1}, {-1, 900}, {BIG})),
    Kind("set[Nat]", "set()", (NO_SET, {1}, {1, 900})),
    Kind("frozenset[int]", "frozenset()", (NO_FROZEN, frozenset({1, -2}))),
    Kind("set[Node]", "set()", (NO_SET, {A}, {A, B})),
    Kind("set[Ping | Pong]", "set()", (NO_SET, {PING}, {PING, PONG})),
    Kind("set[Ping]", "set()", (NO_SET, {PING})),
    Kind("dict[Node, int]", "{}", ({}, {A: 1}, {A: -1, B: 0})),
    Kind("dict[Node, Nat]", "total(0)", ({A: 0, B: 0}, {A: 1, B: 2})),
    Kind("dict[Node, int | None]", "{}", ({}, {A: None}, {A: 1, B: None})),
    Kind("dict[Color, Nat]", "{}", ({}, {Color.RED: 1}, {Color.RED: 1, Color.BLUE: 0})),
    Kind("dict[int, int]", "{}", ({}, {3: 1}, {-3: 1})),
    Kind("Counter[Node]", "Counter()", (NO_BAG, Counter({A: 2}), Counter({A: 1, B: 3}))),
    Kind("Annotated[Counter[Node], MaxLen(2)]", "Counter()", (NO_BAG, Counter({A: 2}))),
    Kind("Timer", "Timer()", (None, 2.5)),
    Kind("Clock", "Clock(tick=1.0)", (0.0, 0.75, 3.0)),
    Kind("Clock", "Clock(tick=0.5)", (0.0, 0.75, 3.0)),
    Kind("Param[float]", "0.5", (0.0, 0.5, -3.25)),
    Kind("Param[int]", "1", (0, 1, -3, BIG)),
    Kind("Param[Nat | None]", "None", (None, 4)),
)


def versions() -> list[type[Machine]]:
    """The machine with a variable or parameter of each type."""
    text = (
        "from collections import Counter\nfrom typing import Annotated\n"
        "from lawful import Clock, Machine, Nat, Param, Timer, total, transition\n"
        f"from {__name__} import Blob, Color, Low, Lump, MaxLen, Node, Paint, Ping, Pong, Seat,"
        " Shade, Turn\nImported = None.__class__\n"
    )
    for number, kind in enumerate(KINDS):
        text += f"\nclass V{number}:\n    class Box(Machine):\n"
        text += f"        x: {kind.text} = {kind.default}\n        deadlock_ok = True\n"
        if kind.text == "Timer":
            text += "\n        @transition()\n        def start(self) -> None:\n"
            text += "            self.x.start(2.5)\n"
    made = executed(text)
    return [made[f"V{number}"].Box for number in range(len(KINDS))]


def instances(cls: type[Machine], kind: Kind) -> list[Machine]:
    """One in each of the states."""
    if kind.text not in ("Timer", "Clock"):
        return [cls.lawful.state(universe=UNIVERSE, x=value) for value in kind.values]
    found: list[Machine] = []
    for seconds in kind.values:
        clock = SimulatedClock()
        made: Any = cls(universe=UNIVERSE, clock=clock)
        if kind.text == "Clock":
            clock.advance(seconds)
        elif seconds is not None:
            made.start()
        found.append(made)
    return found
