"""Loops: `tree` -> typed IR."""

from __future__ import annotations

from functools import partial

from ... import ir
from ... import types as t
from ...analysis.iteration_order import order_matters
from ...analysis.walk import ends, everything
from ...errors import a
from ...syntax import tree
from .. import expressions
from ..aliasing import read_in_rounds
from ..context import Block, Body, Named, unpacked
from ..families import Round, judge_members, name_members, round_of, round_of_changed
from ..short_forms import loose_lists
from ..short_forms.copied_iterables import copied
from ..short_forms.early_ends import early_end
from ..short_forms.mapped import of_itertools
from ..short_forms.sorted_items import judge_sorted, round_of_sorted


def _round(b: Body, node: tree.Each) -> Round:
    if isinstance(node.over, tree.Comprehension) and node.over.kind == "generator":
        what, instead = "a loop over a generator", "write a list: for x in [...]"
        b.problem("L103", node.over.place, what, "a list, set or map", instead)
        return round_of(b, b.wrong(node.over.place), t.Unknown(), node.names)
    if of_itertools(b, node.over) and _refused(b, node.over):
        return round_of(b, b.wrong(node.over.place), t.Unknown(), node.names)
    over, item = (
        copied(b, node.over)
        or loose_lists.gathered(b, node.over)
        or expressions.iterable(b, node.over)
    )
    return round_of_changed(b, over, node.names, node.body) or round_of(b, over, item, node.names)


def _refused(b: Body, over: tree.Expression) -> bool:
    from ..short_forms.itertools_calls import looped

    return looped(b, over)


def loop(b: Body, node: tree.Each, block: Block) -> list[ir.Stmt]:
    in_order = round_of_sorted(b, node.over, node.names, node.body)
    turn = in_order or _round(b, node)
    over, names = turn.over, turn.names
    bound = unpacked(turn.item, names)
    if bound is None:
        b.problem(
            "L203",
            node.place,
            f"{len(names)} names for {a(turn.item)}",
            "one name, or as many as the tuple has items",
            "unpack tuples only",
        )
        bound = dict.fromkeys(names, t.Unknown())
    before, start = b.locals.keys() & bound.keys(), b.named()
    b.bind(bound)
    # What a round may change is not known when the next one begins, nor after the last.
    facts = b.facts_through(b.facts, (node,))
    b.facts = dict(facts)
    steady = set(b.steady)
    name_members(b, turn.members)
    again = tree.assigned_names(node.body)
    b.steady = (steady | set(names)) - again
    if turn.members and again & {*names, *turn.members}:
        b.problem(
            "L206",
            node.place,
            "a member of a family whose name the loop assigns",
            "a local that is assigned once",
            "use another name for this",
        )
    body = _rounds(b, node.body, start, block)
    (judge_members if in_order is None else judge_sorted)(b, turn, body)
    b.facts, b.steady = facts, steady
    made = ir.Loop(node.place, names, over, body)
    if not t.ordered(over.type) and not isinstance(over.type, t.Unknown):
        culprit = order_matters(made, b.scene.functions())
        ended = early_end(made) if culprit is not None and not before & set(names) else None
        if ended is not None:
            for name in names:
                b.locals.pop(name, None)  # Which element it named depends on the order.
            return [ended]
        if culprit is not None:
            assigned = (s.target for s in everything(body) if isinstance(s, ir.Assign))
            own = any(isinstance(at, ir.Item) and at.place == culprit for at in assigned)
            rewrite = "read before the loop what it reads of other elements: x = self.m[k]"
            what = "a round whose effect depends on earlier rounds"
            expressions.unordered(b, culprit, what, rewrite=rewrite if own else None)
    return [made]


def while_loop(b: Body, node: tree.While, block: Block) -> list[ir.Stmt]:
    # Few machines have such loops.
    from ..short_forms.emptied import emptying
    from .counted import counting

    each = partial(loop, block=block)
    made = counting(b, node, each)
    return emptying(b, node, each) if made is None else made


def _rounds(
    b: Body, nodes: tuple[tree.Statement, ...], start: Named, block: Block
) -> tuple[ir.Stmt, ...]:
    """The body of a loop before which locals name what they do at `start`."""
    for name in b.moved & tree.assigned_names(nodes):
        b.aliases.pop(name, None)  # In a later round it is another container.
    first, outer, entered = len(b.named_reads), (b.broken, b.continued), b.named()
    b.broken, b.continued = [], []
    older, b.older = b.older, b.older | (b.locals.keys() - b.moved)
    b.loops += 1
    body = block(b, nodes)
    b.loops -= 1
    b.older = older
    again = [*b.continued, *([] if ends(body) else [b.named()])]
    replaced = {name for way in again for name in way.dead} - entered.dead
    read_in_rounds(b, b.named_reads[first:], replaced & start.aliases.keys())
    b.come_together(start, [start, *again, *b.broken])
    b.broken, b.continued = outer
    return body
