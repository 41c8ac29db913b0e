"""Calls of parts' events in a method: what a part was is kept before the call, to undo it.

    part0 = self._lamp
    saved0 = (part0._on, part0._times)
    flip_core(part0, by)

A method contains such calls where it is known which parts they are of: not in a loop, and the parts
have no parts of their own that change.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import Reach
from lawful.spec.analysis.places import root, variable_of
from lawful.spec.analysis.walk import statements, written
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.syntax.declare import slot
from lawful.spec.values.bounds import bounded

from ..kernel import commit, dispatch
from ..kernel.plan import Plan, Way
from .global_names import GlobalNames
from .in_place import outside_loops
from .python_ast import all_of, any_of, assign, attribute, call, compare, if_, name, outside
from .ranges import kept_within


@dataclass(frozen=True, slots=True)
class PartCall:
    """What a statement calls: the part's plan, and the way into it; `start`: an `@initial`, of a
    part that the step has made and whose variables have no values yet."""

    plan: Plan
    way: Way
    start: bool


def part_calls(
    tr: ir.Transition, body: tuple[ir.Stmt, ...], reach: Reach, parts: Mapping[str, Any]
) -> dict[int, PartCall] | None:
    """The calls of parts by the `id` of their statements; None where a method cannot contain
    them."""
    header = dataclasses.replace(tr, function=dataclasses.replace(tr.function, body=()))
    if reach.of_transition(header).parts:
        return None
    found: dict[int, PartCall] = {}
    for stmt in statements(body):
        match stmt:
            case ir.Step(part=part, name=key):
                made = _called(part, key, parts)
                if made is None:
                    return None
                found[id(stmt)] = made
            case ir.Branch() | ir.Loop():
                pass
            case ir.Do() | ir.Base() if reach.of_body((stmt,)).parts:
                return None
            case _ if any(map(_is_in_a_part, written(stmt))):
                return None
            case _:
                pass
    outside_of_loops = {id(each) for stmt in body for each in outside_loops(stmt)}
    return found if found.keys() <= outside_of_loops else None


def _is_in_a_part(place: ir.Expr) -> bool:
    """Whether a statement that writes this place changes a part, not by a call of it."""
    return variable_of(place) is None and not isinstance(root(place), ir.Local)


def _called(part: ir.Expr, key: str, parts: Mapping[str, Any]) -> PartCall | None:
    match part:
        case ir.Field(of=ir.Self(), type=t.Part(machine=machine)):
            pass
        case ir.Item(of=ir.Field(of=ir.Self()), type=t.Part(machine=machine)):
            pass
        case _:
            return None
    plan: Plan = parts[machine].lawful.plan
    way = plan.ways.get(key) or plan.starts[key]
    return None if way.composite else PartCall(plan, way, key in plan.starts)


class PartStep:
    """Emits the code around one call of a part; `number` tells the locals of the calls apart."""

    def __init__(self, names: GlobalNames, of: PartCall, number: int) -> None:
        self.names = names
        self.of = of
        self.part = names.local(f"part{number}")
        self.saved = names.local(f"saved{number}")

    def field(self, variable: str) -> ast.Attribute:
        return attribute(name(self.part), slot(variable))

    def begin(self) -> ast.stmt:
        """Mark the part as unchanged."""
        return assign(name(self.saved), ast.Constant(None))

    def before(self, part: ast.expr) -> list[ast.stmt]:
        """Keep what the call may change."""
        written = () if self.of.start else self.of.way.writes
        values: list[ast.expr] = [self.field(v) for v in written]
        kept = ast.Tuple(values, ast.Load())
        return [assign(name(self.part), part), assign(name(self.saved), kept)]

    def called(self, args: list[ast.expr]) -> ast.expr:
        """The call, in a step of the whole."""
        way = self.of.way
        if len(way.candidates) == 1 and not way.ignores:
            run = way.candidates[0].run
            return call(self.names.put(f"{way.name}_core", run), name(self.part), *args)
        step = self.names.put("step", dispatch.step)
        return call(step, name(self.part), ast.Constant(way.name), *args)

    def undo(self) -> list[ast.stmt]:
        """Put back what the call may have changed, without any call."""
        if not self.of.way.writes or self.of.start:
            return []
        fields: list[ast.expr] = [self.field(v) for v in self.of.way.writes]
        for each in fields:
            assert isinstance(each, ast.Attribute)
            each.ctx = ast.Store()
        back = ast.Assign([ast.Tuple(fields, ast.Store())], name(self.saved))
        return [if_(compare(name(self.saved), ast.IsNot(), ast.Constant(None)), back)]

    def breached(self) -> ast.expr | None:
        """The test that a variable of the part is out of its bounds; None where none can be. For a
        part that has begun it is exact, so that nobody judges parts that the step left alone."""
        tests: list[ast.expr] = []
        judged: list[tuple[ast.expr, ast.expr]] = []  # Variables, and what they were.
        for i, variable in enumerate(self.of.way.writes):
            kind = self.of.plan.fields[variable]
            if not bounded(kind) or variable in self._kept():
                continue
            held = functools.partial(self.field, variable)
            test = outside(held, kind) if isinstance(kind, t.Int) else None
            was = ast.Subscript(name(self.saved), ast.Constant(i), ast.Load())
            changed = compare(self.field(variable), ast.IsNot(), was)
            tests.append(test or (ast.Constant(True) if self.of.start else changed))
            judged.append((ast.Constant(variable), was))
        if not tests:
            return None
        ran = compare(name(self.saved), ast.IsNot(), ast.Constant(None))
        if self.of.start:
            return all_of([ran, any_of(tests)])
        names, before = (ast.Tuple([*each], ast.Load()) for each in zip(*judged, strict=True))
        judge = name(self.names.put("part_breached", commit.part_breached))
        return all_of([ran, any_of(tests), call(judge, name(self.part), names, before)])

    def _kept(self) -> frozenset[str]:
        """The variables that the transition keeps within their bounds, whatever it is given."""
        m, way = self.of.plan.machine, self.of.way
        names = [c.name for c in way.candidates]
        mine = [tr for tr in m.transitions if tr.name in names]
        if len(mine) != 1:
            return frozenset()
        return kept_within((), way.output, mine[0].function.body, self.of.plan.fields).variables
