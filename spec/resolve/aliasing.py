"""Aliasing of mutable containers: no two names may refer to one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .. import ir
from .. import types as t
from ..analysis.loop_values import Outdated
from ..analysis.places import part_on_the_way, root, viewed
from ..errors import Place, a
from ..ops import HELD, MAP_VIEWS, SHORT_UPDATES, UPDATES
from ..syntax import tree
from .context import Body

CHANGING = SHORT_UPDATES.union(
    *UPDATES.values()
)  # Methods that change a container where it stands.


def changeable(b: Body, held: ir.Expr, place: Place) -> bool:
    """Whether the container is a variable's or of this body's own; a problem where it is not."""
    other = part_on_the_way(held)
    if other is not None:
        b.problem(
            "L206",
            place,
            f"a change inside {other}, another machine",
            "a variable of this machine",
            f"give {other} a transition that does this, and call it",
        )
        return False
    base = root(held)
    if not isinstance(base, ir.Local) or base.name in b.owned:
        return True
    b.problem(
        "L206",
        place,
        f"a change of {base.name}, a container that something else holds",
        "a variable of the machine, or a container made in this body",
        "change it where it is kept (self.m[k].add(x)), or copy it first: s = set(...)",
    )
    return False


def is_steady(b: Body, key: ir.Expr) -> bool:
    """Whether a key is a local that nothing assigns while the name of the place is used."""
    return isinstance(key, ir.Local) and (key.name not in b.assigned or key.name in b.steady)


def is_fixed(b: Body, path: ir.Expr) -> bool:
    """Whether the keys on the path of a place stay what they are here."""
    return all(isinstance(key, ir.Const) or is_steady(b, key) for key in keys_of(path))


def keys_of(path: ir.Expr) -> Iterator[ir.Expr]:
    """The keys on the path of a place."""
    while isinstance(path, ir.Field | ir.Item):
        if isinstance(path, ir.Item):
            yield path.key
        path = path.of


def fresh(value: ir.Expr) -> bool:
    """Whether nothing else can hold the container that the value is, or one inside it."""
    given = value.type.item if isinstance(value.type, t.Iter) else value.type
    if t.immutable(given) or isinstance(value.type, t.Unknown):
        return True
    match value:
        case ir.New() | ir.View() | ir.Call() | ir.Const():
            return True
        case ir.Op(op=op) if op in HELD:
            return False
        case ir.Op(args=args):
            kind = value.type
            inside = kind.value if isinstance(kind, t.Map) else t.element(kind)
            return inside is None or t.immutable(inside) or all(map(fresh, args))
        case ir.Comp(element=element):
            return fresh(element)
        case ir.If(then=then, other=other):
            return fresh(then) and fresh(other)
        case _:
            return False


def holds_values(kind: t.Type) -> bool:
    """Whether what a container has, of a map also what its keys lead to, is immutable."""
    item = kind.value if isinstance(kind, t.Map) else t.element(kind)
    return item is not None and t.immutable(item)


def keeps(place: ir.Expr, value: ir.Expr) -> bool:
    """Whether a value to be stored holds containers of the place that it replaces, each once, and
    of no other: `self.m = {k: q for k, q in self.m.items() if q}`."""
    if t.contains(value.type, t.Part):
        return False
    match value:
        case ir.Comp(element=element, clauses=(clause,)):
            return _taken(place, element, clause)
        case ir.Comp():
            return False
        case ir.Op(op="concat", args=(first, second)):
            return (fresh(second) and _elements(place, first)) or (
                fresh(first) and _elements(place, second)
            )
        case _:
            return value != place and _elements(place, value)


def _elements(place: ir.Expr, value: ir.Expr) -> bool:
    """Whether a collection has elements of the place, each at most once."""
    match value:
        case ir.Op(op="list_of" | "slice" | "sorted" | "reversed", args=(of, *_)):
            return _elements(place, of)
        case ir.Comp() | ir.Op(op="concat"):
            return keeps(place, value)
        case _:
            return viewed(value) == place


def _taken(place: ir.Expr, element: ir.Expr, clause: ir.Clause) -> bool:
    """Whether each round gives another element of the place, or a container that is new."""
    match element:
        case ir.If(then=then, other=other):
            return _taken(place, then, clause) and _taken(place, other, clause)
        case ir.Local(name=name):
            return name == clause.names[-1] and _elements(place, clause.over)
        case ir.Item(of=of, key=ir.Local(name=name)) if of == place or fresh(of):
            # What one name gives twice stands at one key of the new map.
            return isinstance(of.type, t.Map) and (name,) == clause.names
        case _:
            return fresh(element)


def looks(b: Body, name: str, value: ir.Expr) -> bool:
    """Whether a local only reads what another place holds: `q = self.rows.get(k, [])`, where
    nothing else assigns the local, and the body changes nothing by it."""
    if t.contains(value.type, t.Part) or t.contains(value.type, t.Timer):
        return False
    if not (isinstance(value, ir.If) or (isinstance(value, ir.Op) and value.op in HELD)):
        return False
    if name in b.locals:
        return False
    once = name in b.joined or times_assigned(b, name) == 1
    return once and not changes_in_place(b.written, name)


def times_assigned(b: Body, name: str) -> int:
    """How many statements of the body assign a local."""
    return sum([*tree.assigned_by(node)].count(name) for node in tree.nodes(b.written))


def changes_in_place(body: tuple[tree.Statement, ...], name: str) -> bool:
    """Whether a body changes the container that a name refers to, or one inside it."""
    for node in tree.nodes(body):
        match node:
            case tree.Apply(function=tree.Attribute(of=of, name=method)) if method in CHANGING:
                place: tree.Expression = of
            case (
                tree.Set(target=tree.Subscript(of=of) | tree.Cut(of=of))
                | tree.Augment(target=tree.Subscript(of=of))
                | tree.Delete(target=tree.Subscript(of=of) | tree.Cut(of=of))
            ):
                place = of
            case _:
                continue
        while isinstance(place, tree.Subscript):
            place = place.of
        if isinstance(place, tree.Name) and place.name == name:
            return True
    return False


def own_container(b: Body, value: ir.Expr, place: Place) -> None:
    """Note that a value to be stored is a container that another place already contains."""
    if isinstance(value, ir.Self):
        b.problem("L211", place, "a second name of the machine itself", "self", "write self")
        return
    if isinstance(value.type, t.Timer) or fresh(value):
        return
    if t.contains(value.type, t.Part):
        part = value.type.value if isinstance(value.type, t.Map) else value.type
        b.problem(
            "L211",
            place,
            f"{a(value.type)} that stands elsewhere",
            "a new machine",
            f"make one, {part}(...), and give it what it needs by its transitions; or keep its key",
        )
        return
    word = _copier(value.type)
    rewrite = f"copy it: {word}(...)" if word else "copy it, or keep an immutable value"
    if isinstance(value, ir.If):
        rewrite = f"{rewrite}; to change one of the two places themselves write if and else"
    if isinstance(value, ir.Op) and value.op in HELD:
        rewrite = "name the place, once it is there: if k in self.m: s = self.m[k]"
    b.problem(
        "L211", place, f"{a(value.type)} that another name holds", "a container of its own", rewrite
    )


def outdated(b: Body, found: Outdated) -> None:
    """Note a read of a variable of a loop, or of a parameter, after a change of its container, and
    a loop that may go on after a change of what it goes through."""
    if found.read is not None:
        name, place = found.read
        b.problem(
            "L211",
            place,
            f"{name}, a name of a container that may be changed since",
            "a read of the container where it is kept, or before the change",
            "write out the place (self.m[k]), read it before the change, or copy it before: "
            "set(...)",
        )
    if found.changed is not None:
        b.problem(
            "L218",
            found.changed,
            "a change of what may be the collection that the loop goes through",
            "a loop that does not change its collection",
            "iterate a copy: sorted(...) of a set or map, tuple(...) of a list; where two keys "
            "may be one, test that they differ before",
        )


def _copier(kind: t.Type) -> str:
    match kind:
        case t.Set():
            return "set"
        case t.Seq():
            return "list"
        case t.Map():
            return "dict"
        case t.Bag():
            return "Counter"
        case _:
            return ""


def read_in_rounds(b: Body, reads: Sequence[tuple[str, Place]], replaced: Collection[str]) -> None:
    """Note the first read, in a loop, of each name of a place that a round replaces."""
    for name, place in {name: place for name, place in reversed(reads) if name in replaced}.items():
        b.problem(
            "L211",
            place,
            f"{name}, a name of what an earlier round may have replaced",
            "a name of a place that is still the same in every round",
            "write out the place: in a later round, Python's name means the old container",
        )


def is_view(written: tree.Expression, value: ir.Expr) -> bool:
    """Whether an expression gives a view of a map, which shows each later change of the map."""
    match written, value:
        case tree.Apply(function=tree.Attribute(name=name)), _ if name in MAP_VIEWS:
            return viewed(value) is not value
        case tree.Conditional(then=then, other=other), ir.If():
            return is_view(then, value.then) or is_view(other, value.other)
        case _:
            return False


def kept_view(b: Body, name: str, place: Place) -> None:
    """Note a local that would keep a view."""
    b.problem(
        "L203",
        place,
        f"a view or iterator kept in {name}",
        "a collection",
        "iterate it where it is made, or keep tuple(...) or frozenset(...)",
    )
