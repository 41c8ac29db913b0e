"""Families of machines, `dict[K, M]`: their members are places of the state and no values.

A loop over `values()` or `items()` of a family goes through its keys, and its variable names the
member at the key; so does a clause of a comprehension.
"""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..analysis.places import in_machine
from ..errors import Place, a
from ..quick_dataclass import dataclass
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
