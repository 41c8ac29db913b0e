"""Conformance tests made from declarations: what is right passes, what is wrong is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from lawful import (
    Expect,
    Machine,
    Nat,
    Opaque,
    OrderedSort,
    Record,
    Refused,
    Scope,
    Sort,
    State,
    event,
    ignore,
    initial,
    invariant,
    require,
    total,
    transition,
)
from lawful.checks.reading import Unseen
from lawful.testing import Mismatch, SimulatedClock, conformance

from . import cloakroom as c

QUICK = settings(derandomize=True, deadline=None, database=None, max_examples=30)


def failure(make: Callable[[SimulatedClock], Any], machine: Any = c.Cloakroom, **given: Any) -> str:
    """What the test of this implementation says; AssertionError where it says nothing."""
    with pytest.raises(Mismatch) as caught:
        run(machine, make, **given)
    assert not getattr(caught.value, "__notes__", [])
    return str(caught.value)


def run(machine: Any, make: Callable[[SimulatedClock], Any], **given: Any) -> None:
    conformance(machine, make, settings=QUICK, **given)("runTest").debug()


def by_hand(cls: type[c.ByHand]) -> str:
    return failure(lambda clock: cls(), view=c.view, refused=(c.Sorry,), given=COATS)


COATS = {"Coat": st.binary(max_size=2)}

# What is right.

TestTheRuntime = conformance(c.Cloakroom, lambda clock: c.Cloakroom(clock=clock), settings=QUICK)

TestByHand = conformance(
    c.Cloakroom, lambda clock: c.ByHand(), view=c.view, refused=(c.Sorry,), settings=QUICK,
    given=COATS,
)  # fmt: skip

TestOtherParameters = conformance(
    c.Cloakroom(hooks=3), lambda clock: c.ByHand(3), view=c.view, refused=(c.Sorry,),
    settings=QUICK,
)  # fmt: skip
