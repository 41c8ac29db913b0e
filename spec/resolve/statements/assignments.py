"""Assignments to places and to locals, and `del`: `tree` -> typed IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ... import ir, ops
from ... import types as t
from ...analysis.places import in_machine, in_state, viewed
from ...analysis.walk import everything
from ...errors import Place, a
from ...syntax import tree
from .. import conditions, expressions
from ..aliasing import changeable, holds_values, is_view, keeps, kept_view, looks, own_container
from ..changing_calls import Effect, effect, may_change
from ..context import Body, fact_of, read_of
from ..declared.serials import declared
from ..operators import binary
from ..places import moved_to, name_place, names_place, place_of
from ..short_forms import later_types, loose_lists


def assign(b: Body, node: tree.Set) -> list[ir.Stmt]:
    """An assignment to a place of the state, or to an item of a local container."""
    place = place_of(b, node.target)
    if place is None:
        later_types.note_item(b, node.target, node.value)
        return []
    if isinstance(node.value, tree.Apply):
        changing = effect(b, node.value)
        if changing is not None:
            return _into(b, node, changing, place)
    value = of_no_list(b, node.value, expressions.expr(b, node.value, place.type))
    own = value.name if isinstance(value, ir.Local) and b.may_move(value.name) else None
    if own is None and not keeps(place, value):
        own_container(b, value, node.value.place)
    b.replaced(place)
    if own is not None:
        moved_to(b, own, place)
    if isinstance(place.type, t.Union) and t.fits(value.type, place.type):
        b.facts[place] = fact_of(value, place.type)
    return [ir.Assign(node.place, place, value)]


def of_no_list(b: Body, node: tree.Expression, value: ir.Expr) -> ir.Expr:
    """A value to be kept or put out, with a problem where it is a list of a constant."""
    kind = value.type
    if not (t.immutable(kind) and (t.contains(kind, t.Seq) or t.contains(kind, t.Tuple))):
        return value
    from ..short_forms.constant_lists import kept  # Few machines keep sequences.

    return kept(b, node, value)


def _into(b: Body, node: tree.Set, changing: Effect, place: ir.Expr) -> list[ir.Stmt]:
    """`self.x = self.part.step()`: through a local, for the step may change the place's path."""
    kind, make = changing
    if not t.fits(kind, place.type):
        expressions.misfit(b, node.value.place, kind, place.type)
    local = b.temporary(kind, node.place)
    after(b, make)
    b.replaced(place)
    if isinstance(place.type, t.Union) and t.fits(kind, place.type):
        b.facts[place] = kind
    return [make(local), ir.Assign(node.place, place, read_of(local))]


def assign_local(b: Body, node: tree.Set, target: tree.Name) -> list[ir.Stmt]:
    """An assignment to a local, which may come to name a place of the state."""
    name = target.name
    wanted = b.locals.get(name)
    again = wanted is not None and node.annotation is None
    if node.annotation is not None:
        wanted = b.scene.annotation(node.annotation, node.place, b.names)
    elif wanted is None:
        wanted = b.expected.get(name)
    if names_place(b, name) or name == "self":
        what = "self" if name == "self" else f"{name}, which names a place in the state"
        b.problem(
            "L206", node.place, what, "a local that is assigned once", "use another name for this"
        )
        return []
    if isinstance(node.value, tree.Apply):
        changing = effect(b, node.value)
        if changing is not None:
            kind, make = changing
            if wanted is not None and not t.fits(kind, wanted):
                if again and wanted == t.NOTHING:  # It began as None.
                    b.later.setdefault(name, t.union((t.widened(kind), t.NOTHING)))
                expressions.misfit(b, node.value.place, kind, wanted)
            b.bind({name: wanted or t.widened(kind)})
            after(b, make)
            local = ir.Local(target.place, b.locals[name], name)
            b.replaced(local)
            if isinstance(local.type, t.Union) and kind != local.type:
                b.facts[local] = kind
            return [make(local)]
    value = None if wanted is not None else loose_lists.kept(b, name, node.value)
    if value is None:
        value = (
            _again(b, node, (name, wanted)) if again else expressions.expr(b, node.value, wanted)
        )
    if isinstance(value, ir.Self):
        own_container(b, value, node.value.place)
        b.bind({name: t.Unknown()})
        return []
    named = not t.immutable(value.type) and in_machine(value)
    machine = t.contains(value.type, t.Part)
    if named and isinstance(value, ir.Field | ir.Item) and (wanted is None or machine):
        return name_place(b, target, value)
    if wanted is None and is_view(node.value, value) and in_state(viewed(value)):
        return name_place(b, target, value)
    if machine:
        b.problem(
            "L202",
            node.value.place,
            f"{a(value.type)} kept in {name}",
            "a machine at its place in the state",
            f"put it there first, and name the place: self.peers[p] = ...; {name} = self.peers[p]",
        )
        b.bind({name: t.Unknown()})
        return []
    if again and isinstance(value.type, t.Unknown):
        wanted = None  # Nothing is known of a refused value.
    return [_assigned(b, node, target, (value, wanted))]


