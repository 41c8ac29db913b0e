"""A resolved machine as bodies see it that have it as a part: its fields and methods."""

from __future__ import annotations

from dataclasses import replace

from .. import ir
from ..analysis.effects import acts
from ..syntax.declare import Declaration
from ..syntax.hints import defaults_of, keyword_only
from ..syntax.members import gather
from .context import Interface, Signature


def interface_of(machine: ir.Machine, cls: type[Declaration] | None) -> Interface:
    """The tables of a machine; its class `cls` has the defaults of parameters."""
    fields = {v.name: v.type for v in machine.variables}
    fields.update({p.name: p.type for p in machine.parameters})
    return Interface(
        machine.name,
        fields,
        frozenset(p.name for p in machine.parameters),
        frozenset(v.name for v in machine.variables if v.ghost),
        _methods(machine, cls),
    )


def _methods(machine: ir.Machine, cls: type[Declaration] | None) -> dict[str, Signature]:
    methods: dict[str, Signature] = {}
    for f in machine.functions:
        methods[f.name] = Signature("helper", f.params, f.output, acts(f))
    for p in machine.properties:
        methods[p.name] = Signature("property", p.function.params, p.function.output)
    for f in machine.initials:
        methods[f.name] = Signature("initial", f.params, f.output)
    for event in machine.events:
        methods[event.name] = Signature("event", event.params, event.output)
    for tr in machine.transitions:
        methods[tr.name] = Signature("transition", tr.function.params, tr.function.output)
    for name, member in ({} if cls is None else gather(cls).methods).items():
        if name in methods:
            given, by_name = defaults_of(member.function), keyword_only(member.function)
            methods[name] = replace(
                methods[name], defaults=given, by_name=by_name, getter=member.getter
            )
    return methods
