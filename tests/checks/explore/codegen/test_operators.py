"""Every operator of the language has generated code, or a row that says why it has none."""

from __future__ import annotations

from typing import Any

import pytest

from lawful import Machine, Scope, transition
from lawful.checks.explore import CheckResult, Engine, NoEngine, explore
from lawful.checks.explore.codegen import loops, operators
from lawful.checks.report.exploration import check_json, check_text
from lawful.spec import ops
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.spec import texts

DISPLAYS = {"map"}  # Its operands are keys and values in turn, so it has no template.
LANGUAGE = frozenset(ops.TABLE) | DISPLAYS


def rows() -> frozenset[str]:
    """The operators that the engine answers for, by code or by a refusal."""
    return frozenset({*operators.OPERATIONS, *operators.TARGETED, *operators.REFUSED})


def test_every_operator_has_a_row() -> None:
    assert rows() == LANGUAGE


def test_no_operator_has_two_rows() -> None:
    tables = (operators.OPERATIONS, operators.TARGETED, operators.REFUSED)
    assert sum(len(table) for table in tables) == len(rows())
    assert all(operators.REFUSED.values())
    assert loops.ITERATIONS.keys() <= operators.OPERATIONS.keys()


def test_an_operator_without_a_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(operators.OPERATIONS, "abs")
    assert LANGUAGE - rows() == {"abs"}
    with pytest.raises(KeyError, match="abs"):  # No silent fall to the reference engine.
        checked("auto")


def test_a_refused_operator_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(operators.OPERATIONS, "abs")
    monkeypatch.setitem(operators.REFUSED, "abs", "it is left out for this test")
    assert rows() == LANGUAGE
    why = "the generated engine does not know the operator abs: it is left out for this test"
    with pytest.raises(NoEngine, match=why):
        checked("generated")
    answer = checked("auto")
    assert answer.engine == "reference"
    assert answer.not_generated == "the operator abs: it is left out for this test"
    assert f"cannot be generated for {answer.not_generated}" in check_text(answer)
    entry: Any = check_json(answer, "", 0.0)
    assert entry["not_generated"] == answer.not_generated


def test_generated_steps_say_nothing_of_it() -> None:
    answer = checked("auto")
    assert (answer.engine, answer.not_generated) == ("generated", "")
    entry: Any = check_json(answer, "", 0.0)
    assert "not_generated" not in entry


class Distance(Machine):
    """A machine that uses one operator."""

    n: int = 0

    @transition()
    def step(self) -> None:
        self.n = abs(self.n - 1)

    scope = Scope(int=range(0, 3))


def checked(engine: Engine) -> CheckResult:
    """The answer for the machine from the engine that was asked for."""
    resolved = resolve(Distance)
    flat = lower(resolved.machine, resolved.scopes["scope"])
    return explore(flat, resolved.world, {}, engine=engine)


@pytest.mark.parametrize("method", sorted(ops.TEXTS))
def test_a_method_of_text_is_generated_and_asks_for_its_text(method: str) -> None:
    """The key 1 has no value in half of the states, and the key 2 in none."""
    text = f"""
class M(Machine):
    m: dict[Nat, Nat] = {{0: 1}}

    @transition
    def told(self, k: Nat) -> str:
        return f"{{self.m[k]}} of {{len(self.m)}}".{method}()

    @transition
    def put(self) -> None:
        self.m[1] = 2

    scope = Scope(Nat=range(0, 3))
"""
    found = texts.resolved(text)
    flat = lower(found.machine, found.scopes["scope"])
    answers = [explore(flat, found.world, {}, engine=each) for each in ("generated", "reference")]
    counts = [(each.distinct, each.generated, each.transitions) for each in answers]
    assert counts[0] == counts[1]
    assert [each.engine for each in answers] == ["generated", "reference"]
    asked = [next(p for p in each.properties if p.name == "undefined") for each in answers]
    assert [each.verdict.value for each in asked] == ["undefined"] * 2


TABLE = """
STEPS = {{0: {first}, 1: {second}}}


class M(Machine):
    at: Nat = 1

    @transition()
    def go(self, to: Nat) -> int:
        require(to in STEPS, "no step")
        self.at = to
        return {asked}

    scope = Scope(Nat=range(0, 3))
"""


@pytest.mark.parametrize(
    ("first", "second", "asked"),
    [
        ("frozenset()", "frozenset({0, 2})", "len(STEPS[to])"),
        ("(frozenset(), 1)", "(frozenset({0, 2}), 0)", "len(STEPS[to][0]) + STEPS[to][1]"),
    ],
)
def test_a_table_with_an_empty_set_has_generated_code(first: str, second: str, asked: str) -> None:
    cls = texts.machine(TABLE.format(first=first, second=second, asked=asked))
    found = resolve(cls)
    flat = lower(found.machine, found.scopes["scope"])
    answer = explore(flat, found.world, found.expects, engine="generated")
    assert (answer.engine, answer.not_generated) == ("generated", "")
