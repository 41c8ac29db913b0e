"""Generated loops over the arguments of a rule, by its plans; see `spec.lower.argument_plans`."""

from __future__ import annotations

from contextlib import ExitStack

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.flat import Plan
from lawful.spec.lower.argument_plans import EACH, is_range

from ..codegen.body import Body
from ..codegen.codes import alike, code, uncode
from ..codegen.contents import put_in
from ..codegen.conversions import narrowed, option_of, tag_of, to_layout, type_of
from ..codegen.loops import clauses, each, held, one
from ..codegen.text import Value
from ..layout.forms import tight
from ..layout.layouts import Layout, NotGenerated, Number, Product, Sum, card, inner, width

UNORDERED = (t.Set, t.Map, t.Bag)  # No two of their members are equal.


def argument(f: Body, stack: ExitStack, plan: Plan, layout: Layout) -> Value:
    """A loop over the values of a parameter that its plan does not leave out."""
    for guard in plan.guards:
        skip = "continue" if len(f.env) else "return n"
        f.line(f"if not {f.truth(guard)}: {skip}")
    if plan.over is None:
        i = f.temporary()
        count = card(layout)
        if count is None:
            raise NotGenerated(f"the values of {plan.name}")
        stack.enter_context(f.block(f"for {i} in range({count}):"))
        return uncode(f, layout, i)
    return among(f, stack, plan.over, layout)


def among(f: Body, stack: ExitStack, over: ir.Expr, layout: Layout) -> Value:
    """A loop over the members of a collection, each once."""
    match over:
        case ir.Op(op="tuple", args=(only,)):
            stack.enter_context(f.block("for _ in range(1):"))
            item = f.value(only)
        case ir.Comp(kind="set", element=ir.Local(name=name), clauses=(row,)) if row.names == (
            name,
        ) and (
            isinstance(row.over.type, UNORDERED) or is_range(row.over)
        ):  # No two members are equal, so that no set has to be made of them.
            stack.enter_context(clauses(f, (row,)))
            item = f.env.pop(name)
        case ir.Comp(kind="set", element=element, clauses=rows):
            found = f.module.set_of(over.type, layout)
            at = f.region(found)
            f.blank(at, width(found))
            with clauses(f, rows):
                put_in(f, at, found, _fitting(f, f.value(element), layout))
            item = one(f, stack.enter_context(held(f, f.load(found, at))))
        case ir.Expr(type=of) if isinstance(of, UNORDERED):
            item = one(f, stack.enter_context(each(f, over)))
        case _:
            each_one = ir.Local(over.place, t.element(over.type) or t.Unknown(), EACH)
            row = ir.Clause(over.place, (EACH,), over, ())
            made = t.Set(each_one.type, False)
            comp = ir.Comp(over.place, made, "set", each_one, None, (row,))
            return among(f, stack, comp, layout)
    return f.own(_fitting(f, item, layout))


def _fitting(f: Body, item: Value, layout: Layout) -> Value:
    """An item of a collection as an argument; what the parameter cannot be is left out."""
    if isinstance(item.layout, Sum) and not isinstance(layout, Sum):
        which = option_of(item.layout, type_of(layout))
        f.line(f"if {tag_of(f, item)} != {which}: continue")
        item = narrowed(f, item, type_of(layout))
    held = tight(item.layout)  # No member of what is in a state has anything outside the scope.
    if not alike(held, layout) or not _same_bounds(held, layout):
        if isinstance(layout, Sum):
            raise NotGenerated("arguments of a wider union")
        moved = to_layout(f, item, layout)
        f.line(f"if {code(f, moved)} < 0: continue")
        return moved
    return item


def _same_bounds(a: Layout, b: Layout) -> bool:
    """Whether every value of the first layout is one of the second."""
    match a, b:
        case Number(), Number():
            return (a.low, a.high) == (b.low, b.high)
        case (Product(), Product()) | (Sum(), Sum()):
            return all(map(_same_bounds, inner(a), inner(b)))
        case _:
            return a == b
