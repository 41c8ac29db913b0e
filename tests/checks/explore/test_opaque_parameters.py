"""Parameters of opaque types: `id: Param[UUID]`."""

from __future__ import annotations

import math
from uuid import UUID

import pytest

from lawful import Expect, Machine, Nat, Param, Record, Scope, invariant, require, transition
from lawful.checks.conform.trace_player import played
from lawful.checks.explore import CheckResult, Engine, explore
from lawful.checks.tla.module import export
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve

ONE, OTHER, THIRD = UUID(int=1), UUID(int=2), UUID(int=3)


class Pair(Record):
    owner: UUID
    n: Nat


class Door(Machine):
    """Opens for its owner, who may be its guest as well."""

    owner: Param[UUID]
    guest: Param[UUID]
    pair: Param[Pair]
    last: UUID | None = None
    open: bool = False

    @transition()
    def ring(self, who: UUID) -> None:
        self.last = who

    @transition()
    def let_in(self) -> None:
        require(self.last == self.owner)
        require(self.last != self.guest)
        require(self.last != self.pair.owner)
        self.open = True

    @invariant
    def shut(self) -> bool:
        return not self.open

    scope = Scope(UUID=2, pair=(Pair(OTHER, 1), Pair(ONE, 1)), expects=Expect(shut=("violated", 2)))
    told = Scope(UUID=2, owner=(ONE,), guest=(OTHER,), pair=(Pair(OTHER, 1),))
    same = Scope(UUID=2, owner=(ONE,), guest=(ONE, OTHER), pair=(Pair(ONE, 1),))
    many = Scope(UUID=2, owner=(ONE, OTHER), guest=(THIRD,), pair=(Pair(ONE, 1),))


def checked(scope: str, engine: Engine = "generated") -> CheckResult:
    found = resolve(Door)
    flat = lower(found.machine, found.scopes[scope], abstract_scopes(found))
    return explore(flat, found.world, found.expects, engine=engine)


@pytest.mark.parametrize(
    ("scope", "starts", "shut"),
    [("scope", 8, "violated"), ("told", 1, "violated"), ("same", 2, "holds")],
)
def test_equal_values_are_one_in_every_engine(scope: str, starts: int, shut: str) -> None:
    """Where the scope gives a parameter no values, it has all."""
    fast, slow = checked(scope), checked(scope, "reference")
    for result in (fast, slow):
        found = {each.name: each.verdict.value for each in result.properties}
        assert found["shut"] == shut
    assert fast.distinct == slow.distinct
    flat = lower(resolve(Door).machine, resolve(Door).scopes[scope])
    assert math.prod(len(values) for _, values in flat.parameters) == starts


def test_a_counterexample_is_played() -> None:
    """The values on the class are values of its type."""
    result = played(Door, resolve(Door).scopes["told"], checked("told"))
    assert result.played is not None
    assert result.played.traces == 1
    assert not result.played.unplayed


def test_more_values_than_the_scope_has() -> None:
    told = r"L303(?s:.)*3 values of UUID in parameters(?s:.)*at most UUID=2"
    with pytest.raises(DeclarationError, match=told):
        checked("many")


def test_they_are_model_values_of_tla() -> None:
    flat = lower(resolve(Door).machine, resolve(Door).scopes["told"])
    pair = r'[is |-> "Pair", owner |-> UUID_1, n |-> 1]'
    start = rf"\E owner_1 \in {{UUID_0}} : (\E guest_1 \in {{UUID_1}} : (\E pair_1 \in {{{pair}}}"
    assert start in export(flat, {}).module
