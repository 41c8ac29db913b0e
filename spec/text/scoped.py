"""A `Flat` as text: the bounds of everything, and where each argument comes from."""

from __future__ import annotations

from collections.abc import Iterator

from .. import types as t
from ..codec.as_json import canonical
from ..flat import Flat, Plan, Rule
from .expressions import Level, expr, operand
from .wrap import wrapped


def flat(f: Flat) -> str:
    """The machine within its scope, as text."""
    return "\n".join(line for given in _lines(f) for line in wrapped(given))


def _lines(f: Flat) -> Iterator[str]:
    scope = ", ".join(f"{name}={bound}" for name, bound in f.scope)
    yield f"{f.machine.name} within {scope or 'its own bounds'}"
    named = {sort: texts[size:] for sort, texts in f.elements for size in [dict(f.sizes)[sort]]}
    for name, size in f.sizes:
        beside = "".join(f", and {text}" for text in named.get(name, ()))
        yield f"    {name}: {size} element{'' if size == 1 else 's'}{beside}"
    for owner, name, kind in f.fields:
        of = "" if owner == f.machine.name else f"{owner}."
        yield f"    {of}{name}: {bounded(kind)}"
    for name, values in f.parameters:
        tried = ", ".join(canonical(value) for value in values) or "its default"
        yield f"    parameter {name}: {tried}"
    for title, rules in (("initial", f.initials), ("transition", f.rules)):
        for rule in rules:
            yield f"    {title} {rule.name}({_plans(rule)})"
    kinds = {
        f"{m.name}.{p.name}": p.kind for m in (f.machine, *f.machine.parts) for p in m.properties
    }
    for rule in f.properties:
        name = rule.name.removeprefix(f"{f.machine.name}.")
        yield f"    {kinds[rule.name]} {name}({_plans(rule)})"
    for abstract in f.abstracts:
        yield from _lines(abstract)


def _plans(rule: Rule) -> str:
    return ", ".join(_plan(plan) for plan in rule.plans)


def _plan(plan: Plan) -> str:
    over = "" if plan.over is None else f" in {expr(plan.over)}"
    if plan.guards:
        over += f" if {' and '.join(operand(guard, Level.AND) for guard in plan.guards)}"
    return f"{plan.name}: {bounded(plan.type)}{over}"


def bounded(kind: t.Type) -> str:
    """A type with every bound that it has: `Data(seqno=Nat[0..3], ...)`, `list[Nat[0..3]] <= 2`."""
    match kind:
        case t.Record(name=name, fields=fields):
            inside = ", ".join(f"{field}={bounded(k)}" for field, k in fields)
            return f"{name}({inside})"
        case t.Union(options=options):
            return " | ".join(bounded(option) for option in options)
        case t.Tuple(items=items):
            return f"tuple[{', '.join(bounded(item) for item in items)}]"
        case t.Seq(item=item, mutable=mutable, most=most):
            return f"{'list' if mutable else 'tuple'}[{bounded(item)}]{_at_most(most)}"
        case t.Bag(item=item, most=most):
            return f"Counter[{bounded(item)}]{_at_most(most)}"
        case t.Set(item=item, mutable=mutable):
            return f"{'set' if mutable else 'frozenset'}[{bounded(item)}]"
        case t.Map(key=key, value=value, total=total):
            return f"{'total ' if total else ''}dict[{bounded(key)}, {bounded(value)}]"
        case _:
            return str(kind)


def _at_most(most: int | None) -> str:
    return "" if most is None else f" of at most {most}"
