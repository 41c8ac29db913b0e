"""The mutants of the entries that a service embeds: what notices each, and which survive.

`mutants.txt` has a line for each mutant. Judges are asked in turn, the next one about what the last
one missed: the entry alone, its caller, the caller without reaping, and the entry under a clock.
After a change of an entry, the nightly test of this file writes the table with `MUTANTS=write`;
read the difference.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from lawful import Machine
from lawful.checks.explore import Limits
from lawful.checks.mutation.judge import Judge
from lawful.checks.mutation.mutants import Mutant
from lawful.machines.unicast.callers import (
    ReceiverCalled,
    ReceiverUnreaped,
    SenderCalled,
    SenderUnreaped,
)
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.in_time import ReceiverInTime, SenderInTime
from lawful.spec.resolve import resolve
from tests.machines.breaking import Key, keyed, names

TABLE = Path(__file__).with_name("mutants.txt")
# Of each entry, a machine and the name that the entry has in it.
JUDGES: dict[type[Machine], tuple[tuple[type[Machine], str], ...]] = {
    SenderEntryFixed: (
        (SenderEntryFixed, "SenderEntryFixed"),
        (SenderCalled, "SenderEntryFixed"),
        (SenderUnreaped, "SenderEntryFixed"),
        (SenderInTime, "SenderInTime"),
    ),
    ReceiverEntryFixed: (
        (ReceiverEntryFixed, "ReceiverEntryFixed"),
        (ReceiverCalled, "ReceiverEntryFixed"),
        (ReceiverUnreaped, "ReceiverEntryFixed"),
        (ReceiverInTime, "ReceiverInTime"),
    ),
}

AGAIN = "self.idle is started again"
TOUCHED = "It makes no difference: the event starts this timer anew itself, or stops it."
STOPPED = "It makes no difference: the event stops this timer afterwards."
# Each by its entry, row and change, with the reason.
SURVIVORS = {
    ("SenderEntryFixed", "send", AGAIN): TOUCHED,
    ("ReceiverEntryFixed", "accept", AGAIN): TOUCHED,
    ("ReceiverEntryFixed", "resume", AGAIN): TOUCHED,
    ("ReceiverEntryFixed", "establish", AGAIN): TOUCHED,
    ("ReceiverEntryFixed", "close_received", AGAIN): STOPPED,
    ("ReceiverEntryFixed", "remove", AGAIN): STOPPED,
    ("ReceiverEntryFixed", "touch", "without self.idle.stop()"): "It makes no difference: without"
    " reaping a receiver's timer never runs. A sender's does, after the application closed it.",
}


def judged(entry: type[Machine]) -> dict[str, str]:
    """By the identity of each mutant: who noticed it and by what, or that it survived."""
    identity = names(entry)
    left: list[Key] = list(identity)
    found: dict[str, str] = {}
    for cls, owner in JUDGES[entry]:
        resolved = resolve(cls)
        judge = Judge(resolved, resolved.scopes["scope"], Limits())
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


@functools.cache
def every() -> dict[str, Mutant]:
    return {
        name: keyed(entry, entry.__name__)[key]
        for entry in JUDGES
        for key, name in names(entry).items()
    }


def kept() -> dict[str, str]:
    """The table as it is committed: by identity, what noticed the mutant."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split(" | ") for line in lines if not line.startswith("#"))
    return {name: by for name, by, *_ in rows}


@pytest.mark.nightly
@pytest.mark.nightly
def test_the_table_has_every_mutant_and_a_reason_for_each_that_survives() -> None:
    mutants, table = every(), kept()
    assert list(table) == list(mutants)
    survived = [mutants[name] for name, by in table.items() if by == "survived"]
    assert {(each.owner, each.row, each.change.what) for each in survived} == set(SURVIVORS)
    tried = sum(by != "no machine" for by in table.values())
    assert len(survived) <= tried * 2 // 100


@pytest.mark.nightly
def test_a_few_mutants_are_noticed_as_the_table_says() -> None:
    table, mutants = kept(), every()
    for entry in JUDGES:
        own = [name for name, by in table.items() if by.startswith(f"{entry.__name__} check")]
        resolved = resolve(entry)
        judge = Judge(resolved, resolved.scopes["scope"], Limits())
        for name in own[:: len(own) // 2]:
            assert f"{entry.__name__} {judge(mutants[name]).by}" == table[name]


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    found = {name: by for entry in JUDGES for name, by in judged(entry).items()}
    if os.environ.get("MUTANTS") == "write":
        head = "# A mutant of an entry | what noticed it | the change\n"
        mutants = every()
        rows = (f"{name} | {by} | {mutants[name].what}\n" for name, by in found.items())
        TABLE.write_text(head + "".join(rows), encoding="utf-8")
    assert found == kept()
