"""Every classic has its figures: the pinned ones, and with reasons only other than published."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.explore import CheckResult, explore
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.words import Scope
from tests.classics.coffee_can import CoffeeCan
from tests.classics.table import CLASSICS, LARGE, Classic


def explored(cls: type[Machine], scope: str = "scope") -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get(scope, Scope()))
    return explore(flat, found.world, found.expects)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("classic", CLASSICS, ids=lambda c: c.machine.__name__)
def test_the_figures_are_the_pinned_ones(classic: Classic) -> None:
    result = explored(classic.machine)
    assert (result.distinct, result.generated, result.depth) == classic.counts
    assert result.complete
    assert (result.engine != "reference", result.handed_back) == (True, 0), result.not_generated
    assert [p for p in result.properties if not p.as_expected] == []


@pytest.mark.nightly
@pytest.mark.parametrize("classic", LARGE, ids=lambda c: c.machine.__name__)
def test_the_figures_of_large_ones_are_the_published_ones(classic: Classic) -> None:
    test_the_figures_are_the_pinned_ones(classic)


@pytest.mark.parametrize("classic", CLASSICS, ids=lambda c: c.machine.__name__)
def test_every_state_that_was_published_is_found_and_no_other(classic: Classic) -> None:
    distinct, generated, depth = classic.counts
    assert classic.published[0] == distinct
    assert classic.published[2] in (depth, None)
    # Of steps, TLC counts some twice: see docs/classics.md.
    assert classic.published[1] is None or classic.published[1] >= generated


@pytest.mark.parametrize("classic", (*CLASSICS, *LARGE), ids=lambda c: c.machine.__name__)
def test_nothing_is_shown_of_an_empty_world(classic: Classic) -> None:
    found = resolve(classic.machine)
    assert [p.name for p in found.machine.properties if p.kind == "reachable"]


def test_each_value_of_a_parameter_is_a_world_of_its_own() -> None:
    result = explored(CoffeeCan, "small")
    # Cans of 1 to 4 beans, and cans of 1 to 10.
    assert result.distinct == 14 + 65
    assert result.verdict is not Verdict.VIOLATED
