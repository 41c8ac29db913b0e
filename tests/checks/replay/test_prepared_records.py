"""What a preparation does with one record: casts, conditions, computed fields, times."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from lawful.checks.replay import Preparation, RowForm
from lawful.checks.replay.preparation.path_templates import MissingPath, computed, holds
from lawful.checks.replay.preparation.steps import cast, prepared
from lawful.checks.replay.preparation.times import seconds

CAST: list[tuple[Any, str, Any]] = [
    ("+12", "int", 12),
    ("-7 ", "int", -7),
    ("1.5", "int", "1.5"),
    ("", "int", ""),
    (3, "int", 3),
    ("1e3", "float", 1000.0),
    ("inf", "float", "inf"),
    ("x", "float", "x"),
    ("True", "bool", True),
    ("0", "bool", False),
    ("yes", "bool", "yes"),
    (7, "text", "7"),
    ("7", "text", "7"),
    ([1], "text", "[1]"),
]


@pytest.mark.parametrize(("value", "kind", "wanted"), CAST)
def test_casts(value: Any, kind: str, wanted: Any) -> None:
    found = cast(value, kind)
    assert (found, type(found)) == (wanted, type(wanted))


HELD: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"$.a": 1}, True),
    ({"$.a": True}, False),
    ({"$.a": [0, 1]}, True),
    ({"$.a": [0, 2]}, False),
    ({"$.b.c": "xyz", "$.a": 1}, True),
    ({"$.b.c": {"$matches": "^y"}}, False),
    ({"$.b.c": {"$matches": "y"}}, True),
    ({"$.a": {"$matches": "1"}}, False),
    ({"$.d": None}, False),
]


@pytest.mark.parametrize(("condition", "wanted"), HELD)
def test_conditions(condition: dict[str, Any], wanted: bool) -> None:
    record: dict[str, Any] = {"a": 1, "b": {"c": "xyz"}}
    assert holds(condition, record) is wanted
    how = Preparation(when=condition)
    assert list(prepared(how, record)) == ([(0, record)] if wanted else [])


COMPUTED: list[tuple[Any, Any]] = [
    ({"$join": ["$.a", "-", "$.b.c", True]}, "1-xyztrue"),
    ({"$join": "$.b.c"}, "xyz"),
    ({"$lower": {"$join": ["A", "$.a"]}}, "a1"),
    ({"$find": "y(z)", "in": "$.b.c"}, "z"),
    ({"$find": "x.", "in": "$.b.c"}, "xy"),
    ({"$find_all": ".", "in": "$.b.c"}, ["x", "y", "z"]),
    (
        {"$": "Job", "size": "$.a", "of": {"$join": ["n", "$.a"]}},
        {"$": "Job", "size": 1, "of": "n1"},
    ),
]


@pytest.mark.parametrize(("template", "wanted"), COMPUTED)
def test_computed_fields(template: Any, wanted: Any) -> None:
    assert computed(template, {"a": 1, "b": {"c": "xyz"}}) == wanted
    without: list[Any] = [{"$find": "q", "in": "$.b.c"}, {"$find": "1", "in": "$.a"}, "$.q"]
    for nothing in without:
        with pytest.raises(MissingPath):
            computed(nothing, {"a": 1, "b": {"c": "xyz"}})


def test_a_choice_without_the_other_case_is_null() -> None:
    choice: Any = {"$if": {"$.a": 1}, "then": "$.b"}
    assert [computed(choice, {"a": a, "b": 7}) for a in (1, 2)] == [7, None]
    assert computed({"$if": {}}, {}) is None


def test_records_of_one_row_do_not_change_each_other() -> None:
    forms = tuple(RowForm(fields={"n": n}) for n in range(2))
    how = Preparation(rows=forms, casts={"$.a.b": "int"}, drop=("$.a.c",))
    given: Any = {"a": {"b": "1", "c": 2}}
    told = [each for _, each in prepared(how, given)]
    assert told == [{"a": {"b": 1}, "n": 0}, {"a": {"b": 1}, "n": 1}]
    assert given == {"a": {"b": "1", "c": 2}}


TIMES: list[tuple[Any, str, Any]] = [
    (1.5, "s", Fraction(3, 2)),
    (0.1, "ms", Fraction(1, 10_000)),
    (True, "s", None),
    ("1", "s", None),
    (float("nan"), "s", None),
    ("1970-01-02", "iso", 86_400),
    ("1970-01-01T01:00:00.000001+01:00", "iso", Fraction(1, 10**6)),
    ("Feb 29 00:00:01", "%b %d %H:%M:%S", 951_782_401),
    ("081109 203615", "%y%m%d %H%M%S", 1_226_262_975),
    ("nonsense", "%y", None),
    (1, "iso", None),
]


@pytest.mark.parametrize(("value", "unit", "wanted"), TIMES)
def test_times(value: Any, unit: str, wanted: Any) -> None:
    assert seconds(value, unit) == wanted


def test_a_computed_field_is_cast_and_replaced() -> None:
    """So is one with a default, and one of a form of rows; what the record has, before that."""
    how = Preparation(
        defaults={"$.n": 0},
        casts={"$.n": "int", "$.price": "fixed(2)", "$.own": "fixed(1)"},
        values={"$.kind": {"PUT": "set"}, "$.n": {"7": 8}},
        fields={
            "n": {"$find": "n=([0-9]+)", "in": "$.text"},
            "kind": {"$find": "^[A-Z]+", "in": "$.text"},
            "own": "$.own",
        },
        rows=(RowForm(fields={"price": "$.cost"}),),
    )
    rows: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"text": "PUT n=5", "cost": "1.5"}, {"n": 5, "kind": "set", "price": 150}),
        ({"text": "GET n=7", "cost": "x"}, {"n": 8, "kind": "GET", "price": "x"}),
        ({"text": "?", "own": "2.5"}, {"n": 0, "own": 25}),
        # Its own number is cast before a field takes its place, and no second time.
        ({"text": "PUT n=7", "n": "3"}, {"n": "7", "kind": "set"}),
    ]
    for record, added in rows:
        assert list(prepared(how, record)) == [(0, {**record, **added})]
