"""Steps that hold values outside the scope in their middle are no work for the reference engine."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.explore import explore
from lawful.checks.explore.check import Engine
from lawful.machines.unicast.declaration import SenderEntryFixed
from tests.checks.declarations.beyond import Bags, Maps, Numbers, Sets, Visits
from tests.checks.explore.compiled.both_engines import compared, flat_of
from tests.checks.explore.compiled.test_engine import established, explored

ENGINES: tuple[Engine, Engine] = ("generated", "reference")


@pytest.mark.nightly
@pytest.mark.one_in(2)
@pytest.mark.parametrize("cls", [Sets, Maps, Bags, Numbers])
def test_no_state_is_handed_back(cls: type[Machine]) -> None:
    plain, slow = explored(cls, "generated"), explored(cls, "reference")
    assert plain.handed_back == 0
    assert established(plain) == established(slow)


def test_both_engines_agree_on_every_state() -> None:
    for cls in (Sets, Maps, Bags, Numbers):
        found = compared(cls, 60)
        assert (found.escaped, found.differences) == (0, ())


@pytest.mark.parametrize("cls", [Maps, Bags])
def test_machine_code_does_the_same(cls: type[Machine]) -> None:
    plain, fast = explored(cls, "generated"), explored(cls, "compiled")
    assert fast.handed_back == 0
    assert established(fast) == established(plain)


def test_the_sender_of_unicast_is_handed_back_nowhere() -> None:
    """A window's key outside the scope occurs in the middle of a step, and in arguments."""
    found = explored(SenderEntryFixed, "generated")
    assert (found.distinct, found.generated, found.handed_back) == (602, 41_405, 0)


def test_elements_are_renamed_in_what_has_no_place_for_each() -> None:
    flat, resolved = flat_of(Visits)
    fast, slow = (
        explore(flat, resolved.world, resolved.expects, symmetry=True, engine=engine)
        for engine in ENGINES
    )
    assert (fast.engine, slow.engine) == ENGINES
    assert (fast.distinct, fast.orbits) == (slow.distinct, slow.orbits)
    assert established(fast) == established(slow)
