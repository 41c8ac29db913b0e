"""Properties in all engines: of a state, of a step, as pairs, and what a machine refines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lawful.checks.conform.instances import InstanceDriver
from lawful.checks.reference.missing_values import NoValue
from lawful.checks.reference.states import freeze
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.resolve import resolve
from lawful.spec.values.bounds import breach

if TYPE_CHECKING:
    from tests.agree.engines import Engines

# What the language has and Python refuses, and how the table of a run names it.
BEYOND_PYTHON = {
    "unhashable": "a dict as a key",
    "no super": "super() in a generator",
    "index too large": "an index beyond a machine word",
}
NO_STATE = "no state of the abstract machine"
FAULTS = (LookupError, ArithmeticError, ValueError, TypeError, AttributeError)


def properties(e: Engines, state: Any) -> None:
    """Their values in a state, by the reference, Python and the runtime."""
    entry = e.running.instance(state)
    for p in e.machine.properties:
        args = _args(e, p)
        what = f"{p.name}{args} in {e.shown(state)}"
        mine = _defined(e, p, state, args)
        theirs = e.twin.holds(p.name, state, *args)
        if p.kind == "refines":
            theirs = _seen(e, p, theirs)
        if mine in ("undefined", NO_STATE) and theirs != mine and e.strict:
            e.hits.add("kept aside", "every element is asked")
        elif isinstance(theirs, str) and theirs in BEYOND_PYTHON:
            e.hits.add("kept aside", BEYOND_PYTHON[theirs])
        else:
            e.judge(what, mine, theirs, "Python")
        e.hits.add("property", p.kind)
        if not e.ghosts:
            e.judge(what, mine, _asked(e, p, entry, args), "runtime")


def _args(e: Engines, p: ir.Property) -> tuple[Any, ...]:
    """Arguments in their bounds; of a step property the state after comes first."""
    if p.kind != "step_property":
        return e.args(p.function.params)
    return e.state(), *e.args(p.function.params[1:])


def _defined(e: Engines, p: ir.Property, state: Any, args: tuple[Any, ...]) -> Any:
    """The value by the reference, which defines it."""
    named = dict(zip((n for n, _ in p.function.params), args, strict=True))
    try:
        value = e.reference.call_named(p.function, state, named)
    except NoValue:
        return NO_STATE if p.kind == "refines" else "undefined"
    if p.kind != "refines":
        return value
    view, kinds = freeze(value), [v.type for v in _abstract(e, p).variables]
    pairs = zip(view, kinds, strict=True)
    return view if all(breach(v, kind) is None for v, kind in pairs) else NO_STATE


def _abstract(e: Engines, p: ir.Property) -> ir.Machine:
    """The machine that is refined."""
    output = p.function.output
    assert isinstance(output, t.Part)
    return next(m for m in e.machine.abstracts if m.name == output.machine)


def _seen(e: Engines, p: ir.Property, instance: Any) -> Any:
    """The state of an instance of the abstract machine, where there is one."""
    if isinstance(instance, str):
        return NO_STATE if instance == "undefined" else instance
    cls: Any = e.resolved.parts[_abstract(e, p).name]
    seeing = InstanceDriver(cls, resolve(cls), _abstract(e, p), {})
    return seeing.state(instance)


def _asked(e: Engines, p: ir.Property, entry: Any, args: tuple[Any, ...]) -> Any:
    """The value at run time."""
    if p.kind == "step_property":
        args = (e.running.instance(args[0]), *args[1:])
    try:
        found = entry.__plan__.functions[p.name](entry, *args)
    except FAULTS:
        return NO_STATE if p.kind == "refines" else "undefined"
    return _seen(e, p, found) if p.kind == "refines" else found
