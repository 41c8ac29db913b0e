"""What instances begin with: parameters' defaults, initial values, and the way to make one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lawful.runtime.timers import ALL_AROUND, REAL, Around
from lawful.spec import ir
from lawful.spec.analysis.walk import everything
from lawful.spec.syntax.declare import slot

from .python_ast import all_of, assign, attribute, call, compare, if_, located, name, negated

if TYPE_CHECKING:
    from .compiler import Compiler

FRESH = "fresh"


def defaults(c: Compiler) -> str:
    """The parameters' defaults, as a dict; nothing else is known when they are evaluated.

    One that goes over all values of a type is made for each instance, by its universe.
    """
    body, place = c.emitter("self"), c.machine.place
    rows = [p for p in c.machine.parameters if p.default and not _goes_over_all(p.default)]
    keys: list[ast.expr | None] = [ast.Constant(p.name) for p in rows]
    values = [body.value(p.default, p.type) for p in rows if p.default is not None]
    made = located(ast.Return(ast.Dict(keys, values)), place)
    return c.add(c.names.reserve("defaults"), place, [], [made], "defaults")


def fresh(c: Compiler, given: frozenset[str] = frozenset()) -> str:
    """Puts the initial values into a new state, of all variables but the given ones."""
    made = [*_fixed(c), *_initial(c, given)]
    return c.add(c.names.reserve(FRESH), c.machine.place, [], made, FRESH)


def _fixed(c: Compiler) -> Iterator[ast.stmt]:
    """The parameters take their defaults."""
    body, known = c.emitter("self"), c.names.put("defaults_", c.plan.defaults)
    for p in c.machine.parameters:
        if p.default is not None:
            value: ast.expr = ast.Subscript(name(known), ast.Constant(p.name), ast.Load())
            if _goes_over_all(p.default):
                value = body.value(p.default, p.type)
            yield assign(attribute(name("self"), slot(p.name)), value)


def _initial(c: Compiler, given: frozenset[str]) -> Iterator[ast.stmt]:
    """The variables take their initial values."""
    body = c.emitter("self")
    for v in c.machine.variables:
        if v.initial is not None and not v.ghost and v.name not in given:
            mine = v.place.file == c.machine.place.file
            place = v.place if mine else c.machine.place
            made = assign(attribute(name("self"), slot(v.name)), body.value(v.initial, v.type))
            yield located(made, place)


def constructor(c: Compiler, otherwise: Callable[..., None]) -> str:
    """The `__init__` of a class whose instances need nothing but their initial values.

        def __init__(self, *, universe=None, clock=None, **parameters):
            if universe is None and clock is None and not parameters and type(self) is Job:
                self.__watch__ = None
                self.__around__ = ALL_AROUND
                self._done = 0
            else:
                otherwise(self, universe=universe, clock=clock, **parameters)

    What it would call instead was most of what an instance cost.
    """
    put, me, words = c.names.put, name("self"), ("universe", "clock")
    around: ast.expr = name(put("ALL_AROUND", ALL_AROUND))
    if c.plan.timed:
        around = call(put("Around", Around), name(put("REAL", REAL)))
    plain = all_of(
        [
            *(compare(name(word), ast.Is(), ast.Constant(None)) for word in words),
            negated(name("parameters")),
            compare(call(put("type", type), me), ast.Is(), name(put(c.machine.name, c.plan.cls))),
        ]
    )
    body = [
        assign(attribute(me, "__watch__"), ast.Constant(None)),
        assign(attribute(me, "__around__"), around),
        *_fixed(c),
        *_initial(c, frozenset()),
    ]
    rest = call(put("otherwise", otherwise), me)
    given = [ast.keyword(word, name(word)) for word in words]
    rest.keywords = [*given, ast.keyword(None, name("parameters"))]
    branch = if_(plain, *body)
    branch.orelse = [ast.Expr(rest)]
    key = c.add(c.names.reserve("begun"), c.machine.place, [], [branch], "__init__")
    args = c.made[-1].node.args
    args.kwonlyargs = [located(ast.arg(word), c.machine.place) for word in words]
    args.kw_defaults = [located(ast.Constant(None), c.machine.place) for _ in words]
    args.kwarg = located(ast.arg("parameters"), c.machine.place)
    return key


def _goes_over_all(default: ir.Expr) -> bool:
    """Whether a default is made of all values of a type."""
    return any(isinstance(each, ir.Domain) for each in everything((default,)))