def _again(b: Body, node: tree.Set, of: tuple[str, t.Type | None]) -> ir.Expr:
    """The assignment to a local that already has a value, and so a type."""
    name, wanted = of
    hint = None if wanted == t.NOTHING else wanted  # It began as None: each side may be another.
    value = declared(b, expressions.infer(b, node.value, hint), wanted or t.NOTHING)
    if wanted is None or t.fits(value.type, wanted):
        return value
    kinds = {value.type, wanted}
    rewrite = f"use another name for this, or annotate {name} where it first has a value"
    if t.NOTHING in kinds and len(kinds) == 2:
        first = "None" if wanted == t.NOTHING else "..."
        (other,) = kinds - {t.NOTHING}
        b.later.setdefault(name, t.union((t.widened(other), t.NOTHING)))
        rewrite = f"annotate the local: {name}: {t.union((other, t.NOTHING))} = {first}"
    b.problem("L203", value.place, str(value.type), f"{wanted}, the type that {name} has", rewrite)
    return b.wrong(node.place)


def _assigned(
    b: Body, node: tree.Set, target: tree.Name, given: tuple[ir.Expr, t.Type | None]
) -> ir.Stmt:
    value, wanted = given
    if is_view(node.value, value) or (
        isinstance(value.type, t.Iter) and not conditions.is_range(value)
    ):
        kept_view(b, target.name, node.value.place)
    elif wanted is None and t.contains(value.type, t.Unknown) and not _has_refused(value):
        _untyped(b, node.place, target.name, value.type)
    looked = looks(b, target.name, value)
    if not looked:
        own_container(b, value, node.value.place)
    kind = wanted or t.widened(value.type)
    b.bind({target.name: kind})
    if not t.immutable(kind) and not looked:
        b.own(target.name)
    local = ir.Local(target.place, kind, target.name)
    b.replaced(local)
    if isinstance(kind, t.Union) and (fact := fact_of(value, kind)) != kind:
        b.facts[local] = fact
    return ir.Assign(node.place, local, value)


def _has_refused(value: ir.Expr) -> bool:
    """Whether something in it was refused, and noted; or its elements have no common type."""
    if isinstance(value, ir.Op) and value.op in (*ops.DISPLAYS, "map") and value.args:
        return True
    return any(
        isinstance(node, ir.Expr) and isinstance(node.type, t.Unknown)
        for node in everything((value,))
    )


def _example(kind: t.Type) -> str:
    examples: dict[type[t.Type], str] = {
        t.Set: "set[int] = set()",
        t.Seq: "list[int] = []",
        t.Map: "dict[int, int] = {}",
    }
    return examples.get(type(kind), "Counter[int] = Counter()")


def _untyped(b: Body, place: Place, name: str, kind: t.Type) -> None:
    """Note that nothing says what an empty container will hold."""
    if isinstance(kind, t.Unknown):
        return
    example = _example(kind)
    b.problem(
        "L215",
        place,
        f"{name}, an empty {example.partition('[')[0]}",
        "the type of what it will hold",
        f"annotate it: {name}: {example}",
    )


