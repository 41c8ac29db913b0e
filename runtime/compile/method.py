"""The method that users call for an event, as generated code.

def ack(self, message):
    if self.__watch__ is not None: ...       observers; parts, which take no calls
    if <message is no Ack>: ...              types and bounds of the arguments
    old_highest_acked = self._highest_acked  references to what the step may write
    try:
        <source, timer, body, target, bounds>
    except BaseException as error:
        self._highest_acked = old_highest_acked
        return failed(error, self, ...)
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import assigned
from lawful.spec.errors import Place
from lawful.spec.syntax.declare import slot
from lawful.spec.values.bounds import bounded

from ..kernel import commit, dispatch
from ..kernel.plan import Way
from ..kernel.state import SUSPECT
from .arguments import suspicious
from .expressions import GlobalNames
from .header import Header
from .in_place import InPlaceWrite, in_place_writes
from .python_ast import all_of, any_of, assign, attribute, call, compare, if_, name, outside
from .statements import Body

MOST_RETURNS = 2  # The code after the body is repeated at each return, so often at most.
Inline = tuple[ir.Transition, tuple[ir.Stmt, ...]]


class Method:
    """Emits one method; `kinds` are the types of the machine's fields."""

    def __init__(
        self, names: GlobalNames, functions: dict[str, str], kinds: dict[str, t.Type], way: Way
    ) -> None:
        self.names = names
        self.functions = functions
        self.kinds = kinds
        self.way = way
        self.error = names.local("error")
        self.way_name = names.number("way", way)

    def use(self, thing: Callable[..., Any]) -> str:
        return self.names.put(thing.__name__, thing)

    def held(self, variable: str) -> ast.Attribute:
        return attribute(name("self"), slot(variable))

    def given(self) -> ast.expr:
        return ast.Tuple([name(n) for n, _ in self.way.params], ast.Load())

    def body(self, inline: Inline | None, watched: bool) -> list[ast.stmt]:
        """The method's statements; without `inline` it leaves the step to `commit.choose`."""
        out: list[ast.stmt] = [] if watched else [self.watch()]
        out += self.arguments()
        if inline is None:
            args = [name("self"), name(self.way_name), self.given()]
            return [*out, ast.Return(call(self.use(commit.choose), *args))]
        saved = [(self.names.local(f"old_{v}"), v) for v in self.way.writes]
        out += [assign(name(old), self.held(v)) for old, v in saved]
        undo: list[ast.stmt] = [assign(self.held(v), name(old)) for old, v in saved]
        places = in_place_writes(inline[1], self.kinds)
        in_place = {
            at: InPlaceWrite(self.names, v, self.kinds[v], self.error, pops)
            for at, (v, pops) in places.items()
        }
        out += [each.begin() for each in in_place.values()]
        undo += [each.undo() for each in in_place.values()]
        args = [name(self.error), name("self"), name(self.way_name), self.given()]
        undo.append(ast.Return(call(self.use(commit.failed), *args)))
        caught = ast.ExceptHandler(name("BaseException"), self.error, undo)
        return [*out, ast.Try(self.step(*inline, in_place), [caught], [], [])]

    def watch(self) -> ast.stmt:
        """Pass the call to the instance's watch, if it has one."""
        watch = attribute(name("self"), "__watch__")
        seen = call(
            attribute(watch, "call"), name("self"), ast.Constant(self.way.name), self.given()
        )
        return if_(compare(watch, ast.IsNot(), ast.Constant(None)), ast.Return(seen))

    def arguments(self) -> Iterator[ast.stmt]:
        for (param, kind), check in zip(self.way.params, self.way.checks, strict=True):
            known = attribute(attribute(name("self"), "__environment__"), "universe")
            checked = call(self.names.number("check", check), name(param), known)
            fixed = assign(name(param), checked)
            test = suspicious(self.names, functools.partial(name, param), kind)
            yield fixed if test is None else if_(test, fixed)

    def step(
        self, tr: ir.Transition, body: tuple[ir.Stmt, ...], in_place: dict[int, InPlaceWrite]
    ) -> list[ast.stmt]:
        """Guards, body, target and bounds."""
        sure = {n for n, _ in self.way.params} - assigned(body)
        emitter = Body(self.names, self.functions, "self", self.plain, sure)
        emitter.in_place = in_place
        header = Header(emitter, tr)

        def finish(value: ast.expr | None, place: Place) -> list[ast.stmt]:
            out: list[ast.stmt] = []
            value = header.ending(value, out)
            judged = list(self.judged())
            if value is not None and (judged or bounded(self.way.output)):
                value = emitter.held(value, out)
            return [*out, *judged, *self.output(value), ast.Return(value)]

        emitter.finish = finish
        return [*header.guards(), *emitter.whole(body, tr.place)]

    def plain(self, value: ast.expr | None, place: Place) -> list[ast.stmt]:
        return [ast.Return(value)]

    def judged(self) -> Iterator[ast.stmt]:
        """The tests of the bounds of the variables that the step may write."""
        kinds = {v: self.kinds[v] for v in self.way.writes if bounded(self.kinds[v])}
        for variable, kind in kinds.items():
            test = self.breached(variable, kind)
            if test is not None:
                judge = call(
                    self.use(commit.judge_variable),
                    name("self"),
                    ast.Constant(variable),
                    name(self.names.put("UNSET", dispatch.UNSET)),
                )
                yield if_(test, ast.Expr(judge))
        if any(isinstance(kind, t.Map | t.Set | t.Seq | t.Bag) for kind in kinds.values()):
            judge = call(self.use(commit.judge_suspect), name("self"), name(self.way_name))
            yield if_(name(self.names.put("SUSPECT", SUSPECT)), ast.Expr(judge))

    def breached(self, variable: str, kind: t.Type) -> ast.expr | None:
        """The test that a variable may be out of its bounds."""
        match kind:
            case t.Int():
                return outside(lambda: self.held(variable), kind)
            case t.Seq(most=int() as most) if not commit.limited(kind):
                length = call(self.use(len), self.held(variable))
                return compare(length, ast.Gt(), ast.Constant(most))
            case t.Bag(most=int()):
                old = name(self.names.local(f"old_{variable}"))
                return compare(self.held(variable), ast.IsNot(), old)
            case t.Map() | t.Set() | t.Seq() | t.Bag() if not commit.limited(kind):
                return None
            case _:
                old = name(self.names.local(f"old_{variable}"))
                new = compare(self.held(variable), ast.IsNot(), old)
                found = _fields_outside(functools.partial(self.held, variable), kind)
                return new if found is None else all_of([new, any_of(found)])

    def output(self, value: ast.expr | None) -> Iterator[ast.stmt]:
        """The test of the bounds of the output."""
        if value is None or not bounded(self.way.output):
            return
        kind = name(self.names.number("type", self.way.output))
        judge = ast.Expr(call(self.use(commit.judge_output), value, kind))
        test = None
        if isinstance(self.way.output, t.Int) and isinstance(value, ast.Name):
            test = outside(lambda: name(value.id), self.way.output)
        yield judge if test is None else if_(test, judge)


def _fields_outside(value: Callable[[], ast.expr], kind: t.Type) -> list[ast.expr] | None:
    """The tests that a record's integers are out of bounds; None where other fields have bounds."""
    if not isinstance(kind, t.Record):
        return None
    tests: list[ast.expr] = []
    for field, of in kind.fields:
        inner = functools.partial(_field, value, field)
        if isinstance(of, t.Int):
            found = outside(inner, of)
            tests += [] if found is None else [found]
        elif bounded(of):
            more = _fields_outside(inner, of)
            if more is None:
                return None
            tests += more
    return tests


def _field(value: Callable[[], ast.expr], field: str) -> ast.expr:
    return attribute(value(), field)
