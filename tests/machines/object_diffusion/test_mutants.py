"""The mutants of what a service embeds: who notices each. The registry, its entries included, and
an outbound peer, which its caller judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.object_diffusion.attribution import Attribution, RoundsFixed
from lawful.machines.object_diffusion.callers import OutboundCalled
from lawful.machines.object_diffusion.connection import ConnectionFixed
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.object_diffusion.in_time import DiffusionInTime
from lawful.machines.object_diffusion.in_turns import RegistryInTurns
from lawful.machines.object_diffusion.registry import Registry
from lawful.machines.object_diffusion.system import DiffusionFixed
from tests.machines.mutation_tables import (
    NO_MACHINE,
    SURVIVED,
    Asked,
    Question,
    Table,
    each_question,
)

NODE = {"Registry": "DiffusionFixed"}
IN_TIME = {"Registry": "DiffusionInTime", "InboundPeerFixed": "InboundPeerInTime"}
TWO = ("ObjectId=2", "most_faults=0")
TABLE = Table(
    Path(__file__).with_name("mutants.txt"),
    Registry,
    ("Registry", "InboundPeerFixed"),
    (
        Asked(InboundPeerFixed),
        Asked(Registry),
        Asked(RoundsFixed, called={"Registry": "RoundsFixed"}),
        Asked(Attribution, called={"Registry": "Attribution"}),
        Asked(DiffusionFixed, called=NODE),
        Asked(ConnectionFixed),
        Asked(InboundPeerFixed, "wide"),
        Asked(DiffusionInTime, called=IN_TIME),
        Asked(DiffusionInTime, called=IN_TIME, bounds=("reply_timeout=4",)),
        Asked(Registry, "several"),
        Asked(DiffusionFixed, called=NODE, bounds=TWO),
        Asked(DiffusionFixed, "redundant", called=NODE),
        Asked(DiffusionFixed, "redundant", called=NODE, bounds=TWO),
        Asked(RegistryInTurns, called={"Registry": "RegistryInTurns"}),
    ),
)
OUTBOUND = Table(
    Path(__file__).with_name("outbound_mutants.txt"),
    OutboundCalled,
    ("Outbound",),
    (Asked(OutboundCalled),),
)


def test_the_table_has_every_mutant_and_those_that_survive_are_marked() -> None:
    TABLE.rewritten()
    table, marked = TABLE.kept(), TABLE.marked()
    assert list(table) == list(TABLE.every())
    assert TABLE.asked_about() == set(table)
    assert {name for name, by in table.items() if by == SURVIVED} == set(marked)
    assert len(marked) == 2
    assert sum(by != NO_MACHINE for by in table.values()) == 505


def test_of_an_outbound_peer_one_mutant_survives_and_does_the_same() -> None:
    """`ids` is empty where it returns `()` in its place, by the guard before."""
    OUTBOUND.rewritten()
    table, every = OUTBOUND.kept(), OUTBOUND.every()
    assert list(table) == list(every)
    survived = [each for name, each in every.items() if table[name] == SURVIVED]
    assert [each.what for each in survived] == ["announce: () for ids"]
    assert len(table) == 91


@pytest.mark.nightly
@each_question(TABLE, OUTBOUND)
def test_mutants_are_noticed_as_the_table_says(question: Question) -> None:
    assert question.answered() == question.said()
