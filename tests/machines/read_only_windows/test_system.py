"""The node as a whole: what exploration and induction establish, and how it was as written."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.machines.read_only_windows.callers import TransactionCalled
from lawful.machines.read_only_windows.closing import PoolFixed, PoolHeld, PoolTorn
from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.read_only_windows.in_time import NodeInTime, NodeNarrow, NodeTight
from lawful.machines.read_only_windows.requests import Request
from lawful.machines.read_only_windows.system import NodeFixed
from lawful.machines.read_only_windows.system_as_seed import (
    NodeAsSeed,
    NodeEager,
    NodePopping,
    NodePosted,
    NodePutBackLast,
    NodeShort,
    NodeSingleThreaded,
)
from lawful.machines.read_only_windows.transaction import Transaction
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (NodeFixed, (9_906, 60_602, 37)),
        (Request, (62, 111, 7)),
        (PoolFixed, (207, 512, 25)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("cls", "expected", "violated"),
    [
        (
            NodeAsSeed,
            (6_928, 42_253, 25),
            [
                "runs_in_read_only_windows",
                "shutdown_leaves_nothing",
                "writes_and_transactions_exclude_each_other",
                "writes_keep_their_order",
                "writes_make_progress",
                "put_back_at_most_once",
                "every_window_answers",
                "answered_in_the_end",
                "executed_in_the_end",
                "window.reads_and_writes_exclude_each_other",
                "window.shutdown_answers",
                "window.no_thread_leaves_early",
                "window.tasks_are_done",
            ],
        ),
        (
            NodePutBackLast,
            (1_774, 9_021, 36),
            [
                "put_back_at_most_once",
                "answered_in_the_end",
                "who_was_put_back_goes_first",
                "each_has_a_turn_of_its_own",
            ],
        ),
        pytest.param(
            NodeEager,
            (2_776, 14_349, 34),
            ["writes_make_progress", "executed_in_the_end", "put_back_after_writes"],
            marks=pytest.mark.nightly,
        ),
        (
            NodeShort,
            (245, 1_032, 20),
            [
                "put_back_at_most_once",
                "every_window_answers",
                "answered_in_the_end",
                "time_is_left_to_the_first",
            ],
        ),
        (NodePopping, (333, 1_492, 25), ["executed_in_the_end", "main_keeps_the_order"]),
        (
            PoolTorn,
            (219, 610, 25),
            ["the_end_wakes_everybody", "shutdown_ends", "windows_end"],
        ),
        (PoolHeld, (201, 485, 25), ["deadlock", "shutdown_ends", "windows_end"]),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_goes_wrong(
    cls: type[Machine], expected: tuple[int, int, int], violated: list[str]
) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert same_sequences(result) == violated


def test_what_becomes_of_a_transaction_holds() -> None:
    result = checked(TransactionCalled)
    assert counts(result) == (161, 306, 10)
    assert [name for name, row in result.transitions.items() if not row["enabled"]] == []


@pytest.mark.nightly
def test_in_time_everything_holds() -> None:
    result = checked(NodeInTime)
    assert counts(result) == (67_953, 339_529, 52)
    assert {p.verdict.good for p in result.properties} == {True}


@pytest.mark.parametrize(
    ("cls", "expected", "violated"),
    [
        pytest.param(
            NodeTight,
            (8_966, 31_107, 46),
            ["put_back_at_most_once", "every_window_answers"],
            marks=pytest.mark.nightly,
        ),
        (NodeNarrow, (1_774, 6_214, 20), ["every_window_answers"]),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_times_that_the_document_allows(
    cls: type[Machine], expected: tuple[int, int, int], violated: list[str]
) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert same_sequences(result) == violated


@pytest.mark.nightly
def test_a_window_that_ends_as_told_depends_on_the_tasks_priority() -> None:
    assert counts(checked(NodePosted)) == (788, 3_853, 19)
    ends = "read_only_windows_end"
    assert {p.name: p.verdict.value for p in checked(NodePosted).properties}[ends] == "holds"
    result = checked(NodePosted, "least")
    assert counts(result) == (742, 3_647, 19)
    assert ends in same_sequences(result)


def test_without_threads_there_are_no_windows() -> None:
    result = checked(NodeSingleThreaded)
    assert counts(result) == (108, 559, 8)
    assert {p.name for p in result.properties if p.verdict.value != "holds"} == {
        "ends_before_its_time",
        "finishes_in_the_next_window",
        "get_while_transactions_run",
        "get_overtakes_a_write",
        "shut_down_while_transactions_run",
    }


def test_the_pictures_are_what_is_declared() -> None:
    same_states(WindowFixed, Transaction, NodeFixed, PoolFixed)
