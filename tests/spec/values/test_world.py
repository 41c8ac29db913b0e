"""Values: immutable containers, and their JSON form there and back."""

from __future__ import annotations

import enum
import pickle
from typing import Any

import pytest

from lawful import Record, Sort
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.values.world import FrozenBag, FrozenMap, Token, World, decode, encode, rank


class Colour(enum.Enum):
    RED = 1


class Node(Sort):
    pass


class Msg(Record):
    k: int
    to: Node | None


COLOUR, NODE = t.Enum("Colour", ("RED",)), t.Sort("Node")
MSG = t.Record("Msg", (("k", t.INT), ("to", t.Union((NODE, t.NOTHING)))))
WORLD = World({"Colour": Colour}, {"Msg": Msg}, {"Node": Node})

FORMS: tuple[tuple[object, t.Type, Json], ...] = (
    (True, t.BOOL, True),
    (3, t.INT, 3),
    (2**60, t.INT, {"$int": str(2**60)}),
    (-(2**60), t.INT, {"$int": str(-(2**60))}),
    (Colour.RED, COLOUR, "RED"),
    (Node("a"), NODE, "a"),
    (Token("P", 1), t.Opaque("P"), {"$opaque": "P", "id": 1}),
    (Msg(1, Node("a")), MSG, {"$": "Msg", "k": 1, "to": "a"}),
    (Msg(1, None), t.Union((MSG, t.NOTHING)), {"$": "Msg", "k": 1, "to": None}),
    (None, t.Union((MSG, t.NOTHING)), None),
    ((1, True), t.Tuple((t.INT, t.BOOL)), {"$tuple": [1, True]}),
    ((2, 1), t.Seq(t.INT, mutable=True), [2, 1]),
    ((2, 1), t.Seq(t.INT, mutable=False), {"$tuple": [2, 1]}),
    (frozenset({10, 9}), t.Set(t.INT, mutable=True), {"$set": [9, 10]}),
    (FrozenMap({10: 1, 9: 0}), t.Map(t.INT, t.INT, True), {"$map": [[9, 0], [10, 1]]}),
    (FrozenMap({Colour.RED: 1}), t.Map(COLOUR, t.INT, True), {"RED": 1}),
    (FrozenBag({1: 2}), t.Bag(t.INT), {"$map": [[1, 2]]}),
)


@pytest.mark.parametrize(("value", "kind", "form"), FORMS)
def test_there_and_back(value: object, kind: t.Type, form: Json) -> None:
    assert encode(value, kind) == form
    back = decode(form, kind, WORLD)
    assert back == value and type(back) is type(value)


WRONG: tuple[tuple[Json, t.Type], ...] = (
    (1, t.BOOL),
    (True, t.INT),
    ("BLUE", COLOUR),
    ({"$": "Msg", "k": 1}, MSG),
    ({"$": "Other", "k": 1, "to": None}, MSG),
    ({"$": "Msg", "k": True, "to": None}, MSG),
    ([1], t.Tuple((t.INT,))),
    ({"$tuple": [1, 2]}, t.Tuple((t.INT,))),
    ([1], t.Set(t.INT, mutable=True)),
    ({"$opaque": "Q", "id": 1}, t.Opaque("P")),
    (None, MSG),
    ("x", t.INT),
)


@pytest.mark.parametrize(("form", "kind"), WRONG)
def test_another_form_is_refused(form: Json, kind: t.Type) -> None:
    with pytest.raises(ValueError, match="expected"):
        decode(form, kind, WORLD)


def test_frozen_maps_are_values() -> None:
    one, two = FrozenMap({1: 2, 3: 4}), FrozenMap({3: 4, 1: 2})
    assert one == two and hash(one) == hash(two) and {one: 1}[two] == 1
    assert pickle.loads(pickle.dumps(one)) == one
    untyped: Any = one
    for change in ("update", "pop", "clear", "popitem", "setdefault"):
        with pytest.raises(TypeError, match="never changed"):
            getattr(untyped, change)(1)
    with pytest.raises(TypeError, match="never changed"):
        untyped[1] = 5


def test_what_a_bag_does_not_hold_counts_as_none() -> None:
    bag = FrozenBag({1: 2})
    assert bag[7] == 0 and 7 not in bag and bag.total() == 2


def test_elements_of_two_sorts_are_never_equal() -> None:
    class Other(Sort):
        pass

    assert Node("a") != Other("a") and Node("a") == Node("a") and Node("a") != "a"
    assert len({Node("a"), Other("a")}) == 2


def test_ranks_are_a_total_order_over_mixed_forms() -> None:
    forms: list[Json] = [{"$set": [1]}, "b", 2, True, None, "a", 10, False]
    assert sorted(forms, key=rank) == [None, False, True, 2, 10, "a", "b", {"$set": [1]}]
