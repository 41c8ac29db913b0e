"""A method holds the statements of short helpers that change containers, and of no others."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import pytest

from lawful import Machine, Nat, Refused, Undefined, require, transition
from tests.runtime.compile.test_source_lines import Gate
from tests.runtime.services.interrupting import at_every_place


class Shelf(Machine):
    known: set[int] = set()
    counts: dict[int, int] = {}
    queue: list[int] = []
    last: Nat = 0

    @transition()
    def put(self, key: int, n: int) -> None:
        self.both(key, n)

    @transition()
    def turned(self, key: int, n: int) -> None:
        self.both(n, key)

    @transition()
    def several(self, key: int, n: int) -> None:
        self.known.add(n)
        if n > 1:
            self.outer(key)
        else:
            self.both(key, 5)
        self.both(1, n)

    @transition()
    def late(self, key: int, n: int) -> None:
        """It is undone where n is 0, and refused where that is 1."""
        self.both(key, n)
        self.counts[n] = 10 // n
        require(n != 1, "one")

    @transition()
    def stored(self, key: int, n: int) -> None:
        self.both(self.last, n)

    @transition()
    def local(self, key: int, n: int) -> None:
        more = key + n
        self.both(more, more)
        more = 0
        self.both(more, more)

    @transition()
    def chosen(self, key: int, n: int) -> None:
        self.choose(key, n)

    @transition()
    def looped(self, key: int, n: int) -> None:
        self.loop(n)

    @transition()
    def lost(self, key: int, n: int) -> None:
        self.lose(key)

    @transition()
    def divided(self, key: int, n: int) -> None:
        self.divide(key, n)

    @transition()
    def counted(self, key: int, n: int) -> None:
        self.count()

    def both(self, key: int, n: int) -> None:
        self.known.add(key)
        self.counts[n] = key
        self.last += 1

    def outer(self, n: int) -> None:
        self.queue.insert(0, n)
        self.queue.clear()
        self.both(n, 7)
        self.queue.append(n)

    def choose(self, key: int, n: int) -> None:
        self.known.discard(key)
        self.queue.append(
            min(
                (n for key in (1, 2)),  # pyright: ignore[reportUnusedVariable]  # it hides `key`
                default=key,
            )
        )

    def loop(self, n: int) -> None:
        for each in (1, 2):
            self.queue.append(each + n)

    def lose(self, key: int) -> None:
        self.known.remove(key)
        self.queue.append(key)

    def divide(self, key: int, n: int) -> None:
        self.known.add(key // n)

    def count(self) -> None:
        self.last += 1


class Wider(Gate):
    """Its helper stands in another file, of which a method has no lines."""

    @transition()
    def more(self, who: Nat) -> None:
        self.note(who)


AFTER: dict[
    str, tuple[set[int], dict[int, int], list[int], int]
] = {  # What each event leaves of (4, 2): the four variables.
    "put": ({4}, {2: 4}, [], 1),
    "turned": ({2}, {4: 2}, [], 1),
    "several": ({1, 2, 4}, {2: 1, 7: 4}, [4], 2),
    "late": ({4}, {2: 5}, [], 1),
    "stored": ({0}, {2: 0}, [], 1),
    "local": ({0, 6}, {0: 0, 6: 6}, [], 2),
    "chosen": (set[int](), {}, [2], 0),
    "looped": (set[int](), {}, [3, 4], 0),
    "divided": ({2}, {}, [], 0),
    "counted": (set[int](), {}, [], 1),
}
CALLS = {  # The helpers that a method still calls.
    "stored": ["both_in_place"],
    "chosen": ["choose_in_place"],
    "looped": ["loop_in_place"],
    "lost": ["lose_in_place"],
    "divided": ["divide_in_place"],
    "counted": ["count"],
}


def text_of(event: str, cls: type[Machine] = Shelf) -> str:
    """The generated code of the method of an event."""
    text = cls.lawful.generated()
    return text[text.rindex(f"\ndef {event}(") :].partition("\n\n\n")[0]


@pytest.mark.parametrize("event", [*AFTER, "lost"])
def test_which_helpers_a_method_calls(event: str) -> None:
    helpers = r"^ +((?:both|outer|choose|loop|lose|divide|count)\w*)\(self"
    assert re.findall(helpers, text_of(event), re.MULTILINE) == CALLS.get(event, [])


def test_a_helper_of_another_file_is_called() -> None:
    assert "    note_in_place(self, " in text_of("more", Wider)
    assert "note_in_place(" not in text_of("enter", Gate)


@pytest.mark.parametrize("event", AFTER)
def test_what_an_event_leaves(event: str) -> None:
    for observed in (False, True):
        shelf = Shelf()
        if observed:
            shelf.lawful.observe(lambda done: None)
        shelf.lawful.take(event, 4, 2)
        assert (shelf.known, shelf.counts, shelf.queue, shelf.last) == AFTER[event]


def test_what_fails_is_undone() -> None:
    shelf = Shelf.lawful.state(known={9}, counts={0: 3, 1: 3}, queue=[], last=0)
    held = shelf.lawful.snapshot()
    with pytest.raises(Undefined, match="10 // n"):
        shelf.late(4, 0)
    with pytest.raises(Refused, match="one"):
        shelf.late(4, 1)
    with pytest.raises(Undefined, match="remove"):
        shelf.lost(4, 1)
    assert shelf.lawful.snapshot() == held


def test_an_interrupt_undoes_it() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        shelf = Shelf.lawful.state(known={9}, counts={7: 3}, queue=[], last=0)
        held = shelf.lawful.snapshot()
        if attempt(functools.partial(shelf.several, 4, 2)):
            assert shelf.lawful.snapshot() == held
        else:
            assert shelf.last == 2

    assert at_every_place((__file__,), play) > 10
