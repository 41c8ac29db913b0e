"""The rules of every stage hold of the systems, in each of their scopes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

from lawful import Machine, machines
from tests.spec.codec.test_every_machine import declared_in, has_meaning
from tests.spec.lower.stages import broken_in_scopes


def systems() -> Iterator[type[Machine]]:
    for module in pkgutil.walk_packages(machines.__path__, "lawful.machines."):
        if ".service" not in module.name:
            yield from filter(has_meaning, declared_in(importlib.import_module(module.name)))


@pytest.mark.nightly
def test_the_rules_hold_of_every_system() -> None:
    found = list(dict.fromkeys(systems()))
    scopes, lines = broken_in_scopes(found)
    assert lines == [] and scopes > 100 and len(found) > 100
