"""Bounds of types: breaches, membership, and all values of a bounded type."""

from __future__ import annotations

import enum

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from lawful import Record, Sort
from lawful.spec import types as t
from lawful.spec.values.bounds import FREE, Values, belongs, bounded, breach
from lawful.spec.values.world import FrozenBag, FrozenMap, Token, World


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Node(Sort):
    pass


class Msg(Record):
    k: int
    flag: bool


class Span(Record):
    colour: Colour
    first: Msg
    most: int


COLOUR = t.Enum("Colour", ("RED", "BLUE"))
NODE = t.Sort("Node")
MSG = t.Record("Msg", (("k", t.Int(0, 1)), ("flag", t.BOOL)))
SMALL = t.Int(0, 2, "Nat")
SPAN = t.Record("Span", (("colour", COLOUR), ("first", MSG), ("most", SMALL)))
WORLD = World({"Colour": Colour}, {"Msg": Msg}, {"Node": Node})
VALUES = Values(WORLD, {"Node": 2, "Payload": 2})

BREACHES = (
    (3, SMALL, "3 is above 2"),
    (-1, t.NAT, "-1 is below 0"),
    (10**40, t.NAT, None),
    ((0, 5), t.Tuple((SMALL, SMALL)), "[1]: 5 is above 2"),
    ((1, 1, 1), t.Seq(SMALL, mutable=True, most=2), "length 3 is above 2"),
    (FrozenBag({1: -1}), t.Bag(SMALL), "the count of 1 is below 0"),
    (FrozenBag({1: 2, 2: 1}), t.Bag(SMALL, 2), "total 3 is above 2"),
    (FrozenMap({1: 9}), t.Map(SMALL, SMALL, mutable=True), "[1]: 9 is above 2"),
    (FrozenMap({9: 1}), t.Map(SMALL, SMALL, mutable=True), " as key: 9 is above 2"),
    (Msg(7, True), MSG, ".k: 7 is above 1"),
    (Msg(0, True), MSG, None),
    (Span(Colour.RED, Msg(0, True), 7), SPAN, ".most: 7 is above 2"),
    (Span(Colour.RED, Msg(7, True), 7), SPAN, ".first: .k: 7 is above 1"),
    (frozenset({2, 9, 5}), t.Set(SMALL, mutable=False), "5 is above 2"),
    (frozenset({Msg(0, True), Msg(7, True)}), t.Set(MSG, mutable=False), ".k: 7 is above 1"),
    (frozenset({0, 2}), t.Set(SMALL, mutable=False), None),
    (frozenset(Colour), t.Set(COLOUR, mutable=False), None),
    (None, t.Union((MSG, t.NOTHING)), None),
    (Msg(7, True), t.Union((MSG, t.NOTHING)), ".k: 7 is above 1"),
)


@pytest.mark.parametrize(("value", "kind", "said"), BREACHES)
def test_a_breach_says_where_and_what(value: object, kind: t.Type, said: str | None) -> None:
    assert breach(value, kind) == said


def test_types_that_are_passed_over_have_no_bounds() -> None:
    literal = t.Literal("Literal", ("off", "on"))
    free = (t.BOOL, t.NOTHING, COLOUR, literal, NODE, t.Opaque("Payload"), t.Text(), t.Float())
    assert {type(kind) for kind in free} == FREE
    assert not any(map(bounded, free))


def test_belonging_tells_bools_from_integers() -> None:
    assert belongs(1, SMALL) and not belongs(True, SMALL)
    assert belongs(True, t.BOOL) and not belongs(1, t.BOOL)
    assert not belongs(3, SMALL)
    assert belongs(Colour.RED, COLOUR) and not belongs(1, COLOUR)
    assert belongs(None, t.Union((SMALL, t.NOTHING))) and not belongs(None, SMALL)
    assert belongs((1, True), t.Tuple((SMALL, t.BOOL))) and not belongs((1,), t.Tuple((SMALL,) * 2))
    assert belongs({1, 2}, t.Set(SMALL, mutable=False)) and not belongs([1], t.Set(SMALL, True))
    flags = t.Map(SMALL, t.BOOL, mutable=True)
    assert belongs({1: True}, flags) and not belongs({1: 1}, flags)
    assert belongs(0.5, t.FLOAT) and belongs(1, t.FLOAT) and not belongs(True, t.FLOAT)


