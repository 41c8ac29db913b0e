"""The schema of a type accepts the JSON form of each value, and nothing that is not read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lawful.spec import types as t
from lawful.spec.values.bounds import Values
from lawful.spec.values.json_schema import DIALECT, schema_of
from lawful.spec.values.world import EXACT, World, decode, encode
from tests.spec.values.schemas import valid
from tests.spec.values.test_bounds import COLOUR, NODE, SMALL, Colour, Node, Pair, larger

WORLD = World({"Colour": Colour}, {"Pair": Pair}, {"Node": Node})
LEAVES = st.sampled_from([t.BOOL, SMALL, COLOUR, NODE, t.NOTHING])
TYPES = st.recursive(LEAVES, larger, max_leaves=4)


def forms(kind: t.Type) -> list[Any]:
    """The JSON forms of some values of a type."""
    values = Values(WORLD, {"Node": 2})
    assume(values.count(kind) <= 500)
    return [json.loads(json.dumps(encode(value, kind))) for value in values.of(kind)[:20]]


@settings(max_examples=60)
@given(TYPES, TYPES)
def test_forms_are_valid_and_what_is_valid_is_read(kind: t.Type, other: t.Type) -> None:
    schema = schema_of(kind, WORLD)
    mine, theirs = forms(kind), forms(other)
    assert all(valid(data, schema) for data in mine)
    for data in theirs:
        if valid(data, schema):
            decode(data, kind, WORLD)


@settings(max_examples=60)
@given(TYPES, TYPES)
def test_the_validator_is_right(kind: t.Type, other: t.Type) -> None:
    validators: Any = pytest.importorskip("jsonschema")
    schema = schema_of(kind, WORLD)
    validators.Draft202012Validator.check_schema({"$schema": DIALECT, **schema})
    theirs = validators.Draft202012Validator(schema)
    for data in (*forms(kind), *forms(other)):
        assert valid(data, schema) == theirs.is_valid(data)


SAID: list[tuple[t.Type, list[Any], list[Any]]] = [
    (t.NAT, [0, EXACT, {"$int": "90071992547409930"}], [-1, True, 1.5, "1", {"$int": "x"}]),
    (SMALL, [0, 2], [3, {"$int": "1"}, None]),
    (t.FLOAT, [1, 0.5], [True, "1", None]),
    (COLOUR, ["RED"], ["GREEN", 1]),
    (t.Opaque("Key"), [{"$opaque": "Key", "id": "str:a"}], [{"$opaque": "Key", "id": 1}, "a"]),
    (t.Seq(SMALL, True, 2), [[], [1, 2]], [[1, 2, 0], [3], {"$tuple": []}]),
    (t.Map(COLOUR, SMALL, True, True), [{"RED": 1, "BLUE": 0}], [{"RED": 1}, {"GREEN": 1}]),
    (t.Map(COLOUR, SMALL, True), [{}, {"RED": 1}, {"$map": [["RED", 1]]}], [{"RED": 3}]),
    (t.Map(NODE, SMALL, True), [{"a": 1}], [{"$set": 1}, {"a": True}]),
    (t.Set(SMALL, False), [{"$set": [1]}], [[1], {"$set": [1, 1]}, {"$set": [], "x": 1}]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), SAID)
def test_what_schemas_say(kind: t.Type, good: list[Any], bad: list[Any]) -> None:
    schema = schema_of(kind, WORLD)
    assert [each for each in good if not valid(each, schema)] == []
    assert [each for each in bad if valid(each, schema)] == []


def test_what_is_no_value_has_no_schema() -> None:
    with pytest.raises(TypeError, match="no JSON Schema for Timer"):
        schema_of(t.Timer(), WORLD)