def keep(b: Body, target: tree.Expression, value: ir.Expr) -> None:
    """Judge a container that is kept: it is this body's own, and a new local's has a type."""
    own_container(b, value, value.place)
    name = target.name if isinstance(target, tree.Name) else ""
    unknown = t.contains(value.type, t.Unknown) and not _has_refused(value)
    if name and name not in b.locals and unknown:
        _untyped(b, value.place, name, value.type)


def augment(b: Body, node: tree.Augment) -> list[ir.Stmt]:
    """`x += 1`, and other operators."""
    if isinstance(node.target, tree.Name) and node.target.name not in b.aliases:
        name = node.target.name
        if name not in b.locals:
            expressions.expr(b, node.target)
            return []
        place: ir.Expr = ir.Local(node.target.place, b.locals[name], name)
        if not t.immutable(b.locals[name]) and not changeable(b, place, node.place):
            return []
    else:
        found = place_of(b, node.target)
        if found is None:
            return []
        place = found
        expressions.infer(b, node.target, None)  # Python reads the place first.
    hint = place.type if isinstance(place.type, t.Seq | t.Map) else None
    hint = replace(hint, total=False) if isinstance(hint, t.Map) else hint  # Some keys are enough.
    value = _added(b, node, hint)
    if not holds_values(value.type):
        own_container(b, value, node.value.place)
    read = expressions.narrowed(b, place)
    result = binary(b, node.place, node.op, (read, value))
    if not t.fits(result.type, place.type):
        expressions.misfit(b, node.place, result.type, place.type)
    if t.immutable(place.type):
        b.replaced(place)
    else:
        b.updated(place)
    if isinstance(place.type, t.Union) and t.fits(result.type, place.type):
        b.facts[place] = result.type
    return [ir.Assign(node.place, place, result)]


def _added(b: Body, node: tree.Augment, hint: t.Type | None) -> ir.Expr:
    """The right side of an augmented assignment to a place of type `hint`, where it says that."""
    if node.op != "+" or not isinstance(hint, t.Seq) or not hint.mutable:
        return expressions.expr(b, node.value, hint)
    value = expressions.infer(b, node.value, hint)
    match value.type:
        case t.Seq(item=item, mutable=False) if t.fits(item, hint.item):
            # Python's list takes any iterable here.
            return ir.Op(value.place, replace(hint, most=None), "list_of", (value,))
        case kind if not t.fits(kind, hint):
            expressions.misfit(b, value.place, kind, hint)
            return b.wrong(node.place)
        case _:
            return value


def delete(b: Body, node: tree.Delete) -> list[ir.Stmt]:
    """`del self.m[k]`, `del q[0]`."""
    found = expressions.expr(b, node.target)
    if isinstance(found, ir.Narrow):
        found = found.of
    match found:
        case ir.Item(of=of) if isinstance(of.type, t.Bag):
            return assign(b, tree.Set(node.place, node.target, tree.Literal(node.place, 0), None))
        case ir.Item(of=of, key=key) if isinstance(of.type, t.Map | t.Seq) and of.type.mutable:
            op = "delete" if isinstance(of.type, t.Map) else "pop"
            if isinstance(of.type, t.Map) and of.type.total:
                b.problem(
                    "L206",
                    node.place,
                    "a key removed from a total map",
                    "a map that keeps every key",
                    "assign the value that means absent",
                )
            if in_state(of):
                may_change(b, node.place)
            elif not changeable(b, of, node.place):
                return []
            b.updated(of)
            return [ir.Update(node.place, of, op, (key,), None)]
        case _:
            if not isinstance(found.type, t.Unknown):
                b.problem(
                    "L206",
                    node.place,
                    "del of what is no item of a map or list",
                    "del self.m[k] of a dict, del self.q[i] of a list",
                    "s.discard(x) for a set; for a slice self.q = self.q[:i] + self.q[j:]",
                )
            return []


def after(b: Body, make: Callable[[ir.Expr | None], ir.Stmt]) -> ir.Stmt:
    """The statement of a call that changes something; what was known before is forgotten."""
    made = make(None)
    match made:
        case ir.Update(target=target):
            b.updated(target)
        case ir.Branch(test=ir.Op(args=(_, target))):  # Of a key that may be there.
            b.updated(target)
        case ir.Step():
            b.stepped()
        case _:
            b.forget_state(made)
    return made
