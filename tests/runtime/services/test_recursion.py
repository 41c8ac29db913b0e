"""A step that runs out of stack, at each depth that there is, happens whole or not at all."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lawful import Undefined
from lawful.runtime.journal import Journal, read
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from tests.runtime.services.test_interrupted_steps import Color, Tag, Tagged, contents
from tests.runtime.services.test_interrupts import Counted

MOST = 90  # Frames that an event needs, and more.


def depth() -> int:
    """The number of frames of the caller's stack."""
    frame, count = inspect.currentframe(), -1
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


def at_every_depth(
    play: Callable[[Callable[[Callable[[], object]], bool]], None],
) -> tuple[int, int]:
    """Play with each number of frames left; how often the act ran out, and how often not."""
    counts = [0, 0]

    def deep(frames: int, act: Callable[[], object]) -> None:
        if frames:
            deep(frames - 1, act)
        else:
            act()

    for left in range(MOST):

        def attempt(act: Callable[[], object], left: int = left) -> bool:
            here = depth()
            try:
                deep(sys.getrecursionlimit() - here - left, act)
            except RecursionError:
                counts[0] += 1
                return True
            except Undefined:
                pass
            counts[1] += 1
            return False

        play(attempt)
    return counts[0], counts[1]


def test_what_changed_in_place_is_undone_at_every_depth() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        for event, number in (("put", 2), ("put", 0), ("drop", 0)):
            tagged = Tagged()
            tagged.put(Tag(1), Color.RED, 1)
            before = contents(tagged)
            of = (Tag(2), Color.BLUE) if event == "put" else (Tag(1), Color.RED)
            ran_out = attempt(partial(tagged.lawful.take, event, *of, number))
            assert (contents(tagged) == before) is (ran_out or number == 0)
            assert tagged.put(Tag(3), Color.RED, 1) == 1

    out, whole = at_every_depth(play)
    assert out > 9 < whole


def test_a_stored_event_is_kept_and_done_or_neither_at_every_depth() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:", snapshot_every=2) as kept:
            counted = kept.add(Counted(clock=SimulatedClock()), "a")
            counted.add(1)
            attempt(lambda: counted.add(2))
            assert [row["args"]["number"] for row in kept.events("a")] == list(counted.added)
            assert not counted.__environment__.paused
            counted.add(4)
            assert kept.restore(Counted, "a") == counted

    out, whole = at_every_depth(play)
    assert out > 9 < whole


def test_no_row_of_a_journal_is_lost_at_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"

    def play(attempt: Callable[..., bool]) -> None:
        counted = Counted()
        with Journal(path, append=False) as kept:
            kept.attach(counted, "a")
            attempt(lambda: counted.add(1))
            counted.add(2)
        rows = [row["args"] for row in read(path) if row["outcome"] == "done"]
        assert [row["number"] for row in rows] == counted.added

    ran_out, ended = at_every_depth(play)
    assert ran_out > 10 and ended > 10
