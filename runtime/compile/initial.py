"""Code that begins instances: defaults, initial values, and `__init__` of plain classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from lawful.spec import ir
from lawful.spec.analysis.walk import everything
from lawful.spec.syntax.declare import slot

from ..kernel.plan import Plan
from ..timers import REAL, SHARED_ENVIRONMENT, Environment
from .generated_code import GeneratedCode
from .python_ast import all_of, assign, attribute, call, compare, if_, located, name, negated

FRESH = "fresh"


def defaults(code: GeneratedCode, plan: Plan) -> str:
    """Add the function of the parameters' defaults, as a dict; it is called once for the class.

    A default that iterates all values of a type depends on the universe; `fresh` computes it.
    """
    body, place = code.emitter("self"), plan.machine.place
    rows = [p for p in plan.machine.parameters if p.default and not _goes_over_all(p.default)]
    keys: list[ast.expr | None] = [ast.Constant(p.name) for p in rows]
    values = [body.value(p.default, p.type) for p in rows if p.default is not None]
    made = located(ast.Return(ast.Dict(keys, values)), place)
    return code.add(code.names.reserve("defaults"), place, [], [made], "defaults")


def fresh(code: GeneratedCode, plan: Plan, given: frozenset[str] = frozenset()) -> str:
    """Add the function that sets defaults, and initial values but of the given variables."""
    made = [*_fixed(code, plan), *_initial(code, plan, given)]
    return code.add(code.names.reserve(FRESH), plan.machine.place, [], made, FRESH)


def _fixed(code: GeneratedCode, plan: Plan) -> Iterator[ast.stmt]:
    """Assign the defaults of parameters."""
    body, known = code.emitter("self"), code.names.put("defaults_", plan.defaults)
    for p in plan.machine.parameters:
        if p.default is not None:
            value: ast.expr = ast.Subscript(name(known), ast.Constant(p.name), ast.Load())
            if _goes_over_all(p.default):
                value = body.value(p.default, p.type)
            yield assign(attribute(name("self"), slot(p.name)), value)


def _initial(code: GeneratedCode, plan: Plan, given: frozenset[str]) -> Iterator[ast.stmt]:
    """Assign the initial values of variables."""
    body = code.emitter("self")
    for v in plan.machine.variables:
        if v.initial is not None and not v.ghost and v.name not in given:
            mine = v.place.file == plan.machine.place.file
            place = v.place if mine else plan.machine.place
            made = assign(attribute(name("self"), slot(v.name)), body.value(v.initial, v.type))
            yield located(made, place)


def constructor(code: GeneratedCode, plan: Plan, otherwise: Callable[..., None]) -> str:
    """The `__init__` of a class whose instances need nothing but their initial values.

        def __init__(self, *, universe=None, clock=None, **parameters):
            if universe is None and clock is None and not parameters and type(self) is Job:
                self.__watch__ = None
                self.__environment__ = SHARED_ENVIRONMENT
                self._done = 0
            else:
                otherwise(self, universe=universe, clock=clock, **parameters)

    Most of the cost of an instance was in the general way, `otherwise`.
    """
    put, me, words = code.names.put, name("self"), ("universe", "clock")
    environment: ast.expr = name(put("SHARED_ENVIRONMENT", SHARED_ENVIRONMENT))
    if plan.timed:
        environment = call(put("Environment", Environment), name(put("REAL", REAL)))
    plain = all_of(
        [
            *(compare(name(word), ast.Is(), ast.Constant(None)) for word in words),
            negated(name("parameters")),
            compare(call(put("type", type), me), ast.Is(), name(put(plan.machine.name, plan.cls))),
        ]
    )
    body = [
        assign(attribute(me, "__watch__"), ast.Constant(None)),
        assign(attribute(me, "__environment__"), environment),
        *_fixed(code, plan),
        *_initial(code, plan, frozenset()),
    ]
    rest = call(put("otherwise", otherwise), me)
    given = [ast.keyword(word, name(word)) for word in words]
    rest.keywords = [*given, ast.keyword(None, name("parameters"))]
    branch = if_(plain, *body)
    branch.orelse = [ast.Expr(rest)]
    key = code.add(code.names.reserve("begun"), plan.machine.place, [], [branch], "__init__")
    args = code.functions[-1].node.args
    args.kwonlyargs = [located(ast.arg(word), plan.machine.place) for word in words]
    args.kw_defaults = [located(ast.Constant(None), plan.machine.place) for _ in words]
    args.kwarg = located(ast.arg("parameters"), plan.machine.place)
    return key


def _goes_over_all(default: ir.Expr) -> bool:
    """Whether a default iterates all values of a type."""
    return any(isinstance(each, ir.Domain) for each in everything((default,)))
