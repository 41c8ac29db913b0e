"""What a test tells of the places in it: which are None, which is of which record class."""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec import types as t

from .context import is_path


def facts_if(test: ir.Expr, outcome: bool) -> dict[ir.Expr, t.Type]:
    """What a test with this outcome tells of places."""
    match test:
        case ir.Op(op="not", args=(of,)):
            return facts_if(of, not outcome)
        case ir.And(args=args) if outcome:
            return {k: v for arg in args for k, v in facts_if(arg, True).items()}
        case ir.Or(args=args) if not outcome:
            return {k: v for arg in args for k, v in facts_if(arg, False).items()}
        case ir.IsA(of=of, options=wanted):
            inner = of.of if isinstance(of, ir.Narrow) else of
            if not is_path(inner):
                return {}
            left = tuple(o for o in t.options(of.type) if (o in wanted) == outcome)
            return {inner: t.union(left)} if left else {}
        case _:
            return {}
