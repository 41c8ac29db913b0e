"""Code that begins instances: defaults, initial values, and `__init__` of plain classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.syntax.declare import slot
from lawful.spec.values.bounds import bounded

from ..kernel.dispatch import UNSET
from ..kernel.plan import Instance, Plan
from ..kernel.state import PART
from ..kernel.suspects import suspect
from ..timers import REAL, SHARED_ENVIRONMENT, Environment, can_tell_time
from .arguments import checked
from .generated_code import GeneratedCode
from .python_ast import (
    all_of,
    assign,
    attribute,
    call,
    compare,
    if_,
    located,
    name,
    outside,
)

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


def constructor(
    code: GeneratedCode,
    plan: Plan,
    otherwise: Callable[..., None],
    assume: Callable[[Instance], None],
) -> str:
    """The `__init__` of a class whose instances need only parameters and initial values.

        def __init__(self, *, universe=None, clock=None, most=UNSET):
            if universe is None and clock is None:  # or can_tell_time(clock), where timed
                self.__watch__ = None
                self.__environment__ = SHARED_ENVIRONMENT  # or Environment(...), where timed
                if most is UNSET:
                    most = default_most
                elif type(most) is not int:
                    most = check(most, ...)
                self._most = most
                self._done = 0
            else:
                otherwise(self, universe=universe, clock=clock, most=most)

    Most of the cost of an instance was in the general way, `otherwise`, which takes only what is
    given. A subclass has an `__init__` of its own. `assume` evaluates the assumptions.
    """
    put, me, words = code.names.put, name("self"), ("universe", "clock")
    place, unset = plan.machine.place, name(put("UNSET", UNSET))
    environment: ast.expr = name(put("SHARED_ENVIRONMENT", SHARED_ENVIRONMENT))
    no_universe, no_clock = (compare(name(w), ast.Is(), ast.Constant(None)) for w in words)
    plain_clock: ast.expr = no_clock
    if plan.timed:
        plain_clock = call(put("can_tell_time", can_tell_time), name("clock"))
        given = ast.IfExp(no_clock, name(put("REAL", REAL)), name("clock"))
        environment = call(put("Environment", Environment), given)
    params = plan.machine.parameters
    plain = all_of(
        [
            no_universe,
            plain_clock,
            *(compare(name(key), ast.IsNot(), unset) for key in plan.required),
        ]
    )
    body = [
        assign(attribute(me, "__watch__"), ast.Constant(None)),
        assign(attribute(me, "__environment__"), environment),
        *(made for p in params for made in _given(code, plan, p)),
        *_initial(code, plan, frozenset()),
    ]
    if plan.assumed:
        body.append(ast.Expr(call(put("assume", assume), me)))
    rest = call(put("begin_given", begin_given), name(put("otherwise", otherwise)), me)
    every = ast.Dict([ast.Constant(p.name) for p in params], [name(p.name) for p in params])
    rest.args += [name("universe"), name("clock"), every]
    branch = if_(plain, *body)
    branch.orelse = [ast.Expr(rest)]
    key = code.add(code.names.reserve("begun"), place, [], [branch], "__init__")
    args = code.functions[-1].node.args
    args.kwonlyargs = [located(ast.arg(word), place) for word in words]
    args.kwonlyargs += [located(ast.arg(p.name), place) for p in params]
    nothing: list[ast.expr | None] = [located(ast.Constant(None), place) for _ in words]
    args.kw_defaults = [*nothing, *(located(name(put("UNSET", UNSET)), place) for _ in params)]
    return key


def maker(code: GeneratedCode, plan: Plan) -> str:
    """The function that makes an instance as a part, in a step of its whole.

        def new_Lamp(whole, *, most=default_most):
            self = create(Lamp)
            self.__environment__ = whole.__environment__
            self.__watch__ = PART
            if most < 0:
                suspect(whole)
            self._most = most
            self._times = 0
            return self

    The whole judges bounds at the end of the step. Types are known, so nothing else is tested.
    """
    put, me, place = code.names.put, name("self"), plan.machine.place
    outer = code.names.local("whole")
    whole = name(outer)
    shared = attribute(whole, "__environment__")
    cls = name(put(plan.machine.name, plan.cls))
    noted = call(put("suspect", suspect), whole)
    params = plan.machine.parameters
    body: list[ast.stmt] = [
        assign(name("self"), call(put("create", plan.cls.__new__), cls)),
        assign(attribute(me, "__environment__"), shared),
        assign(attribute(me, "__watch__"), name(put("PART", PART))),
    ]
    for p in params:
        kind = p.type
        test = outside(partial(name, p.name), kind) if isinstance(kind, t.Int) else None
        body += [] if test is None else [if_(test, ast.Expr(noted))]
        body.append(assign(attribute(me, slot(p.name)), name(p.name)))
    body += _initial(code, plan, frozenset())
    key = code.add(
        code.names.reserve(f"new_{plan.machine.name}"),
        place,
        [],
        [*body, ast.Return(me)],
        f"new_{plan.machine.name}",
    )
    args = code.functions[-1].node.args
    args.args = [located(ast.arg(outer), place)]
    args.kwonlyargs = [located(ast.arg(p.name), place) for p in params]
    args.kw_defaults = [
        None
        if p.default is None
        else located(name(put(f"default_{p.name}", plan.defaults[p.name])), place)
        for p in params
    ]
    return key


def plainly_made(m: ir.Machine) -> bool:
    """Whether `maker` has code for all that parts of this machine begin with."""
    values = [v.initial for v in m.variables] + [p.default for p in m.parameters]
    kinds = [p.type for p in m.parameters]
    return not (
        m.of_kind("assume")  # Its error names the line that makes the part.
        or any(_goes_over_all(value) for value in values if value is not None)
        or any(bounded(kind) and not isinstance(kind, t.Int) for kind in kinds)
    )


def _given(code: GeneratedCode, plan: Plan, p: ir.Parameter) -> Iterator[ast.stmt]:
    """Assign a parameter, or its default."""
    check = code.names.number("check", plan.parameters[p.name])
    known = attribute(attribute(name("self"), "__environment__"), "universe")

    def fixed() -> ast.stmt:
        return assign(name(p.name), call(check, name(p.name), known))

    tests = checked(code.names, p.name, p.type, fixed)
    if p.default is not None:
        if _goes_over_all(p.default):
            default = code.emitter("self").value(p.default, p.type)
        else:
            default = name(code.names.put(f"default_{p.name}", plan.defaults[p.name]))
        unset = compare(name(p.name), ast.Is(), name(code.names.put("UNSET", UNSET)))
        branch = if_(unset, assign(name(p.name), default))
        branch.orelse = tests
        tests = [branch]
    yield from tests
    yield assign(attribute(name("self"), slot(p.name)), name(p.name))


def begin_given(
    otherwise: Callable[..., None], made: Instance, universe: Any, clock: Any, every: dict[str, Any]
) -> None:
    """Begin an instance the general way, with the parameters that the caller gave."""
    given = {key: value for key, value in every.items() if value is not UNSET}
    otherwise(made, universe=universe, clock=clock, **given)


def _goes_over_all(default: ir.Expr) -> bool:
    """Whether a default iterates all values of a type."""
    return any(isinstance(each, ir.Domain) for each in everything((default,)))
