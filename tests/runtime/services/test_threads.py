"""Two threads and one instance without a runner: the second one is told so, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lawful import Machine, Nat, Timer, transition
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.runner import Runner
from lawful.runtime.store import Store
from tests.root import PATIENCE


class Tally(Machine):
    count: Nat = 0
    lapse: Timer = Timer()

    @transition()
    def add(self) -> Nat:
        self.count += 1
        self.lapse.start(5)
        return self.count


class Gate:
    """A clock that a thread other than the first waits at, until it is let through."""

    def __init__(self) -> None:
        self.first = threading.get_ident()
        self.reached, self.opened = threading.Event(), threading.Event()

    def now(self) -> float:
        if threading.get_ident() != self.first:
            self.reached.set()
            assert self.opened.wait(PATIENCE)
        return 1.0


def observed(tally: Tally, path: Path) -> Callable[[], object]:
    seen = list[Stepped]()
    tally.lawful.observe(seen.append)
    return lambda: len(seen)


def stored(tally: Tally, path: Path) -> Callable[[], object]:
    store = Store(path / "s.db")
    store.add(tally, "a")
    return lambda: len(store.events("a"))


def journalled(tally: Tally, path: Path) -> Callable[[], object]:
    journal = Journal(path / "j.jsonl", buffer=0)
    journal.attach(tally, "a")
    return lambda: len(list(read(path / "j.jsonl"))) - 1


@pytest.mark.parametrize("follow", [observed, stored, journalled])
def test_the_second_thread_is_told_while_the_first_is_in_an_event(
    follow: Callable[..., Callable[[], object]], tmp_path: Path
) -> None:
    gate = Gate()
    tally = Tally(clock=gate)
    rows = follow(tally, tmp_path)
    other = threading.Thread(target=tally.add, daemon=True)
    other.start()
    assert gate.reached.wait(PATIENCE)
    with pytest.raises(RuntimeError, match=r"Tally.add: another thread runs an event; .*Runner"):
        tally.add()
    gate.opened.set()
    other.join(PATIENCE)
    assert (tally.count, rows()) == (1, 1)
    assert tally.add() == 2
    assert rows() == 2


@pytest.mark.parametrize("with_runner", [False, True])
def test_what_two_threads_do_is_kept_once(with_runner: bool, tmp_path: Path) -> None:
    """Without a runner it is chance how many events are refused, and none is lost or doubled."""
    path = tmp_path / "j.jsonl"
    runner = Runner()
    with Store(tmp_path / "s.db", synchronous="NORMAL") as store, Journal(path) as journal:
        tally = store.add(Tally(), "a")
        journal.attach(tally, "a")
        answers, refused = list[int](), list[str]()

        def act() -> None:
            for _ in range(40):
                try:
                    answers.append(runner.call(tally.add) if with_runner else tally.add())
                except RuntimeError as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=act, daemon=True) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(PATIENCE)
        assert len(answers) + len(refused) == 80
        assert not (with_runner and refused)
        assert sorted(answers) == list(range(1, tally.count + 1))
        assert len(store.events("a")) == tally.count
        assert store.restore(Tally, "a") == tally
    assert [row["changed"].get("count") for row in read(path)] == list(range(tally.count + 1))


def test_who_calls_an_event_inside_an_event_is_told() -> None:
    class Busy:
        def now(self) -> float:
            if calls:
                calls.pop()()
            return 1.0

    calls = list[Callable[[], object]]()
    tally = Tally(clock=Busy())
    tally.lawful.observe(lambda done: None)
    calls.append(tally.add)
    with pytest.raises(RuntimeError, match="an event of this instance is not over"):
        tally.add()
    assert tally.count == 0
    assert tally.add() == 1
