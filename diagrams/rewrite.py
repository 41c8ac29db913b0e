"""The IR with some of its expressions replaced: labels say `x` where the machine says `self.x`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import cast

from lawful.spec import ir

Change = Callable[[ir.Expr], ir.Expr | None]


def rewrite(e: ir.Expr, change: Change) -> ir.Expr:
    """The expression with `change` applied from the top; what it gives None for stays itself,
    and the search goes on below.
    """
    changed = change(e)
    if changed is not None:
        return changed
    below = {field.name: getattr(e, field.name) for field in dataclasses.fields(e)}
    after = {name: _below(value, change) for name, value in below.items()}
    return dataclasses.replace(e, **after)


def _below(value: object, change: Change) -> object:
    if isinstance(value, ir.Expr):
        return rewrite(value, change)
    if isinstance(value, ir.Clause):
        over, tests = rewrite(value.over, change), _below(value.conditions, change)
        return dataclasses.replace(value, over=over, conditions=tests)
    if isinstance(value, tuple):
        return tuple(_below(item, change) for item in cast(tuple[object, ...], value))
    return value
