"""Traces of a check played on the class itself: what the class does not do is no violation."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from decimal import Decimal
from types import ModuleType
from typing import Any, Literal, cast

import pytest

from lawful import Machine, Scope
from lawful.checks.conform import instances, trace_lifting
from lawful.checks.conform.trace_player import played
from lawful.checks.explore import CheckResult, Engine, explore
from lawful.checks.explore.traces import trace_json
from lawful.checks.verdict import Verdict
from lawful.cli import main
from lawful.machines.object_diffusion.declaration import InboundPeer
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.spec.values import opaques
from lawful.testing import rerun
from tests.checks.declarations import liveness, timed
from tests.checks.declarations.families import Rack
from tests.checks.declarations.playable import (
    Breaks,
    Color,
    Doubled,
    Far,
    Flags,
    Limited,
    Over,
    Round,
    Seen,
    Wide,
)

MODULE = "tests.checks.declarations.playable"


def checked(
    cls: type[Machine], scope: str = "scope", engine: Engine = "auto"
) -> tuple[CheckResult, CheckResult]:
    """What exploration says, and the same after its traces were played."""
    found = resolve(cls)
    bounds = found.scopes.get("scope", Scope())
    if scope != "scope":
        bounds = bounds.widened(found.scopes[scope].bounds)
    flat = lower(found.machine, bounds, abstract_scopes(found))
    result = explore(flat, found.world, {}, engine=engine)
    return result, played(cls, bounds, result)


def verdicts(result: CheckResult) -> dict[str, str]:
    """The verdicts that are no success."""
    return {p.name: p.verdict.value for p in result.properties if not p.verdict.good}


def counts(result: CheckResult) -> tuple[int, dict[str, str]]:
    """How many traces there are, and why some were not played."""
    assert result.played is not None
    return result.played.traces, {u.property: u.why for u in result.played.unplayed}


# Serial numbers.


@pytest.mark.parametrize("engine", ["reference", "generated"])
def test_a_violation_that_only_fewer_bits_have_is_none(engine: Engine) -> None:
    explored, told = checked(Wide, engine=engine)
    assert verdicts(explored) == {"in_order": "violated"}
    assert verdicts(told) == {"in_order": "unknown"}
    assert counts(told) == (1, {"in_order": "after these events in_order is not violated"})
    (p,) = (p for p in told.properties if p.name == "in_order")
    assert p.trace is not None and len(p.trace) == 5
    assert p.why == (
        "violated after 5 events within the scope, where serial numbers of 8 bits have 3; the "
        "class itself does not do this: after these events in_order is not violated"
    )


def test_where_the_scope_has_bits_enough_there_is_nothing_to_play() -> None:
    explored, told = checked(Wide, "enough")
    assert verdicts(explored) == {}
    assert told is explored


@pytest.mark.parametrize(("cls", "times"), [(Wide, 2), (InboundPeer, 1)], ids=["bits", "alike"])
def test_a_machine_is_lowered_again_only_for_serial_numbers(
    cls: type[Machine], times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lowered: list[bool] = []

    def counted(*given: Any, all_bits: bool = False) -> Any:
        lowered.append(all_bits)
        return lower(*given, all_bits=all_bits)

    monkeypatch.setattr(trace_lifting, "lower", counted)
    checked(cls)
    assert lowered == [False, True][:times]


def test_a_start_stands_for_the_number_as_far_from_the_last_one() -> None:
    explored, told = checked(Over)
    assert verdicts(explored) == {"never_again": "violated"}
    assert (verdicts(told), counts(told)) == (verdicts(explored), (1, {}))


def test_an_argument_stands_for_the_numbers_near_those_of_the_state() -> None:
    explored, told = checked(Far)
    assert verdicts(explored) == {"few": "violated"}
    assert (verdicts(told), counts(told)) == (verdicts(explored), (1, {}))


def test_a_lasso_that_only_fewer_bits_close_is_none() -> None:
    explored, told = checked(Round)
    assert verdicts(explored) == {"comes_up": "violated", "begins_again": "violated"}
    assert verdicts(told) == {"comes_up": "unknown", "last": "unknown", "begins_again": "violated"}
    assert counts(told) == (
        3,
        {
            "comes_up": "after these events comes_up is not violated",
            "last": "after these events last is not true",
        },
    )


# Opaque values.


def test_more_values_than_the_python_type_has() -> None:
    explored, told = checked(Flags)
    assert verdicts(explored) == {"no_three": "violated", "no_two": "violated"}
    assert verdicts(told) == {"no_three": "unknown", "no_two": "violated"}
    why = "it needs more values of Flag: its Python type has 2"
    assert counts(told) == (2, {"no_three": why})


@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (bool, (False, True)),
        (int, (0, 1, 2, 3, 4)),
        (Decimal, tuple(map(Decimal, range(5)))),
        (str, ("0", "1", "2", "3", "4")),
        (bytes, (b"0", b"1", b"2", b"3", b"4")),
        (Color, (Color.RED, Color.BLUE)),
        (Literal["a", "b"], ("a", "b")),
        (bool | None, (False, True)),
        (
            tuple[bool, Color],
            (
                (False, Color.RED),
                (False, Color.BLUE),
                (True, Color.RED),
                (True, Color.BLUE),
            ),
        ),
        (object, None),
        (tuple[int, ...], None),
        (bool | object, None),
    ],
)
def test_values_of_python_types(annotation: Any, values: tuple[Any, ...] | None) -> None:
    assert opaques.values([annotation], 5) == values


# What is played as it is.


@pytest.mark.parametrize(
    ("cls", "wrong", "traces"),
    [
        (
            Breaks,
            {
                "bounds": "violated",
                "asserts": "violated",
                "undefined": "undefined",
                "ambiguous": "violated",
            },
            4,
        ),
        (Seen, {"bounds": "violated", "not_twice": "violated"}, 2),
    ],
)
def test_what_the_class_does_stays(
    cls: type[Machine], wrong: Mapping[str, str], traces: int
) -> None:
    explored, told = checked(cls)
    assert verdicts(explored) == wrong
    assert dataclasses.replace(told, played=None) == explored
    assert counts(told) == (traces, {})


def machines(module: ModuleType) -> list[type[Machine]]:
    """The machines of a module of tests that have a scope."""
    return [each for each in vars(module).values() if _is_scoped(each, module.__name__)]


def _is_scoped(value: object, module: str) -> bool:
    machine = isinstance(value, type) and issubclass(value, Machine)
    return machine and value.__module__ == module and "scope" in vars(value)


PLAYED = [*machines(liveness), *machines(timed), Rack]


@pytest.mark.parametrize("cls", PLAYED, ids=lambda c: c.__name__)
def test_lassos_ticks_and_parts_are_played(cls: type[Machine]) -> None:
    explored, told = checked(cls)
    assert dataclasses.replace(told, played=None) == explored
    failing = [p for p in explored.properties if p.trace is not None]
    assert counts(told) == (len(failing), {}) if failing else told is explored


@pytest.mark.parametrize(("cls", "traces"), [(Breaks, 4), (Doubled, 1), (Limited, 1)])
def test_counterexamples_of_every_kind_run_again(cls: type[Machine], traces: int) -> None:
    explored, told = checked(cls)
    assert dataclasses.replace(told, played=None) == explored
    failing = [p for p in explored.properties if not p.verdict.good and p.trace is not None]
    assert len(failing) == traces
    for p in failing:
        assert p.trace is not None
        row = trace_json(p.trace)
        assert isinstance(row, list)
        with pytest.raises(AssertionError, match="as before"):
            rerun(f"{MODULE}:{cls.__name__}", p.name, cast(list[Any], row))


def test_an_abstract_class_has_no_instances() -> None:
    explored, told = checked(InboundPeer)
    assert verdicts(told) == verdicts(explored)
    traces, unplayed = counts(told)
    assert (traces, set(unplayed.values())) == (len(unplayed), {"InboundPeer is abstract"})


# What commands say.


def test_the_command_says_what_was_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{MODULE}:Wide", "--quiet", "--json", "-"]) == 3
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    assert row["verdict"] == "unknown"
    assert row["played"] == {
        "traces": 1,
        "played": 0,
        "not_played": [
            {"property": "in_order", "why": "after these events in_order is not violated"}
        ],
    }
    assert main(["check", f"{MODULE}:Flags"]) == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("  played    1 of 2 traces on the class itself")
    assert lines[at + 1] == (
        "            not no_three: it needs more values of Flag: its Python type has 2"
    )
    assert "no_three is unknown: violated after 3 events within the scope, where Flag has 3" in (
        "\n".join(lines)
    )


def test_an_instance_that_does_something_else_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: Any) -> tuple[str, None, None]:
        return "refused", None, None

    monkeypatch.setattr(instances.InstanceDriver, "take", refused)
    assert main(["check", f"{MODULE}:Far", "--quiet", "--json", "-"]) == 70
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    (p,) = (p for p in row["properties"] if p["name"] == "few")
    assert p["verdict"] == Verdict.UNKNOWN.value
    assert row["played"]["not_played"] == [
        {
            "property": "few",
            "why": (
                "event 1, ack: the reference engine gives done, an instance refused,"
                " which is a fault of "
                "lawful: please report it with these lines"
            ),
        }
    ]
