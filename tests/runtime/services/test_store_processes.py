"""Several processes and one store: who makes it, who waits, and who may not use it."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

import pytest

from lawful.runtime.databases import sqlite
from lawful.runtime.store import Store, StoreError
from tests.root import PATIENCE
from tests.runtime.services.test_store import Post


def test_opening_waits_for_the_maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = sqlite3.connect(tmp_path / "s.db")
    other.execute("BEGIN IMMEDIATE")

    def end(_: float) -> None:
        other.rollback()

    # Only the store's own waiting: other threads of this process sleep, too.
    clocks = SimpleNamespace(monotonic=time.monotonic, time=time.time, sleep=end)
    monkeypatch.setattr(sqlite, "clocks", clocks)
    Store(tmp_path / "s.db").close()
    other.close()


def _opened(path: str, told: Connection) -> None:
    """Open a store in a process of its own."""
    try:
        with Store(path, timeout=PATIENCE):
            told.send("opened")
    except BaseException as error:
        told.send(repr(error))


@pytest.mark.nightly
def test_of_processes_that_open_a_new_store_at_once_each_can(tmp_path: Path) -> None:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    fork = multiprocessing.get_context("fork")
    for number in range(8):
        path = str(tmp_path / f"{number}.db")
        several = [fork.Process(target=_opened, args=(path, theirs)) for _ in range(4)]
        for each in several:
            each.start()
        assert [ours.recv() for _ in several] == ["opened"] * 4
        for each in several:
            each.join()


def _put(post: Post) -> None:
    with pytest.raises(StoreError, match="by the process that opened it"):
        post.put(b"b")
    assert post.letters == [b"a"]


def test_a_store_is_not_used_by_a_forked_process(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        post = store.add(Post(), "a")
        post.put(b"a")
        fork = multiprocessing.get_context("fork")
        other = fork.Process(target=_put, args=(post,))
        other.start()
        other.join()
        assert other.exitcode == 0
        post.put(b"c")
        assert [row["seq"] for row in store.events("a")] == [1, 2]
