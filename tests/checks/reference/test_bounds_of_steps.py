"""Bounds after a step: only what the step changed is judged, and the answer is that of a judgement
of the whole value."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, transition
from lawful.checks.reference import Reference
from lawful.checks.reference.bounds import Breaches
from lawful.spec import types as t
from lawful.spec.values import bounds
from lawful.spec.values.unlike import unlike_keys, unlike_span
from lawful.spec.values.world import FrozenMap, World

NAT = t.Int(0, 300)
SETS = t.Map(t.Int(0, 9), t.Set(NAT, mutable=False), mutable=False)
# More than 256: integers above are different objects where they are equal.
numbers = st.integers(-3, 303)
few = st.integers(-1, 10)


class Log(Machine):
    """Holds what it saw in containers that grow."""

    seen: set[Nat] = set()
    hits: dict[Nat, set[Nat]] = {}
    last: list[Nat] = []

    @transition()
    def add(self, who: Nat) -> None:
        self.seen.add(who)
        self.hits[who] = {who}
        self.last.append(who)


def judged(kind: t.Type, old: Any, new: Any) -> str | None:
    """What the engine finds in a state of one variable, which held `old` before."""
    machine = Log.lawful.ir
    variable = dataclasses.replace(machine.variables[0], name="x", type=kind)
    whole = dataclasses.replace(machine, variables=(variable,), parameters=())
    return Breaches({whole.name: whole}, whole.name).of(whole.name, (new,), (old,))


CASES: list[tuple[t.Type, Any]] = [
    (t.Set(NAT, mutable=False), st.frozensets(numbers)),
    (t.Seq(NAT, mutable=False, most=6), st.lists(numbers, max_size=8).map(tuple)),
    (t.Map(NAT, t.Int(0, 9), mutable=False), st.dictionaries(numbers, few).map(FrozenMap)),
    (SETS, st.dictionaries(few, st.frozensets(numbers, max_size=3)).map(FrozenMap)),
]


@pytest.mark.parametrize(("kind", "values"), CASES, ids=["set", "list", "map", "map of sets"])
def test_a_change_is_judged_as_the_whole_value_is(kind: t.Type, values: Any) -> None:
    def within(value: Any) -> bool:
        return bounds.breach(value, kind) is None

    @settings(max_examples=40)
    @given(old=values.filter(within), new=values)
    def agree(old: Any, new: Any) -> None:
        found = bounds.breach(new, kind)
        assert judged(kind, old, new) == (None if found is None else _named(found))

    agree()


def _named(found: str) -> str:
    return f"x{found}" if found[0] in ".[ " else f"x: {found}"


def test_a_step_judges_only_the_entries_that_it_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    many = range(1000)
    engine = Reference(Log.lawful.ir, World.made_of(Log.lawful.ir.types))
    sets = FrozenMap({i: frozenset({i}) for i in many})
    state = type(engine.initial({}))([frozenset(many), sets, tuple(many)])
    judged: list[Any] = []
    real = bounds.breach

    def counting(value: Any, kind: t.Type) -> str | None:
        judged.append(value)
        return real(value, kind)

    monkeypatch.setattr(bounds, "breach", counting)
    engine.step(state, "add", {"who": 1000})
    # The set's item; the map's key, its set, the item in it; the list's item.
    assert judged == [1000, 1000, frozenset({1000}), 1000, 1000]


@given(st.dictionaries(few, few), st.dictionaries(few, few))
def test_unlike_keys_are_those_with_another_object(
    old: dict[int, int], new: dict[int, int]
) -> None:
    assert list(unlike_keys(old, new)) == [k for k in new if old.get(k) is not new[k]]


@given(st.lists(few, max_size=5), st.lists(few, max_size=5))
def test_an_unlike_span_leaves_what_is_the_same_at_both_ends(
    old: list[int], new: list[int]
) -> None:
    at, same = unlike_span(old, new)
    assert old[:at] == new[:at]
    assert old[len(old) - same :] == new[len(new) - same :]
    short = min(len(old), len(new))
    assert at + same <= short
    assert at == short or old[at] != new[at]
    assert at + same == short or old[-1 - same] != new[-1 - same]
