"""The keys of a scope: by which of them a type is bounded, and each type inside it.

A variable `x` of a machine `M` is bounded by the key `M.x` or `x`; a field `f` of a record `R`
by `R.f` or `f`, wherever the record is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .. import types as t

Keys = tuple[str, ...]
Change = Callable[[t.Type, Keys], t.Type]


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
