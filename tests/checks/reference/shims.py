"""What stands for the words of the language when Python itself is the judge."""

from __future__ import annotations

import collections
import decimal
import types
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from lawful.spec import types as t
from lawful.spec import words
from tests.checks.reference.sorts import rank, ring
from tests.checks.reference.stops import FAULTS, Counted, Stop, needed, refuse, require


class Armed:
    """A timer: armed or not."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def armed(self) -> bool:
        return self.value is not False

    def due(self) -> bool:
        return self.armed

    def start(self, seconds: float) -> None:
        self.value = True

    def stop(self) -> None:
        self.value = False


class Counting(Armed):
    """A timer beside a clock: the ticks until it is due, or None."""

    def __init__(self, value: Any, tick: float) -> None:
        super().__init__(value)
        self.tick = decimal.Decimal(str(tick))

    @property
    def armed(self) -> bool:
        return self.value is not None

    def due(self) -> bool:
        return bool(self.value == 0)

    def start(self, seconds: float) -> None:
        whole, rest = divmod(decimal.Decimal(str(seconds)), self.tick)
        self.value = max(0, int(whole) + (rest > 0))

    def stop(self) -> None:
        self.value = None


class Clock:
    """A clock that stands still until a tick."""

    def __init__(self, now: int) -> None:
        self.now = now


def tick(twin: Any, kinds: Any, machine: str) -> None:
    """Time passes in a twin and its parts; `Stop` where something urgent is due."""
    found = list(_timed(twin, kinds, machine))
    if any(value.value == 0 for value, kind in found if isinstance(kind, t.Timer) and kind.urgent):
        raise Stop
    for value, _ in found:
        if isinstance(value, Clock):
            value.now += 1
        elif value.value:
            value.value -= 1


def _timed(twin: Any, kinds: Any, machine: str) -> Iterator[tuple[Any, t.Type]]:
    for name, kind in kinds(machine):
        value = getattr(twin, name)
        match kind:
            case t.Timer() | t.Clock():
                yield value, kind
            case t.Map(value=t.Timer() as of):
                yield from ((each, of) for each in value.values())
            case t.Part(machine=inner):
                yield from _timed(value, kinds, inner)
            case t.Map(value=t.Part(machine=inner)):
                for each in value.values():
                    yield from _timed(each, kinds, inner)
            case _:
                pass


def copied(value: Any, _memo: object = None) -> Any:
    """A twin, or a value in one, that shares nothing with it that can change."""
    kind: Any = value.__class__
    if kind is list:
        return [copied(each) for each in value]
    if kind is dict:
        return {key: copied(each) for key, each in value.items()}
    if kind is Counted:
        return Counted(value)
    if kind is set:
        return set(value)
    if kind.__dict__.get("__deepcopy__") is not copied and not isinstance(value, Armed | Clock):
        return value  # What cannot change.
    twin = kind.__new__(kind)
    twin.__dict__.update({name: copied(each) for name, each in vars(value).items()})
    return twin


def _can(method: Any, /, *args: Any) -> bool:
    trial = copied(method.__self__)
    try:
        getattr(trial, method.__name__)(*args)
    except Stop:
        return False
    except FAULTS:
        return True
    return True


def _neighbour(step: int) -> Callable[[Any], Any]:
    def find(element: Any, /) -> Any:
        round_it = ring(element)
        return round_it[(round_it.index(element) + step) % len(round_it)]

    return find


class Wrapping(int):
    """A serial number as the RFC has it, written out once more."""

    bits: int

    @classmethod
    def of(cls, value: int, bits: int) -> Wrapping:
        made = cls(value % 2**bits)
        made.bits = bits
        return made

    def __add__(self, other: int) -> Wrapping:
        return Wrapping.of(int(self) + int(other), self.bits)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        away = int(self) - int(other)
        return away % 2**self.bits if isinstance(other, Wrapping) else Wrapping.of(away, self.bits)


def _before(a: int, b: int, /) -> bool:
    wrapping = next(each for each in (a, b) if isinstance(each, Wrapping))
    half = 2 ** (wrapping.bits - 1)
    a, b = int(a), int(b)
    return (a < b and b - a < half) or (a > b and a - b > half)


SHIMS = {
    words.require: require,
    words.refuse: refuse,
    words.needed: needed,
    words.can: _can,
    words.before: _before,
    words.rank: rank,
    words.successor: _neighbour(1),
    words.predecessor: _neighbour(-1),
    collections.Counter: Counted,
}


class Words(types.ModuleType):
    """`lawful` itself with the words replaced, for `import lawful as lw`."""

    def __init__(self, real: types.ModuleType) -> None:
        super().__init__(real.__name__)
        self.__dict__.update({n: shim(v) for n, v in vars(real).items()})


def shim(value: Any) -> Any:
    """What stands for a word in a twin; any other value unchanged."""
    try:
        return SHIMS.get(value, value)
    except TypeError:
        return value


def control_of(twin: Any, states: tuple[Enum | str, ...] | None, of: str | None = None) -> str:
    """The place that a header moves: the one that it names, or the attribute that holds one of
    these states; of several, `state`."""
    wanted = states[0].__class__ if states else None
    held = [str(name) for name in twin.__dict__ if getattr(twin, name).__class__ is wanted]
    return of or (held[0] if len(held) == 1 else "state")
