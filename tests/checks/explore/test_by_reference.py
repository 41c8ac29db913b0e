"""What only the reference engine does is named in the answer, whichever engine explores."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.explore import CheckResult, Engine, explore
from lawful.checks.explore.simulate import Walks, simulate
from lawful.checks.report.exploration import check_json, check_text
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.checks.explore.test_check import MANY
from tests.checks.explore.test_simulate import FAULTY
from tests.classics.implementing import Implements
from tests.spec import texts

SAID = "slow      by the reference engine: "


def checked(cls: type[Machine], engine: Engine) -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes["scope"], abstract_scopes(found))
    return explore(flat, found.world, found.expects, engine=engine)


def told(result: CheckResult) -> tuple[Any, list[str]]:
    """What the JSON and what the text say."""
    lines = [line.strip() for line in check_text(result).splitlines()]
    names = check_json(result, "", 0.0).get("by_reference")
    return names, [line.removeprefix(SAID) for line in lines if line.startswith(SAID)]


def test_many_initial_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few are made before a search could start."""
    cls = texts.last_machine(texts.module(MANY))
    check = importlib.import_module("lawful.checks.explore.check")
    assert told(checked(cls, "generated")) == (None, [])
    monkeypatch.setattr(check, "MANY_STARTS", 65)
    assert told(checked(cls, "generated")) == (None, [])
    monkeypatch.setattr(check, "MANY_STARTS", 64)
    assert told(checked(cls, "generated")) == (["initial states"], ["initial states"])


def test_refinements() -> None:
    """Where the reference engine did all, the text says so already."""
    assert told(checked(Implements, "generated")) == (["refinements"], ["refinements"])
    assert told(checked(Implements, "reference")) == (["refinements"], [])


def test_the_runs_of_walks_that_are_shortened() -> None:
    found = resolve(texts.last_machine(texts.module(FAULTY)))
    flat = lower(found.machine, found.scopes["scope"])
    one = simulate(flat, found.world, found.expects, Walks(runs=1, steps=1))
    assert told(one) == (None, [])
    many = simulate(flat, found.world, found.expects, Walks(runs=1, steps=200))
    assert told(many) == (["shrinking"], ["shrinking"])
