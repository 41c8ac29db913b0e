"""Deadlines after a rollback of the transaction in which they fired timers or saw them put off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lawful.runtime import deadlines as deadlines_module
from lawful.runtime import store_transactions as transactions
from lawful.runtime.databases import sqlite
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.instances import observers
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from tests.runtime.services.conftest import Place, store
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_store import Post


class Odd(Exception):
    pass


def test_a_timer_that_was_fired_or_put_off_in_vain_is_due_again(place: Place) -> None:
    with store(place) as kept:
        clock, deadlines, fired = SimulatedClock(), Deadlines(), list[str]()
        post = kept.add(Post(clock=clock), "p")
        deadlines.add(post, lambda done: fired.append(done.event))

        def fire(_: Any) -> None:
            assert (deadlines.fire_due(11), deadlines.next_deadline()) == (1, None)
            raise Odd

        def put_off(_: Any) -> None:
            post.put(b"two")
            assert (deadlines.fire_due(11), deadlines.next_deadline()) == (0, 21)
            raise Odd

        post.put(b"one")
        clock.advance(11)
        for act in (fire, put_off):
            with pytest.raises(Odd):
                kept.together(act)
            assert (post.letters, deadlines.next_deadline()) == ([b"one"], 10)
        assert fired == ["take"]  # It was performed: only the events are undone.
        assert deadlines.fire_due(11) == 1
        assert (fired, post.letters, deadlines.next_deadline()) == (["take"] * 2, [], None)


FILES = transactions.__file__, sqlite.__file__, observers.__file__, deadlines_module.__file__


def test_no_timer_is_lost_where_an_interrupt_ends_a_transaction() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        clock, deadlines = SimulatedClock(), Deadlines()
        with Store(":memory:") as kept:
            post = kept.add(Post(clock=clock), "p")
            deadlines.add(post, lambda _: None)
            post.put(b"one")
            clock.advance(11)

            def act(_: Any) -> None:
                deadlines.fire_due(11)
                raise Odd

            def rolled_back() -> None:
                with pytest.raises(Odd):
                    kept.together(act)

            attempt(rolled_back)
            assert (post.letters, post.lawful.next_deadline()) == ([b"one"], 10)
            assert deadlines.next_deadline() == 10
            assert deadlines.fire_due(11) == 1

    assert at_every_place(FILES, play) > 60
