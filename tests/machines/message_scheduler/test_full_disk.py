"""A journal that fails ends the scheduler at once, for every thread, with the journal's error."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

import pytest

from lawful.machines.message_scheduler.service import MessageScheduler, Stopped, program
from lawful.machines.message_scheduler.service.clients import BulkFetcher
from lawful.machines.message_scheduler.service.offering import Offering
from lawful.machines.message_scheduler.service.overlay import connected
from lawful.machines.message_scheduler.service.responder import Behaviour
from lawful.machines.message_scheduler.service.settings import Options
from lawful.runtime.instance import Machine
from tests.machines.message_scheduler.doubles import MESSAGE, Client, Link, is_right, responding
from tests.root import PATIENCE


class Full:
    """In the place of a journal: it takes so many events."""

    def __init__(self, room: int) -> None:
        self.room = room

    def attach(self, entry: Machine, instance: str) -> object:
        return entry.lawful.observe(lambda _: self._take())

    def _take(self) -> None:
        self.room -= 1
        if self.room < 0:
            raise OSError("the disk is full")


@pytest.mark.parametrize("room", [0, 3, 10, 11, 12, 13])
def test_a_journal_that_fails_ends_the_overlay(room: int) -> None:
    """Events of both threads fail, those that come and those that call somebody back."""
    heard: list[Exception] = []
    with responding(Behaviour()) as ports:
        scheduler = MessageScheduler(options=Options(journal=Full(room), failed=heard.append))
        fetcher = BulkFetcher(
            scheduler, MESSAGE, [b"%d" % n for n in range(100)], is_right=is_right
        )
        waits = int(PATIENCE / 0.01)
        with (
            pytest.raises(OSError, match="the disk is full"),
            connected(scheduler, ports) as overlay,
        ):
            fetcher.start()
            while overlay.failed is None and waits:
                fetcher.done.wait(0.01)
                waits -= 1
        assert waits
    assert fetcher.found.keys() < {b"%d" % n for n in range(100)}
    assert {str(error) for error in heard} <= {"the disk is full"}


def test_who_waits_for_the_end_hears_that_the_journal_has_failed() -> None:
    considering, stopping = threading.Event(), threading.Event()

    def consider(client: Client, offering: Offering) -> None:
        considering.set()
        stopping.wait(PATIENCE)

    journal = Full(1_000_000)
    scheduler = MessageScheduler(options=Options(journal=journal))
    scheduler.connect(Link(), "A", 1)
    errors: list[str] = []

    def schedule() -> None:
        try:
            scheduler.schedule(Client(consider))
        except OSError as error:
            errors.append(f"schedule: {error}")

    def stop() -> None:
        try:
            scheduler.stop()
        except OSError as error:
            errors.append(f"stop: {error}")

    threads = [threading.Thread(target=run, daemon=True) for run in (schedule, stop)]
    threads[0].start()
    assert considering.wait(PATIENCE)
    threads[1].start()
    with pytest.raises(Stopped):
        while True:  # Until the other thread has stopped it, and waits for the callback's end.
            scheduler.connect(Link(), "B", 1)
    journal.room = 0
    stopping.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(errors) == ["schedule: the disk is full", "stop: the disk is full"]


def test_what_has_ended_the_overlay_is_raised_where_it_was_used() -> None:
    with pytest.raises(ValueError, match="no"), connected(MessageScheduler(), {}) as overlay:
        overlay.fail(ValueError("no"))


class FullFile(Full):
    """In the place of a journal in a file."""

    def __init__(self, _: Path) -> None:
        super().__init__(room=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


def test_a_fetch_whose_journal_fails_says_what_came_and_what_did_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(program, "Journal", FullFile)
    with responding(Behaviour(channels=1)) as ports:
        words = ["fetch", f"A={ports['A']}", "--objects", "100", "--seconds", str(PATIENCE)]
        assert program.main([*words, "--journal", str(tmp_path / "events.jsonl")]) == 1
    told, missing, *_, last = capsys.readouterr().out.splitlines()
    found = int(told.split()[1])
    assert 0 < found < 100
    assert told.startswith(f"objects: {found} of 100 in ")
    ranges = missing.removeprefix("not fetched: ").split()
    ends = [tuple(map(int, each.split("-"))) for each in ranges]
    assert sum(each[-1] - each[0] + 1 for each in ends) == 100 - found
    assert last == "lawful run message_scheduler: the disk is full"
