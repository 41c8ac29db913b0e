"""Families of machines, `dict[K, M]`: their members are places of the state and no values.

A loop over `values()` or `items()` of a family goes through its keys, and its variable names the
member at the key; so does a clause of a comprehension. A loop that changes the containers which a
map or list has, `for q in self.rows.values(): q.append(x)`, names them in the same way.
"""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..analysis.changed_places import changes
from ..analysis.places import in_machine, in_state, may_pass
from ..analysis.walk import statements
from ..errors import Place, a
from ..quick_dataclass import dataclass
from ..syntax import tree
from .aliasing import changes_in_place, keys_of, read_in_rounds
from .context import Body


@dataclass(frozen=True, slots=True)
class Round:
    """The iterable and the names of a loop; `members` are those names that refer to places."""

    over: ir.Expr
    names: tuple[str, ...]
    item: t.Type
    members: dict[str, ir.Expr]


def round_of(b: Body, over: ir.Expr, item: t.Type, names: tuple[str, ...]) -> Round:
    """The loop as written; a loop over a family's members becomes a loop over its keys."""
    match over:
        case ir.Op(op="values" | "items" as op, args=(held,)) if t.contains(item, t.Part):
            assert isinstance(held.type, t.Map)
            if not in_machine(held):
                gathered(b, over.place, over.type)
            key_type = held.type.key
            if op == "items" and len(names) != 2:
                b.problem(
                    "L203",
                    over.place,
                    f"{len(names)} names for the items of {a(held.type)}",
                    "two names",
                    "write for k, m in ...",
                )
                return Round(held, names, t.Unknown(), {})
            key = names[0] if op == "items" else _key_name(b, names[-1])
            at = ir.Local(over.place, key_type, key)
            member = ir.Item(over.place, held.type.value, held, at)
            return Round(held, (key,), key_type, {names[-1]: member})
        case _:
            return Round(over, names, item, {})


def round_of_changed(
    b: Body, over: ir.Expr, names: tuple[str, ...], body: tuple[tree.Statement, ...]
) -> Round | None:
    """The loop through the keys of a map, or the places of a list, if its body changes containers
    of it by the loop's variable; None of other loops."""
    if names[-1] in tree.assigned_names(body) or not changes_in_place(body, names[-1]):
        return None
    match over:
        case ir.Op(op="values", args=(held,)) if len(names) == 1:
            key = _key_name(b, names[0])
        case ir.Op(op="items", args=(held,)) if len(names) == 2:
            key = names[0]
        case ir.Op(op="enumerate", args=(held,)) if len(names) == 2:
            key = names[0]
        case ir.Expr(type=t.Seq()) if len(names) == 1:
            key, held = _key_name(b, names[0]), over
        case _:
            return None
    kind = held.type
    if not isinstance(kind, t.Map | t.Seq) or not in_state(held) or not stays(held, body):
        return None
    item = kind.value if isinstance(kind, t.Map) else kind.item
    if not isinstance(item, t.Seq | t.Set | t.Map | t.Bag):
        return None
    key_type = kind.key if isinstance(kind, t.Map) else t.INT
    place = ir.Item(over.place, item, held, ir.Local(over.place, key_type, key))
    members: dict[str, ir.Expr] = {names[-1]: place}
    if isinstance(kind, t.Map):
        return Round(held, (key,), key_type, members)
    pair = t.Tuple((t.INT, item))
    numbered = ir.Op(over.place, t.Iter(pair, True), "enumerate", (held,))
    return Round(numbered, (key, _key_name(b, key)), pair, members)


def stays(held: ir.Expr, body: tuple[tree.Statement, ...]) -> bool:
    """Whether the path of a container leads to the same one in each round: its keys are written
    out, or locals that the body does not assign."""
    again = tree.assigned_names(body)
    return all(
        isinstance(key, ir.Const) or (isinstance(key, ir.Local) and key.name not in again)
        for key in keys_of(held)
    )


def judge_members(b: Body, turn: Round, body: tuple[ir.Stmt, ...]) -> None:
    """Note where a round replaces what the containers that the loop names are in: Python's loop
    goes on through the old one."""
    for name, member in turn.members.items():
        if not isinstance(member, ir.Item) or isinstance(member.type, t.Part):
            continue
        for stmt in statements(body):
            for change in changes(stmt, b.scene.functions()):
                place = change.place
                if place is None or (change.below and may_pass(member.of, place, below=False)):
                    read_in_rounds(b, [(name, stmt.place)], {name})
                    return


def _key_name(b: Body, member: str) -> str:
    """A name for the keys of the members that a loop names."""
    key = f"{member}_key"
    while key in b.locals or key in b.aliases or key in b.assigned:
        key += "_"
    return key


def gathered(b: Body, place: Place, kind: t.Type) -> None:
    """Note that machines would become values."""
    b.problem(
        "L202",
        place,
        f"{a(kind)} as a value",
        "a machine at its place in the state",
        "name the member: peer = self.peers[p]; or collect what is read of each: peer.sent",
    )


def name_members(b: Body, members: dict[str, ir.Expr]) -> None:
    """From here on these names refer to places."""
    for name, place in members.items():
        b.locals.pop(name, None)
        b.owned.discard(name)
        b.dead.discard(name)
        b.aliases[name] = place
