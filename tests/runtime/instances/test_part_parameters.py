"""Parameters of parts are those of the declaration, also where an older one had others."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from lawful import Machine, Nat, Param, Sort, invariant, transition


class Key(Sort):
    """Names of limbs."""


class Limb(Machine):
    """What counts up to its limit."""

    limit: Param[int] = 5
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n += 1


class Body(Machine):
    """Parts with parameters of their own."""

    arm: Limb = Limb(limit=3)
    leg: Limb = Limb()
    limbs: dict[Key, Limb] = {}

    @transition()
    def grow(self, key: Key, limit: int) -> None:
        self.limbs[key] = Limb()

    @transition()
    def stretch(self, key: Key) -> None:
        self.limbs[key] = Limb(limit=7)

    @invariant
    def short(self) -> bool:
        return self.arm.limit == 3


class Free(Machine):
    """Members with whatever parameter a caller gives."""

    limbs: dict[Key, Limb] = {}

    @transition()
    def grow(self, key: Key, limit: int) -> None:
        self.limbs[key] = Limb(limit=limit)


def grown() -> Body:
    body = Body()
    body.grow(Key("a"), 1)
    body.stretch(Key("b"))
    return body


def test_parts_come_back_with_the_parameters_of_the_declaration() -> None:
    body = grown()
    again = [Body.lawful.restore(body.lawful.snapshot()), pickle.loads(pickle.dumps(body))]
    assert [*again, copy.copy(body)] == [body] * 3


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (("arm",), r"Body.arm.limit is 9, and the declaration makes it with 3"),
        (("leg",), r"Body.leg.limit is 9, and the declaration makes it with 5"),
        (("limbs", 0, 1), r"Body.limbs\[Key\('a'\)\].limit is 9, .* makes it with 5 or 7"),
    ],
)
def test_a_parameter_of_an_older_declaration_is_refused(path: tuple[Any, ...], told: str) -> None:
    saved = grown().lawful.snapshot()
    part = saved["variables"]
    for each in path:
        part = part[each]
    part["parameters"]["limit"] = 9
    with pytest.raises(ValueError, match=told):
        Body.lawful.restore(saved)


def test_a_migration_takes_it_from_the_declaration() -> None:
    saved = Body().lawful.snapshot()
    saved["variables"]["arm"]["parameters"]["limit"] = 9
    saved["variables"]["arm"]["variables"]["n"] = 2
    again = Body.lawful.restore(saved, renamed={})
    assert (again.arm.limit, again.arm.n) == (3, 2)
    saved["shape"] = "0123456789abcdef"
    assert Body.lawful.restore(saved, renamed={}) == again
    other = grown().lawful.snapshot()
    other["variables"]["limbs"][0][1]["parameters"]["limit"] = 9
    with pytest.raises(ValueError, match=r"limit is 9, .* 5 or 7"):
        Body.lawful.restore(other, renamed={})


def test_a_parameter_that_only_a_run_tells_comes_back() -> None:
    free = Free()
    free.grow(Key("a"), 11)
    assert Free.lawful.restore(free.lawful.snapshot()).limbs[Key("a")].limit == 11
