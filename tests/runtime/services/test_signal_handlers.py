"""The exception of a signal handler is the caller's, also where a guard might have raised it."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

from lawful import Machine, Nat, Opaque, Undefined, event, ignore, require, transition

ERRORS = (LookupError, ArithmeticError, ValueError, TypeError, AttributeError)


class Struck:
    """A value in whose comparison a signal comes, once."""

    strikes = False

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        if Struck.strikes:
            Struck.strikes = False
            signal.raise_signal(signal.SIGUSR1)
        return isinstance(other, Struck) and other.number == self.number


Value = Annotated[Struck, Opaque("Value")]
ONE = Struck(1)


class Door(Machine):
    """It evaluates guards in every way that there is."""

    key: Value | None = None
    opened: Nat = 0
    seen: dict[int, Nat] = {}

    @transition()
    def take(self, key: Value) -> None:
        self.key = key

    @transition()
    def alone(self, key: Value) -> None:
        require(key == self.key, "another key")
        self.opened += 1

    @event
    def open(self, key: Value, at: int) -> None: ...

    @transition(event="open")
    def first(self, key: Value, at: int) -> None:
        require(key == self.key and self.seen[at] > 0, "another key")
        self.opened += 1

    @transition(event="open")
    def second(self, key: Value, at: int) -> None:
        require(key == self.key and at < 0, "not below 0")
        self.opened += 2

    @event
    def close(self, key: Value) -> None: ...

    @transition(event="close")
    def shut(self, key: Value) -> None:
        self.opened += 1
        require(key == self.key, "another key")

    @transition(event="close")
    def lock(self, key: Value) -> None:
        self.opened += 2
        require(key != self.key, "that key")

    @event
    def ring(self, key: Value) -> None: ...

    @transition(event="ring")
    def loud(self, key: Value) -> None:
        require(self.opened > 9, "is shut")

    ignored = ignore("ring", when=lambda self, key: key == self.key, because="nobody is there")


class Handlers:
    """Handlers of every form that raise an exception of a class."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def method(self, _number: int, _frame: object) -> None:
        raise self.error("of the handler")

    def starred(self, *_: object) -> None:
        self.method(0, None)  # Deeper inside.

    def partly(self, _extra: int, _number: int, _frame: object) -> None:
        raise self.error("of the handler")

    def forms(self) -> Iterator[Callable[..., Any]]:
        yield self.method
        yield self.starred
        yield functools.partial(self.partly, 1)
        yield lambda number, frame: self.starred()


def door() -> Door:
    made = Door()
    made.take(ONE)
    return made


CALLS: dict[str, Callable[[Door], object]] = {
    "one transition": lambda made: made.alone(ONE),
    "two transitions": lambda made: made.open(ONE, 1),
    "two that change first": lambda made: made.close(ONE),
    "an ignored event": lambda made: made.ring(ONE),
    "may": lambda made: made.lawful.may("open", ONE, 1),
    "explain": lambda made: made.lawful.explain("open", ONE, 1),
}


@pytest.fixture(autouse=True)
def former() -> Iterator[None]:
    kept = signal.getsignal(signal.SIGUSR1)
    yield
    Struck.strikes = False
    signal.signal(signal.SIGUSR1, kept)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("observed", [False, True])
def test_it_comes_out_as_it_is(call: str, error: type[Exception], observed: bool) -> None:
    for handler in Handlers(error).forms():
        made = door()
        if observed:
            made.lawful.observe(lambda _: None)
        before = made.opened, dict(made.seen), made.key
        signal.signal(signal.SIGUSR1, handler)
        Struck.strikes = True
        with pytest.raises(error, match=r"^of the handler$"):
            CALLS[call](made)
        assert not Struck.strikes
        assert (made.opened, dict(made.seen), made.key) == before


def test_what_a_guard_raises_is_undefined_as_before() -> None:
    made = door()
    with pytest.raises(Undefined, match="KeyError: 1"):
        made.open(ONE, 1)
    assert made.lawful.may("open", ONE, 1)
