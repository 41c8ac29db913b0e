"""What `lawful diff` says of a change of types is what `restore` does, for all pairs of types.

Of each pair diff judges whether every state is taken over, and restore is given a snapshot of each
sampled state of the older version. The tables count the pairs by diff's verdict and by how many of
the states restore takes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.prove.migration import Versions, evolve
from lawful.checks.prove.result import Obligation
from lawful.runtime.timers import SimulatedClock
from lawful.spec import types as t
from lawful.spec.resolve import resolve
from lawful.spec.values.world import World, decode, encode
from tests.checks.declarations.clocked_versions import Asking, New, Old, Wanting
from tests.checks.prove.type_pairs import KINDS, UNIVERSE, instances, versions

Snapshots = list[dict[str, Any]]
MADE = versions()
SNAPSHOTS: list[Snapshots] = [
    [each.lawful.snapshot() for each in instances(*row)] for row in zip(MADE, KINDS, strict=True)
]


def diff(old: type[Machine], new: type[Machine], **renamed: str) -> dict[str, Obligation]:
    found = Versions.of(resolve(old), resolve(new), renamed)
    return {o.property: o for o in evolve(found, {"Node": 2, "Seat": 2})}


def is_taken(cls: type[Machine], snapshot: dict[str, Any], **renamed: str) -> bool:
    try:
        cls.lawful.restore(snapshot, renamed=renamed, universe=UNIVERSE)
    except ValueError:
        return False
    return True


def compared(old: int, new: int) -> tuple[str, str]:
    """Diff's verdict on a pair, and how many of the older version's states restore takes."""
    verdict = diff(MADE[old], MADE[new])["bounds"].verdict.value
    taken = [is_taken(MADE[new], each) for each in SNAPSHOTS[old]]
    real = "all" if all(taken) else "some" if any(taken) else "none"
    where = f"{KINDS[old]} -> {KINDS[new]}: {verdict}, restore takes {real}: {SNAPSHOTS[old]}"
    assert not (verdict.startswith("proved") and real != "all"), where
    assert not (verdict == "violated" and real == "all"), where
    return verdict, real


def table(pairs: list[tuple[int, int]]) -> dict[tuple[str, str], int]:
    return dict(Counter(compared(*pair) for pair in pairs))


ALL = [(old, new) for old in range(len(KINDS)) for new in range(len(KINDS))]


@pytest.mark.nightly
def test_diff_says_of_a_change_of_types_what_restore_does() -> None:
    some = [pair for pair in ALL if (7 * pair[0] + pair[1]) % 11 == 0]
    assert (len(some), table(some)) == (
        210,
        {
            ("proved", "all"): 28,
            ("proved-within", "all"): 3,
            ("violated", "none"): 153,
            ("violated", "some"): 19,
            ("unknown", "some"): 5,
            ("unknown", "none"): 2,
        },
    )


@pytest.mark.nightly
def test_diff_says_of_all_changes_of_types_what_restore_does() -> None:
    assert (len(ALL), table(ALL)) == (
        2304,
        {
            ("proved", "all"): 303,
            ("proved-within", "all"): 54,
            ("violated", "none"): 1676,
            ("violated", "some"): 167,
            ("unknown", "all"): 10,
            ("unknown", "some"): 81,
            ("unknown", "none"): 13,
        },
    )


# Besides types.


def verdicts(found: dict[str, Obligation]) -> dict[str, str]:
    return {name: o.verdict.value for name, o in found.items()}


def test_a_clock_of_other_ticks_has_run_for_the_same_seconds() -> None:
    found = diff(Old.Watch, New.Watch)
    assert verdicts(found) == {"bounds": "proved", "past": "violated", "half": "proved"}
    shown: Any = found["past"].counterexample
    assert shown["state"]["clock"] >= shown["state"]["since"] > shown["after"]["clock"]


@pytest.mark.parametrize("tenths", range(0, 60, 7))
@pytest.mark.parametrize("later", [0, 3, 5, 9])
def test_what_is_proved_of_other_ticks_is_what_restore_makes(tenths: int, later: int) -> None:
    clock = SimulatedClock(1000.1)
    old = Old.Watch(clock=clock)
    clock.advance(tenths / 10)
    old.look()
    clock.advance(later / 10)
    snapshot, now = old.lawful.snapshot(), (tenths + later) // 10
    # Of the two invariants `past` alone may be false of it.
    if old.since <= now:
        new = New.Watch.lawful.restore(snapshot, renamed={}, clock=SimulatedClock(7.3))
        assert (new.clock.now, new.since) == (now, old.since)
    else:
        with pytest.raises(ValueError, match="past: false"):
            New.Watch.lawful.restore(snapshot, renamed={}, clock=SimulatedClock(7.3))


@pytest.mark.parametrize("at", [0.0, 7.3, 1000.1, 123456.7])
def test_a_clock_that_is_restored_is_at_the_same_tick(at: float) -> None:
    for tenths in range(40):
        clock = SimulatedClock(at)
        fine = Old.Fine(clock=clock)
        clock.advance(tenths / 10)
        fine.note()
        for again in (0.0, 0.1, 1000.1, 98765.4):
            snapshot = fine.lawful.snapshot()
            back = Old.Fine.lawful.restore(snapshot, clock=SimulatedClock(again))
            assert (back.clock.now, back.a) == (fine.a, fine.a), (at, tenths, again)


def test_timers_beside_other_ticks_are_left_open() -> None:
    (bounds,) = diff(Old.Alarm, New.Alarm).values()
    assert (bounds.verdict.value, bounds.note) == (
        "unknown",
        "not encodable: timers beside a clock that had other ticks",
    )


def test_a_clock_that_is_new_begins_at_nothing() -> None:
    assert verdicts(diff(Old.Rest, New.Rest)) == {"bounds": "proved", "past": "violated"}
    assert verdicts(diff(Old.Rest, New.Rest, time="clock")) == {
        "bounds": "proved",
        "past": "proved",
    }
    clock = SimulatedClock()
    rest = Old.Rest(clock=clock)
    clock.advance(2.0)
    rest.note()
    assert not is_taken(New.Rest, rest.lawful.snapshot())
    assert is_taken(New.Rest, rest.lawful.snapshot(), time="clock")


def test_names_cannot_change_where_the_shape_does_not() -> None:
    with pytest.raises(ValueError, match="a, b cannot be renamed: both versions of Pair have the"):
        diff(Old.Pair, New.Pair, a="b", b="a")
    assert verdicts(diff(Old.Pair, New.Pair, a="a")) == {"bounds": "proved", "few": "violated"}


def test_what_nobody_can_judge_of_one_state_is_taken_over_of_none() -> None:
    found = diff(Old.Pair, Asking.Pair)
    assert verdicts(found) == {"bounds": "proved", "every": "violated", "low": "proved"}
    assert found["every"].note == (
        "restore refuses all: the values of its parameter n cannot be enumerated"
    )
    assert not is_taken(Asking.Pair, Old.Pair().lawful.snapshot())


def test_what_begins_with_no_value_is_taken_over_of_none() -> None:
    (bounds,) = diff(Old.Pair, Wanting.Pair).values()
    assert (bounds.verdict.value, bounds.note) == (
        "violated",
        "restore refuses all: most is new, and begins with no value",
    )
    assert not is_taken(Wanting.Pair, Old.Pair().lawful.snapshot())


def test_what_no_value_is_read_of_proves_nothing() -> None:
    kinds = [each.text for each in KINDS]
    found = diff(MADE[kinds.index("Color")], MADE[kinds.index("set[int]")])
    assert found["bounds"].note == "x is a set[int], and this Color is none"
    assert found["bounds"].counterexample == {"state": {"x": "RED"}, "after": {}}


# The forms of values, which both go by.


def test_no_other_value_is_read_as_a_map() -> None:
    node, link, ping = t.Sort("Node"), t.Sort("Link"), t.Record("Ping", (("to", t.Sort("Node")),))
    world = World.made_of((node, link, ping))
    a = world.sorts["Node"]("a")
    for value, kind, new in (
        (frozenset({a}), t.Set(node, mutable=True), t.Map(node, t.Seq(link, mutable=True), True)),
        ((a,), t.Seq(node, mutable=False), t.Map(node, t.Seq(link, mutable=True), True)),
        (world.records["Ping"](a), ping, t.Map(node, link, True)),
        (2**60, t.INT, t.Map(node, link, True)),
    ):
        with pytest.raises(ValueError, match="expected a dict"):
            decode(encode(value, kind), new, world)


@pytest.mark.parametrize("name", ["$", "$set", "$tuple", "$map", "$int", "$opaque", "$x", ""])
def test_keys_may_have_any_name(name: str) -> None:
    node = t.Sort("Node")
    world, kind = World.made_of((node,)), t.Map(node, t.INT, mutable=True)
    held = {world.sorts["Node"](name): 3, world.sorts["Node"]("a"): 4}
    assert decode(encode(held, kind), kind, world) == held
