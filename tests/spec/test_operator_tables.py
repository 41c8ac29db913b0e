"""Every engine's tables of operators and updates have the rows of `spec/ops.py`, no more, no less.

The reference engine and the runtime evaluate the templates of `ops.TABLE` themselves; of them,
the tables of operators on ordered sorts are compared.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

import pytest

from lawful.checks.explore.codegen import operators as generated
from lawful.checks.explore.codegen import updates as generated_updates
from lawful.checks.reference import containers, ordering
from lawful.checks.smt.encode import operators as symbolic
from lawful.checks.smt.encode import sequences, statements
from lawful.checks.tla import operators as tla
from lawful.checks.tla import places
from lawful.diagrams.transition_labels import negated
from lawful.runtime.compile import expressions as compiled
from lawful.runtime.kernel import operators as kernel
from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.errors import NOWHERE
from lawful.spec.text.expressions import expr, notation

LANGUAGE = {*ops.TABLE, "map"}  # The operands of a map are keys and values in turn: no template.
# Where several tables share the operators, each row stands in one of them.
OPERATORS: dict[str, tuple[Collection[str], ...]] = {
    "generated": (generated.OPERATIONS, generated.TARGETED, generated.REFUSED),
    "SMT": (symbolic.OPERATORS,),
    "TLA+": (tla.TEMPLATES, tla.WRITERS),
}
ALL_UPDATES = [(kind, op) for kind, names in ops.UPDATES.items() for op in names]
TIMERS = [row for row in ALL_UPDATES if row[0] == "Timer"]
UPDATES: dict[str, tuple[Collection[tuple[str, str]], ...]] = {
    "reference": (containers.UPDATES, TIMERS),  # It stops and starts timers itself.
    "generated": (generated_updates.UPDATES,),
    "SMT": (statements.UPDATES, sequences.UPDATES),
    "TLA+": (places.PLAIN, places.REMOVALS, places.TIMERS),
}
N, M = ir.Local(NOWHERE, t.INT, "n"), ir.Local(NOWHERE, t.INT, "m")


@pytest.mark.parametrize("engine", OPERATORS)
def test_every_operator_has_one_row(engine: str) -> None:
    assert sorted(row for table in OPERATORS[engine] for row in table) == sorted(LANGUAGE)


@pytest.mark.parametrize("engine", UPDATES)
def test_every_update_has_one_row(engine: str) -> None:
    assert sorted(row for table in UPDATES[engine] for row in table) == sorted(ALL_UPDATES)


def arity(op: str) -> int:
    """How many operands the template has; two where it takes any number."""
    return max((i + 1 for i in range(3) if f"{{{i}}}" in ops.TABLE[op].template), default=2)


@pytest.mark.parametrize("op", ops.TABLE)
def test_the_reference_engine_and_the_text_read_the_template(op: str) -> None:
    names = [f"a{i}" for i in range(arity(op))]
    ops.meaning(op, len(names), {})  # It is Python.
    shown, evaluated = notation(op, len(names)).filled(names), ops.text(op, names)
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(evaluated))


def test_the_reference_engine_and_the_runtime_rank_the_same_operators() -> None:
    tables: tuple[Mapping[str, Any], ...] = (ordering.CHOSEN, ordering.OR_DEFAULT)
    chosen = {op for table in tables for op in table}
    assert {*compiled.KEYED} == {*chosen, "sorted"}
    assert {*compiled.COMPARED} == {*ordering.COMPARED} == ops.COMPARISONS - {"eq", "ne"}
    assert {*ordering.STEPS, "rank"} == ops.RANKS
    assert all(callable(getattr(kernel, op)) for op in ops.RANKS)
    assert {*compiled.KEYED, *compiled.COMPARED} <= {*ops.TABLE}


@pytest.mark.parametrize("op", ops.TABLE)
def test_a_label_negates_by_the_opposite(op: str) -> None:
    opposite = ops.OPPOSITES.get(op)
    test = ir.Op(NOWHERE, t.BOOL, op, (N, M, N)[: arity(op)])
    if op == "not":
        assert negated(test) is N
    elif opposite is None:
        assert negated(test) == ir.Op(NOWHERE, t.BOOL, "not", (test,))
    else:
        assert expr(negated(test)) == ops.text(opposite, ("n", "m"))
        assert negated(negated(test)) == test
        # One of the two is true, of numbers as of lists.
        for a, b in ((1, 2), (2, 1), (1, 1)):
            first, second = (a, [b]) if op in ("in", "not_in") else (a, b)
            values = [ops.meaning(each, 2, {})(first, second) for each in (op, opposite)]
            assert sorted(values) == [False, True]
