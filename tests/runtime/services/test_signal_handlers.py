"""The exception of a signal handler is the caller's, also where a guard might have raised it."""

from __future__ import annotations

import functools
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest

from lawful import Machine, Nat, Opaque, Refused, Undefined, event, ignore, require, transition
from lawful.runtime import stored_instance
from lawful.runtime.instances import journal_lines, journal_rows
from lawful.runtime.instances.snapshots import snapshot
from lawful.runtime.journal import Hidden, Journal, read
from lawful.runtime.outbox import Outbox, Outgoing
from lawful.runtime.store import Store

ERRORS = (LookupError, ArithmeticError, ValueError, TypeError, AttributeError)


class Struck:
    """A value in one of whose comparisons a signal comes, after so many others."""

    left = -1

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        Struck.left -= 1
        if Struck.left == -1:
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

        def plain(_number: int, _frame: object) -> None:
            self.starred()

        yield plain


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
    Struck.left = -1
    signal.signal(signal.SIGUSR1, kept)


def struck(made: Door, call: str, after: int, error: type[Exception]) -> bool:
    """Whether a signal came after so many comparisons; then its exception came out."""
    before = made.opened, dict(made.seen), made.key
    Struck.left = after
    try:
        CALLS[call](made)
    except error as raised:
        assert str(raised) == "of the handler" and Struck.left < 0
        Struck.left = -1
        assert (made.opened, dict(made.seen), made.key) == before
        return True
    except (Refused, Undefined):
        pass
    left, Struck.left = Struck.left, -1
    assert left >= 0, "a signal came, and nobody heard of it"
    return False


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("observed", [False, True])
def test_it_comes_out_as_it_is(call: str, error: type[Exception], observed: bool) -> None:
    for handler in Handlers(error).forms():
        signal.signal(signal.SIGUSR1, handler)
        places = 0
        while True:
            made = door()
            if observed:
                made.lawful.observe(lambda _: None)
            if not struck(made, call, places, error):
                break
            places += 1
        assert places > 1  # One is in the check of the argument.


def test_what_a_guard_raises_is_undefined_as_before() -> None:
    made = door()
    with pytest.raises(Undefined, match="KeyError: 1"):
        made.open(ONE, 1)
    assert made.lawful.may("open", ONE, 1)


class Signalled:
    """In the place of a function: a signal comes before its first call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.left = 1

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGUSR1)
        return self.function(*args, **named)


def raising(_number: int, _frame: object) -> None:
    raise ValueError("of the handler")


class Till(Machine):
    paid: Nat = 0

    @transition()
    def pay(self, amount: Nat) -> Nat:
        self.paid += amount
        return self.paid


@pytest.mark.parametrize("hidden", [None, Hidden(excluded=frozenset({"pay.output"}))])
def test_a_row_of_a_journal_waits_for_the_next_time(
    hidden: Hidden | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal.signal(signal.SIGUSR1, raising)
    with Journal(tmp_path / "j.jsonl") as journal:
        till = Till()
        journal.attach(till, "a", hidden)
        module = journal_rows if hidden else journal_lines
        monkeypatch.setattr(module, "clocks", SimpleNamespace(time=Signalled(time.time)))
        with pytest.raises(ValueError, match=r"^of the handler$"):
            till.pay(5)
        till.pay(1)
    rows = [(row["seq"], row["event"], row["args"]) for row in read(tmp_path / "j.jsonl")]
    assert rows == [(0, None, {}), (1, "pay", {"amount": 5}), (2, "pay", {"amount": 1})]


@pytest.mark.parametrize("error", [ValueError, RuntimeError])
def test_a_store_that_leaves_an_instance_or_closes_hides_no_handlers_exception(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = Handlers(error).method
    signal.signal(signal.SIGUSR1, handler)
    kept = Store(tmp_path / "s.db", synchronous="NORMAL")
    for name in ("a", "b"):
        kept.add(Till(), name).pay(5)
    leaves: tuple[Callable[[], None], ...] = functools.partial(kept.release, "a"), kept.close
    for leave in leaves:
        monkeypatch.setattr(stored_instance, "snapshot", Signalled(snapshot))
        with pytest.raises(error, match=r"^of the handler$"):
            leave()
        leave()
    with Store(tmp_path / "s.db") as kept:
        assert [kept.restore(Till, name).paid for name in ("a", "b")] == [5, 5]


def test_an_outbox_hides_no_handlers_exception_and_delivers_again(tmp_path: Path) -> None:
    signal.signal(signal.SIGUSR1, raising)
    got: list[object] = []

    def take(letter: Outgoing) -> None:
        got.append(letter.output)

    with Store(tmp_path / "s.db", outbox=[Till]) as kept:
        kept.add(Till(), "a").pay(5)
        outbox = Outbox(kept, Till, Signalled(take), lease=0.0)
        with pytest.raises(ValueError, match=r"^of the handler$"):
            outbox.deliver()
        assert got == []
        assert (outbox.deliver(), got) == (1, [5])
