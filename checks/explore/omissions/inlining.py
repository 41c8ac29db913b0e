"""Helpers with a single expression, with or without local values: the expression of a call."""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.analysis.walk import replaced
from lawful.spec.lower.argument_plans import bound, free, put


def inlined(whole: ir.Machine, call: ir.Call) -> ir.Expr | None:
    """The expression of a call of a machine's or a part's helper; None for other calls."""
    if call.of is None or not isinstance(call.of.type, t.Part):
        return None
    name = call.of.type.machine
    owner = whole if name == whole.name else whole.part(name)
    found = next((f for f in owner.functions if f.name == call.function), None)
    if found is None:
        return None
    given = bind(found.params, call.args)
    value = _value(found)
    if value is None or bound(value) & {*given, *free(call.of, *call.args)}:
        return None

    def change(node: ir.Node) -> ir.Node | None:
        if isinstance(node, ir.Self):
            return call.of
        return given.get(node.name) if isinstance(node, ir.Local) else None

    made = replaced(value, change)
    return made if isinstance(made, ir.Expr) else None


def _value(function: ir.Function) -> ir.Expr | None:
    """What a helper gives, by its parameters: locals that are assigned once have their values."""
    known: dict[str, ir.Expr] = {}
    names = bound(function)
    for stmt in function.body:
        match stmt:
            case ir.Assign(target=ir.Local(name=name), value=value) if not isinstance(
                value, ir.Needed
            ):
                if name in names or name in known:
                    return None
                known[name] = put(value, known)
            case ir.Return(value=ir.Expr() as value):
                return put(value, known)
            case _:
                return None
    return None
