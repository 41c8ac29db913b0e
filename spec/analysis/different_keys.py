"""Pairs of keys that a test has shown to differ, such as `a` and `b` after `needed(a != b)`.

Two places that differ only in the keys `a` and `b` are then two places. A key is a local or a
constant: only an assignment to the local can change it.
"""

from __future__ import annotations

from .. import ir

Pairs = frozenset[frozenset[str]]
NONE: Pairs = frozenset()
CONSTANT = "="  # Begins the name of a constant; no local's name begins so.


def different_if(test: ir.Expr, outcome: bool) -> Pairs:
    """The pairs that differ where a test has this outcome."""
    match test:
        case ir.Op(op="not", args=(of,)):
            return different_if(of, not outcome)
        case ir.And(args=args) if outcome:
            return NONE.union(*(different_if(arg, True) for arg in args))
        case ir.Or(args=args) if not outcome:
            return NONE.union(*(different_if(arg, False) for arg in args))
        case ir.Op(op="ne" | "eq" as op, args=(one, other)) if outcome == (op == "ne"):
            return _pair(one, other)
        case ir.Op(op="lt" | "gt", args=(one, other)) if outcome:
            return _pair(one, other)
        case _:
            return NONE


def known_different(one: ir.Expr, other: ir.Expr, pairs: Pairs) -> bool:
    """Whether these are the keys of one of the pairs."""
    return _pair(one, other) <= pairs if _named(one) and _named(other) else False


def without(pairs: Pairs, names: frozenset[str]) -> Pairs:
    """The pairs that do not name one of these locals."""
    return frozenset(pair for pair in pairs if not pair & names)


def _pair(one: ir.Expr, other: ir.Expr) -> Pairs:
    names = _named(one), _named(other)
    return frozenset({frozenset({names[0], names[1]})}) if all(names) else NONE


def _named(key: ir.Expr) -> str:
    """The name of a key; empty for other expressions."""
    match key:
        case ir.Local(name=name):
            return name
        case ir.Const(value=value):
            return f"{CONSTANT}{value!r}"
        case _:
            return ""
