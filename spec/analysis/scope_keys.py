"""The keys of a scope: by which of them a type is bounded, and each type inside it.

A variable `x` of a machine `M` is bounded by the key `M.x` or `x`; a field `f` of a record `R`
by `R.f` or `f`, wherever the record is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .. import ir
from .. import types as t
from ..errors import Place

Keys = tuple[str, ...]
Change = Callable[[t.Type, Keys], t.Type]
SERIAL = "Serial"
FEW_BITS = 4  # So few are explored as they are declared where the scope says nothing.


def item_keys(keys: Keys) -> Keys:
    """A length under the key of a list or bag is no bound for its items."""
    return tuple(f"{key}.item" for key in keys)


def with_keys(kind: t.Type, keys: Keys, change: Change) -> t.Type:
    """The type with itself, and then each type inside it, replaced by what `change` makes of it
    and of the keys that may bound it, the first key first."""
    kind = change(kind, keys)
    match kind:
        case t.Record(name=record, fields=fields):
            inner = ((f, with_keys(of, (f"{record}.{f}", f), change)) for f, of in fields)
            return replace(kind, fields=tuple(inner))
        case t.Union(options=options):
            return replace(kind, options=tuple(with_keys(o, keys, change) for o in options))
        case t.Tuple(items=items):
            return replace(kind, items=tuple(with_keys(i, keys, change) for i in items))
        case t.Seq(item=item) | t.Bag(item=item):
            return replace(kind, item=with_keys(item, item_keys(keys), change))
        case t.Set(item=item):
            return replace(kind, item=with_keys(item, keys, change))
        case t.Map(key=key, value=value):
            inside = with_keys(key, keys, change), with_keys(value, keys, change)
            return replace(kind, key=inside[0], value=inside[1])
        case _:
            return kind


def inside(kind: t.Type, keys: Keys) -> list[tuple[t.Type, Keys]]:
    """The type itself and each type inside it, with the keys that may bound it."""
    found: list[tuple[t.Type, Keys]] = []

    def note(each: t.Type, keys: Keys) -> t.Type:
        found.append((each, keys))
        return each

    with_keys(kind, keys, note)
    return found


def places(m: ir.Machine) -> Iterator[tuple[tuple[str, ...], t.Type, Place]]:
    """What keys of a scope may name: names, type and place of variables and arguments."""
    for owner in (m, *m.parts):
        for v in owner.variables:
            yield (f"{owner.name}.{v.name}", v.name), v.type, v.place
        # A parameter's own name gives the values to try.
        yield from (((), p.type, p.place) for p in owner.parameters)
        for p in owner.properties:
            for name, kind in p.function.params[1 if p.kind == "step_property" else 0 :]:
                yield (f"{owner.name}.{p.name}.{name}", name), kind, p.place
    functions = [(f.name, f) for f in m.initials]
    for row in m.transitions:
        functions.append((row.event if m.is_of_ignores(row) else row.function.name, row.function))
    for owner_name, f in functions:
        yield from (((f"{owner_name}.{name}", name), kind, f.place) for name, kind in f.params)
