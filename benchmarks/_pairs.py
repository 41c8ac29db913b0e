"""What the table of events compares: each kind of event of a machine, and of a class by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks._by_hand import BooksByHand, DoorByHand, PanelByHand, SenderByHand, TakerByHand
from benchmarks._kinds import Books, Door, Panel, Phase, Point, Sender, Span, Taker

Call = Callable[[], Any]
LARGE, SMALL = 100_000, 10

# What is compared: the goal, and a function that makes both calls.

Both = tuple[Call, Call]
MAKERS: dict[str, tuple[float, Callable[[], Both]]] = {}


def _pair(title: str, goal: float) -> Callable[[Callable[[], Both]], Callable[[], Both]]:
    def keep(make: Callable[[], Both]) -> Callable[[], Both]:
        MAKERS[title] = goal, make
        return make

    return keep


def _same(
    title: str, goal: float, ours: type[Any], hand: type[Any], act: Callable[[Any], Call]
) -> None:
    """A row in which both classes do the same."""
    MAKERS[title] = goal, lambda: (act(ours()), act(hand()))


def _with(event: str, *args: Any) -> Callable[[Any], Call]:
    """A call of one event, its arguments given."""

    def act(made: Any) -> Call:
        method = getattr(made, event)
        return lambda: method(*args)

    return act


def _sending(made: Any) -> Call:
    send, ack = made.send, made.ack

    def call() -> None:
        ack(send())

    return call


def _refused(event: str, read: bool, *args: Any) -> Callable[[Any], Call]:
    def act(made: Any) -> Call:
        method = getattr(made, event)

        def call() -> None:
            try:
                method(*args)
            except Exception as error:
                if read:
                    str(error)

        return call

    return act


def _refused_shut(made: Any) -> Call:
    made.close()
    return _refused("turn", False, 1)(made)


def _filled(size: int, event: str, *args: Any) -> Callable[[Any], Call]:
    def act(made: Any) -> Call:
        made.fill(size)
        return _with(event, *args)(made)

    return act


def _lit(made: Any) -> Call:
    for key in range(SMALL):
        made.put(key)
    return _with("press_one", 3, 1)(made)


_same("the bar's machine: send, ack", 1.25, Sender, SenderByHand, _sending)
_same("max of a Nat argument", 2, Sender, SenderByHand, _with("ack", 0))
_same("an enum, a bool and a text", 2, Taker, TakerByHand, _with("scalars", Phase.BUSY, True, "x"))
_same("a record argument", 2, Taker, TakerByHand, _with("record", Span(1, 2)))
_same("an optional record", 2, Taker, TakerByHand, _with("optional", Span(1, 2)))
_same("a union of records", 2, Taker, TakerByHand, _with("union", Point(1)))
_same("a tuple argument", 2, Taker, TakerByHand, _with("pairs", (1, True)))
_same("a frozenset of 3", 2, Taker, TakerByHand, _with("frozen", frozenset({1, 2, 3})))
_same("two transitions, by state", 3, Door, DoorByHand, _with("turn", 1))
_same("two transitions, by guard", 3, Door, DoorByHand, _with("add", 1))
_same("ignored", 3, Door, DoorByHand, _with("knock"))
_same("refused by state, not read", 3, Door, DoorByHand, _refused("never", False))
_same("refused by guard, not read", 3, Door, DoorByHand, _refused("guarded", False, 7))
_same("refused by guard, read", 0, Door, DoorByHand, _refused("guarded", True, 7))
_same("refused by two transitions", 3, Door, DoorByHand, _refused_shut)
_same("a call of a part's event", 3, Panel, PanelByHand, _with("press", 1))
_same("of one part of a family of 10", 3, Panel, PanelByHand, _lit)
_same("a part is made in a family of 1", 3, Panel, PanelByHand, _with("renew", 1))
_same("a map's entry", 2, Books, BooksByHand, _filled(SMALL, "set_one", 3, 1))
_same("a map's entry under an if", 2, Books, BooksByHand, _filled(SMALL, "if_there", 3, 1))
_same("an entry of a nested map", 2, Books, BooksByHand, _filled(SMALL, "inside", 3, 3, 1))
_same("two containers by a helper", 2, Books, BooksByHand, _filled(SMALL, "by_helper", 3, 1))
_same("a set changed in two places", 2, Books, BooksByHand, _filled(SMALL, "add_twice", 3))


def _seen() -> Books:
    books = Books()
    books.lawful.observe(lambda done: None)
    return books


def _sizes(title: str, event: str, *args: Any, make: Callable[[], Books] = Books) -> None:
    act = _filled(LARGE, event, *args), _filled(SMALL, event, *args)
    MAKERS[f"{title}: {LARGE:,} against {SMALL}"] = 1.2, lambda: (act[0](make()), act[1](make()))


_sizes("a map's entry", "set_one", 3, 1)
_sizes("under an if", "if_there", 3, 1)
_sizes("nested", "inside", 3, 3, 1)
_sizes("two places", "add_twice", 3)
_sizes("by a helper", "by_helper", 3, 1)
_sizes("a map's entry, observed", "set_one", 3, 1, make=_seen)
_sizes("nested, observed", "inside", 3, 3, 1, make=_seen)
_sizes("by a helper, observed", "by_helper", 3, 1, make=_seen)


@_pair("making, no parameter", 2)
def _making() -> Both:
    return Door, DoorByHand


@_pair("making, a parameter given", 3)
def _making_with() -> Both:
    return (lambda: Door(most=7)), (lambda: DoorByHand(most=7))


def observed() -> Both:
    """The same event of an observed instance, and of one that nobody observes."""
    seen, bare = Door(), Door()
    seen.lawful.observe(lambda done: None)
    return _with("turn", 1)(seen), _with("turn", 1)(bare)
