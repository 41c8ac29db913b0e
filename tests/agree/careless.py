"""A careless caller: it changes what it gave, and tries to change what it got."""

from __future__ import annotations

import contextlib
from typing import Any

from lawful.spec import types as t


def loosened(value: Any, kind: t.Type) -> Any:
    """An argument as a careless caller gives it: in containers that can be changed later."""
    match kind:
        case t.Seq(item=item):
            return tuple(loosened(v, item) for v in value)
        case t.Map(value=of):
            return {k: loosened(v, of) for k, v in value.items()}
        case t.Tuple(items=items):
            return tuple(loosened(v, of) for v, of in zip(value, items, strict=True))
        case t.Union(options=options) if value is not None:
            rest = [o for o in options if not isinstance(o, t.Record | t.Nothing)]
            return loosened(value, rest[0]) if rest else value
        case _:
            return value


def spoil(value: Any) -> None:
    """What that caller does with them afterwards."""
    if value.__class__ is dict:
        for each in value.values():
            spoil(each)
        value.clear()
    elif value.__class__ is tuple:
        for each in value:
            spoil(each)


def forced(view: Any) -> None:
    """What a rude caller tries with what was read: it is refused, or changes a copy."""
    for change in ("clear", "popitem", "reverse"):
        method = getattr(view, change, None)
        if method is not None:
            with contextlib.suppress(TypeError, AttributeError, KeyError):
                method()