ALL: tuple[tuple[t.Type, tuple[object, ...]], ...] = (
    (t.BOOL, (False, True)),
    (SMALL, (0, 1, 2)),
    (COLOUR, (Colour.RED, Colour.BLUE)),
    (NODE, (Node("Node1"), Node("Node2"))),
    (t.Opaque("Payload"), (Token("Payload", 0), Token("Payload", 1))),
    (t.Union((t.NOTHING, COLOUR)), (None, Colour.RED, Colour.BLUE)),
    (
        t.Set(t.BOOL, False),
        (frozenset[bool](), frozenset({False}), frozenset({True}), frozenset({False, True})),
    ),
    (t.Seq(t.BOOL, False, 1), ((), (False,), (True,))),
    (t.Bag(t.BOOL, 1), (FrozenBag[bool](), FrozenBag({False: 1}), FrozenBag({True: 1}))),
)


@pytest.mark.parametrize(("kind", "values"), ALL)
def test_all_values_of_a_type(kind: t.Type, values: tuple[object, ...]) -> None:
    assert VALUES.of(kind) == values


def test_how_many_values_there_are() -> None:
    partial = t.Map(COLOUR, SMALL, mutable=True)
    total = t.Map(COLOUR, SMALL, mutable=True, total=True)
    assert len(VALUES.of(MSG)) == 4
    assert len(VALUES.of(partial)) == 16
    assert len(VALUES.of(total)) == 9
    assert len(VALUES.of(t.Bag(SMALL, 2))) == 10
    assert len(VALUES.of(t.Seq(SMALL, True, 2))) == 13
    assert all(belongs(value, kind) for kind in (MSG, total) for value in VALUES.of(kind))


def test_without_bounds_there_is_no_end() -> None:
    with pytest.raises(TypeError, match="no bounds"):
        VALUES.of(t.INT)


LEAVES = st.sampled_from([t.BOOL, SMALL, COLOUR, NODE, t.NOTHING, t.Int(3, 2), t.Opaque("Payload")])


def larger(inner: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    most, frozen = st.integers(0, 3), st.just(False)
    return st.one_of(
        st.builds(t.Set, inner, frozen),
        st.builds(t.Seq, inner, frozen, most),
        st.builds(t.Bag, inner, most),
        st.builds(t.Map, inner, inner, frozen, st.booleans()),
        st.builds(t.Tuple, st.tuples(inner, inner)),
        st.builds(pair, inner, inner),
    )


def pair(a: t.Type, b: t.Type) -> t.Type:
    return t.Record("Pair", (("a", a), ("b", b)))


class Pair(Record):
    a: object
    b: object


@given(st.recursive(LEAVES, larger, max_leaves=4))
def test_counted_are_as_many_as_there_are(kind: t.Type) -> None:
    values = Values(World({"Colour": Colour}, {"Pair": Pair}, {"Node": Node}), VALUES.sizes)
    count = values.count(kind)
    event("few" if count <= 5_000 else "many")
    if count <= 5_000:
        assert len(values.of(kind)) == count


@pytest.mark.parametrize(
    "kind",
    [
        t.Set(t.Set(t.Set(SMALL, False), False), False),
        t.Map(t.Seq(SMALL, False, 9), t.BOOL, False, True),
        t.Tuple((t.Int(0, 5_000_000), t.BOOL)),
    ],
)
def test_more_than_can_be_held_are_refused_at_once(kind: t.Type) -> None:
    with pytest.raises(ValueError, match=r"has more than 4,194,304 values within the scope"):
        VALUES.of(kind)
