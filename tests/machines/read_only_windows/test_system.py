"""The node as a whole: what exploration and induction establish, and how it was as written."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.machines.read_only_windows.closing import PoolFixed, PoolHeld, PoolTorn
from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.read_only_windows.executing import MainFixed, MainPopping
from lawful.machines.read_only_windows.requests import Request
from lawful.machines.read_only_windows.system import NodeFixed
from lawful.machines.read_only_windows.system_as_seed import (
    NodeAsSeed,
    NodePosted,
    NodePutBackLast,
    NodeSingleThreaded,
)
from lawful.machines.read_only_windows.transaction import Transaction
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (NodeFixed, (9_160, 49_039, 35)),
        (Request, (62, 111, 7)),
        (PoolFixed, (53, 108, 9)),
        (MainFixed, (98, 227, 8)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.parametrize(
    ("cls", "expected", "violated"),
    [
        (
            NodeAsSeed,
            (6_552, 36_380, 24),
            [
                "runs_in_read_only_windows",
                "writes_and_transactions_exclude_each_other",
                "writes_keep_their_order",
                "put_back_at_most_once",
                "every_window_answers",
                "answered_in_the_end",
                "executed_in_the_end",
                "window.reads_and_writes_exclude_each_other",
                "window.no_thread_leaves_early",
                "window.writes_have_their_turn",
            ],
        ),
        (
            NodePutBackLast,
            (1_384, 6_675, 34),
            [
                "put_back_at_most_once",
                "answered_in_the_end",
                "who_was_put_back_goes_first",
                "each_has_a_turn_of_its_own",
            ],
        ),
        (PoolTorn, (65, 140, 9), ["deadlock", "the_end_wakes_everybody", "the_pool_ends"]),
        (PoolHeld, (41, 91, 9), ["deadlock", "the_pool_ends"]),
        (
            MainPopping,
            (264, 559, 15),
            [
                "nothing_is_lost",
                "nothing_is_executed_twice",
                "what_is_done_does_not_wait",
                "executed_in_the_end",
            ],
        ),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_goes_wrong(
    cls: type[Machine], expected: tuple[int, int, int], violated: list[str]
) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert same_sequences(result) == violated


def test_a_window_that_ends_as_told_depends_on_the_tasks_priority() -> None:
    assert counts(checked(NodePosted)) == (610, 3_039, 17)
    ends = "read_only_windows_end"
    assert {p.name: p.verdict.value for p in checked(NodePosted).properties}[ends] == "holds"
    result = checked(NodePosted, "least")
    assert counts(result) == (564, 2_867, 17)
    assert ends in same_sequences(result)


def test_without_threads_there_are_no_windows() -> None:
    result = checked(NodeSingleThreaded)
    assert counts(result) == (90, 433, 8)
    assert {p.name for p in result.properties if p.verdict.value != "holds"} == {
        "ends_before_its_time",
        "finishes_in_the_next_window",
        "get_while_transactions_run",
        "get_overtakes_a_write",
    }


def test_the_pictures_are_what_is_declared() -> None:
    same_states(WindowFixed, Transaction, NodeFixed, PoolFixed, MainFixed)
