"""While another process has locked a store's database, an event loop goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from lawful.runtime.deadlines import Deadlines
from lawful.runtime.runner import Runner
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from tests.root import PATIENCE
from tests.runtime.services.test_store import Node, Post

TURNS = 100


def test_an_event_loop_goes_on_while_an_event_waits_for_a_lock(tmp_path: Path) -> None:
    """The loop releases the lock itself: an event that held the loop up would wait in vain."""
    clock, runner, deadlines = SimulatedClock(), Runner(), Deadlines()
    leases = Post(universe={Node: ["n"]}, clock=clock)
    deadlines.add(leases, lambda _: None)
    fired = list[int]()

    async def serve(post: Post, other: sqlite3.Connection) -> int | None:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(asyncio.to_thread(runner.call, post.put, b"x"))
        for _ in range(TURNS):
            leases.lease(Node("n"), 1)
            fired.append(deadlines.fire_due(clock.advance(1)))
            await asyncio.sleep(0)
        assert not waiting.done()
        other.execute("ROLLBACK")
        return await waiting

    with Store(tmp_path / "s.db", timeout=PATIENCE / 10) as store:
        post = store.add(Post(universe={Node: ["n"]}, clock=clock), "a")
        other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        assert asyncio.run(serve(post, other)) == 1
        other.close()
        assert [row["transition"] for row in store.events("a")] == ["put"]
    assert fired == [1] * TURNS
