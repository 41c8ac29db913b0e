"""`for k, row in sorted(self.rows.items())`: keys differ, so the items of a map are in the order of
the keys, whatever the values are. Where these are containers or machines, the loop goes through the
keys and names what is at each."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ... import ir
from ... import types as t
from ...analysis.changed_places import changes
from ...analysis.places import in_state, is_place, may_pass
from ...analysis.walk import statements
from ...syntax import tree
from .. import expressions
from ..context import Body
from ..families import Round, stays


def by_key(b: Body, node: tree.Apply) -> tree.Apply | None:
    """`sorted(m.items())` of values without an order with its key written out; None of others."""
    held = _items_of(b, node)
    if held is None or t.orderable(held.type.value) or not t.immutable(held.type.value):
        return None
    item = tree.Name(node.place, "_each")
    key = tree.Subscript(node.place, item, tree.Literal(node.place, 0))
    given = tree.Function(node.place, (item.name,), key)
    return tree.Apply(node.place, node.function, node.args, (("key", given),))


def round_of_sorted(
    b: Body, node: tree.Expression, names: tuple[str, ...], body: tuple[tree.Statement, ...] = ()
) -> Round | None:
    """The loop through the keys in their order, if the values are containers or machines."""
    held = _items_of(b, node) if isinstance(node, tree.Apply) else None
    if held is None or t.immutable(held.type.value) or len(names) != 2:
        return None
    if not is_place(held.at) or not in_state(held.at) or not stays(held.at, body):
        return None
    key, place = held.type.key, node.place
    of = expressions.expr(b, held.written)
    keys = ir.Op(place, t.Iter(key, False), "keys", (of,))
    over = ir.Op(place, t.Seq(key, mutable=True), "sorted", (keys,))
    at = ir.Local(place, key, names[0])
    return Round(over, names[:1], key, {names[1]: ir.Item(place, held.type.value, of, at)})


def judge_sorted(b: Body, turn: Round, body: Sequence[ir.Stmt]) -> None:
    """Note where a round puts another container at a key: Python's list has the old one."""
    functions = b.scene.functions()
    for stmt in statements(body):
        for member in turn.members.values():
            for change in changes(stmt, functions):
                if _of_its_round(stmt, change.place, member):
                    continue
                if change.place is None or may_pass(member, change.place, not change.below):
                    b.problem(
                        "L211",
                        stmt.place,
                        "a change of the map whose items were put in order before the loop",
                        "a round that leaves each container where it is",
                        "go through the keys, and read the map in each round: for k in sorted(m)",
                    )
                    return


def _of_its_round(stmt: ir.Stmt, place: ir.Expr | None, member: ir.Expr) -> bool:
    """Whether a change leaves alone what later rounds name: it is at the key of the round, which no
    other round has, or a step of the machine there."""
    match stmt:
        case ir.Assign(target=target):
            return target == member
        case ir.Update(target=target, op="delete" | "pop", args=(key, *_)):
            return isinstance(member, ir.Item) and (target, key) == (member.of, member.key)
        case ir.Step(part=part):
            return place == part and isinstance(member.type, t.Part)
        case _:
            return False


class _Items:
    """A map whose items are sorted."""

    def __init__(self, written: tree.Expression, at: ir.Expr, kind: t.Map) -> None:
        self.written, self.at, self.type = written, at, kind


def _items_of(b: Body, node: tree.Apply) -> _Items | None:
    """The map of `sorted(m.items())`, whose keys have an order."""
    match node:
        case tree.Apply(
            function=function,
            args=(tree.Apply(function=tree.Attribute(of=of, name="items"), args=(), keywords=()),),
            keywords=(),
        ) if b.static(function) is builtins.sorted:
            pass
        case _:
            return None
    kept = len(b.scene.problems.found), b.evaluated, b.hoisted, len(b.named_reads)
    b.hoisted = None
    at = expressions.infer(b, of, None)
    fine = len(b.scene.problems.found) == kept[0]
    del b.scene.problems.found[kept[0] :]  # It is resolved, and judged, again.
    del b.named_reads[kept[3] :]
    b.evaluated, b.hoisted = kept[1:3]
    if not fine or not isinstance(at.type, t.Map) or not t.orderable(at.type.key):
        return None
    return _Items(of, at, at.type)
