"""Iterables as sets or as sequences of TLA+.

A map or bag is iterated by its keys. `values()` of a map becomes a sequence, because a set would
merge equal values; no result depends on its order.
"""

from __future__ import annotations

from lawful.spec import ir, ops
from lawful.spec import types as t

from .names import quoted, word
from .terms import Check, Env, Expression, Writer, unwritten


def is_sequence(e: ir.Expr) -> bool:
    """Whether the expression becomes a sequence, and not a set or a function of keys."""
    match e:
        case ir.Op(op=op) if isinstance(e.type, t.Iter):
            return op in ops.SEQUENCES
        case ir.Comp(kind=kind) if isinstance(e.type, t.Iter):
            return kind == "first"
        case ir.Domain():
            return t.ordered(e.type)
        case ir.If(then=then, other=other) if isinstance(e.type, t.Iter):
            if is_sequence(then) != is_sequence(other):
                raise unwritten(e, "a choice between an ordered and an unordered collection")
            return is_sequence(then)
        case _ if isinstance(e.type, t.Iter) and e.type.ordered:
            return True
        case _ if isinstance(e.type, t.Iter):
            raise unwritten(e, f"a local that is {e.type}")
        case _:
            return isinstance(e.type, t.Seq | t.Tuple)


def as_set(w: Writer, e: ir.Expr, env: Env) -> Expression:
    """The elements as a set."""
    match e:
        case ir.Op(op="range", args=(high,)):
            text, checks = w.expr(high, env)
            return Expression(f"(0..({text} - 1))", checks)
        case ir.Op(op="range", args=(low, high)):
            (first, last), checks = w.all((low, high), env)
            return Expression(f"({first}..({last} - 1))", checks)
        case ir.Op(op="tuple" | "list", args=args):
            texts, checks = w.all(args, env)
            return Expression(f"{{{', '.join(texts)}}}", checks)
        case ir.Op(op="values", args=(of,)):
            text, checks = w.expr(of, env)
            one = w.names.fresh("k")
            return Expression(f"{{{text}[{one}] : {one} \\in DOMAIN {text}}}", checks)
        case ir.Domain():
            assert isinstance(e.type, t.Iter)
            return w.expr(ir.Domain(e.place, t.Iter(e.type.item, False)), env)
        case _:
            text, checks = w.expr(e, env)
            if isinstance(e.type, t.Map | t.Bag):
                return Expression(f"(DOMAIN {text})", checks)
            return Expression(f"Range({text})" if is_sequence(e) else text, checks)


def as_sequence(w: Writer, e: ir.Expr, env: Env) -> Expression:
    """The elements as a sequence, in their order; in any order where they have none."""
    if is_sequence(e):
        return w.expr(e, env)
    text, checks = as_set(w, e, env)
    return Expression(f"AsSeq({text})", checks)


def in_order(w: Writer, e: ir.Expr, env: Env) -> Expression:
    """The elements of an unordered collection in the order of the reference engine: see
    `spec.sorting.in_order`."""
    match e:
        case ir.Op(op="items" | "values" as op, args=(of,)):
            keys, one = in_order(w, of, env), w.names.fresh("k")
            text = w.expr(of, env).text
            row = f"<<{one}, {text}[{one}]>>" if op == "items" else f"{text}[{one}]"
            return Expression(f"MapSeq({keys.text}, LAMBDA {one} : {row})", keys.checks)
        case _:
            pass
    text, checks = as_set(w, e, env)
    one, other = w.names.fresh("a"), w.names.fresh("b")
    match t.element(e.type):
        case t.Sort(name=name) if w.module.size(name) < 10:
            every = f"{word(name)}_order"
            return Expression(f"SelectSeq({every}, LAMBDA {one} : {one} \\in {text})", checks)
        case t.Enum(members=members):
            # The sort key of a member is its text with a colon behind it.
            every = ", ".join(quoted(m) for m in sorted(members, key=lambda m: f"{m}:"))
            return Expression(f"SelectSeq(<<{every}>>, LAMBDA {one} : {one} \\in {text})", checks)
        case t.Int():
            before = f"LAMBDA {one}, {other} : {one} < {other}"
            return Expression(f"SortSeq(AsSeq({text}), {before})", checks)
        case kind:
            raise unwritten(e, f"a loop over {kind} without an order, where one would show,")


def not_empty(text: str, empty: str) -> Check:
    """The check that a collection has an element."""
    return Check(f"({text} # {empty})", "undefined")
