"""The mutants of the window and the transaction that a service embeds: what notices each, and which
survive.

`mutants.txt` has a line for each mutant. Judges are asked in turn, the next one about what the last
one missed: the window alone, the window under a clock, the node, the node without threads, the
pool, the node under a clock, and at last proofs of the window. After a change of the window, the
nightly test of this file writes the table with `MUTANTS=write`; read the difference.
`transaction_mutants.txt` is the table of the transaction, whose first judge is its caller.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lawful import Machine
from lawful.checks.explore import Limits
from lawful.checks.mutation.judge import Judge
from lawful.checks.mutation.mutants import Mutant
from lawful.machines.read_only_windows.callers import TransactionCalled
from lawful.machines.read_only_windows.closing import PoolFixed
from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.read_only_windows.in_time import NodeInTime, WindowInTime
from lawful.machines.read_only_windows.system import NodeFixed
from lawful.machines.read_only_windows.system_as_seed import NodeSingleThreaded
from lawful.machines.read_only_windows.transaction import Transaction
from lawful.spec.resolve import resolve
from tests.machines.breaking import Key, keyed, names
from tests.machines.equivalence import states_with_the_same_steps
from tests.machines.mutation_tables import (
    SURVIVED,
    Asked,
    Question,
    Table,
    each_question,
    within,
)

TABLE = Path(__file__).with_name("mutants.txt")
# A machine, the name that the window has in it, and whether proofs are asked, too.
JUDGES: tuple[tuple[type[Machine], str, bool], ...] = (
    (WindowFixed, "WindowFixed", False),
    (WindowInTime, "WindowInTime", False),
    (NodeFixed, "WindowFixed", False),
    (NodeSingleThreaded, "WindowFixed", False),
    (PoolFixed, "WindowFixed", False),
    (NodeInTime, "WindowInTime", False),
    (WindowFixed, "WindowFixed", True),
)
CALLED = Asked(TransactionCalled, called={"Transaction": "TransactionInTime"})
TRANSACTION = Table(
    Path(__file__).with_name("transaction_mutants.txt"),
    Transaction,
    ("Transaction",),
    (CALLED, Asked(Transaction)),
)
# Each by its row, line and change, with the reason.
SURVIVORS = {
    (
        "stop_starting",
        "def stop_starting(self) -> None:",
        "from any state",
    ): "It makes no difference: by the invariant margin_is_kept,"
    " which is proved, the margin's timer runs in READ alone.",
}


def judged() -> dict[str, str]:
    """By the identity of each mutant: who noticed it and by what, or that it survived."""
    identity = names(WindowFixed)
    left: list[Key] = list(identity)
    found: dict[str, str] = {}
    for cls, owner, proving in JUDGES:
        resolved = resolve(cls)
        judge = Judge(resolved, resolved.scopes["scope"], Limits(), proving)
        mine = keyed(cls, owner)
        for key in [each for each in left if each in mine]:
            judgement = judge(mine[key])
            if judgement.outcome == "noticed":
                found[identity[key]] = f"{cls.__name__} {judgement.by}"
            if judgement.outcome == "no machine":
                found[identity[key]] = "no machine"
            if identity[key] in found:
                left.remove(key)
    return {name: found.get(name, "survived") for name in identity.values()}


def every() -> dict[str, Mutant]:
    identity = names(WindowFixed)
    return {identity[key]: each for key, each in keyed(WindowFixed, "WindowFixed").items()}


def kept() -> dict[str, str]:
    """The table as it is committed: by identity, what noticed the mutant."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split(" | ") for line in lines if not line.startswith("#"))
    return {name: by for name, by, *_ in rows}


def test_the_table_has_every_mutant_and_a_reason_for_each_that_survives() -> None:
    mutants, table = every(), kept()
    assert list(table) == list(mutants)
    survived = [mutants[name] for name, by in table.items() if by == "survived"]
    assert {(each.row, each.line, each.change.what) for each in survived} == set(SURVIVORS)
    tried = sum(by != "no machine" for by in table.values())
    assert len(survived) <= tried * 2 // 100


def test_a_few_mutants_are_noticed_as_the_table_says() -> None:
    table, mutants = kept(), every()
    own = [name for name, by in table.items() if by.startswith("WindowFixed check")]
    resolved = resolve(WindowFixed)
    judge = Judge(resolved, resolved.scopes["scope"], Limits())
    for name in own[:: len(own) // 4]:
        assert f"WindowFixed {judge(mutants[name]).by}" == table[name]


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    found, mutants = judged(), every()
    if os.environ.get("MUTANTS") == "write":
        head = "# A mutant of WindowFixed | what noticed it | the change\n"
        rows = (f"{name} | {by} | {mutants[name].what}\n" for name, by in found.items())
        TABLE.write_text(head + "".join(rows), encoding="utf-8")
    assert found == kept()


def test_of_a_transaction_one_mutant_survives_and_does_the_same() -> None:
    """`exceed` without its source: by execution_is_limited the timer runs in RUNNING alone."""
    TRANSACTION.rewritten()
    table, every = TRANSACTION.kept(), TRANSACTION.every()
    assert list(table) == list(every)
    assert TRANSACTION.asked_about() == set(every)
    survived = [name for name, by in table.items() if by == SURVIVED]
    assert [every[name].what for name in survived] == ["exceed: from any state"]
    assert len(table) == 56
    called = within(TRANSACTION, CALLED, survived)
    assert {states_with_the_same_steps(CALLED, m.made()) for m in called.values()} == {161}


@pytest.mark.nightly
@each_question(TRANSACTION)
def test_mutants_of_a_transaction_are_noticed_as_the_table_says(question: Question) -> None:
    assert question.answered() == question.said()
