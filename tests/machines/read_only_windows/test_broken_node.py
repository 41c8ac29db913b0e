"""A node whose journal fails, at each of its rows, in a simulated world: it ends, all of it."""

from __future__ import annotations

from collections import Counter
from functools import partial

from lawful.machines.read_only_windows.service import Config, Kind, Options, WindowedExecutor
from lawful.machines.read_only_windows.service.jobs import Answer
from lawful.machines.read_only_windows.service.scripts import Step
from lawful.machines.read_only_windows.service.table import GuardedTable
from lawful.runtime.simulation.turns import World
from tests.machines.read_only_windows.test_service import Filling

CONFIG = Config(read_only_transaction_num_threads=2, read_only_transaction_threshold=1)
SCRIPTS = {
    Kind.GET: (Step("get", "n"),),
    Kind.READ: (Step("work", number=30), Step("get", "n")),
    Kind.WRITE: (Step("add", "n", number=1), Step("work", number=5)),
}
EACH = 4  # Requests of each kind.


def lived(rows: int) -> tuple[str, dict[int, list[Answer]], int]:
    """What broke a node whose journal takes so many rows, the answers to each request that it has
    accepted, and how many rows its journal would still take. All its threads have ended, or the
    world is stuck."""
    world, journal = World(seed=1), Filling(rows)
    answers: dict[int, list[Answer]] = {}
    broken: list[str] = []

    def live() -> None:
        options = Options(world, journal, world, lambda _: None)
        executor = WindowedExecutor(CONFIG, GuardedTable(world), options)
        for number in range(3 * EACH):
            kind = (*SCRIPTS,)[number % 3]
            got = answers[number] = []
            try:
                executor.submit(kind, SCRIPTS[kind], partial(list[Answer].append, got))
            except OSError:
                del answers[number]
            world.sleep(0.003)
        world.sleep(0.3)
        for number in range(3):  # They wait when it shuts down.
            got = answers[3 * EACH + number] = []
            try:
                executor.submit(Kind.WRITE, SCRIPTS[Kind.WRITE], partial(list[Answer].append, got))
            except OSError:
                del answers[3 * EACH + number]
        try:
            executor.shutdown()
        except OSError:
            executor.wait()
        broken.append(executor.broken)

    world.start(live, "live")
    world.run()
    return broken[0], answers, journal.rows


def test_a_journal_that_fails_at_any_row_ends_the_node_and_each_request_once() -> None:
    broken, answers, left = lived(1_000)
    assert (broken, len(answers)) == ("", 3 * EACH + 3)
    ends, every = Counter[str](), 1_000 - left
    for rows in range(every):
        broken, answers, _ = lived(rows)
        assert broken == "OSError: no space left", rows
        assert {number: len(got) for number, got in answers.items() if len(got) != 1} == {}, rows
        ends.update(got[0].outcome for got in answers.values())
    assert set(ends) == {"answered", "failed", "abandoned"}
