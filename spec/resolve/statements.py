"""Statements: `tree` -> typed IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .. import ir, words
from .. import types as t
from ..analysis.iteration_order import order_matters
from ..analysis.places import in_machine, in_state, is_place, local_of, viewed
from ..analysis.walk import ends, everything
from ..errors import Place, a
from ..syntax import tree
from ..syntax.short_forms import items_of
from . import conditions, expressions, tuples
from .aliasing import (
    changeable,
    fresh,
    holds_values,
    is_view,
    keeps,
    kept_view,
    looks,
    own_container,
    read_in_rounds,
)
from .changing_calls import Effect, effect, may_change
from .context import Body, Named, facts_if, read_of, unpacked
from .declared.serials import declared
from .families import Round, judge_members, name_members, round_of, round_of_changed
from .matching import match_statement
from .methods import refused
from .operators import binary
from .places import moved_to, name_place, names_place, place_of
from .short_forms import later_types, loose_lists
from .short_forms.copied_iterables import copied
from .short_forms.early_ends import early_end
from .short_forms.given_out import given_out
from .short_forms.in_place_methods import in_default, in_place, named_default
from .short_forms.sorted_items import judge_sorted, round_of_sorted


def block(b: Body, nodes: Sequence[tree.Statement]) -> tuple[ir.Stmt, ...]:
    """The statements of a block, in order; facts from a test hold for the rest of it."""
    out: list[ir.Stmt] = []
    for at, node in enumerate(nodes):
        b.hoisted, b.evaluated = [], ()
        if at + 1 < len(nodes) and _looks_up(node):
            from .short_forms.looked_up import with_places  # Few bodies look anything up.

            named = with_places(b, nodes[at:])
            if named is not None:
                return (*out, *block(b, named))
        made = STATEMENTS[type(node)](b, node)
        hoisted, b.hoisted = b.hoisted or [], []
        out += [*hoisted, *made]
    return tuple(out)


def _looks_up(node: tree.Statement) -> bool:
    match node:
        case tree.Set(value=tree.Apply(function=tree.Attribute(name="get"))):
            return True
        case _:
            return False


def _inner(b: Body, nodes: Sequence[tree.Statement]) -> tuple[ir.Stmt, ...]:
    kept = b.hoisted, b.evaluated, dict(b.aliases)
    of_round = set(b.made)
    made = block(b, nodes)
    b.hoisted, b.evaluated, before = kept
    b.made &= of_round
    # A local that names a place does so in its own block alone, and until it is assigned.
    b.aliases = {name: path for name, path in before.items() if b.aliases.get(name) == path}
    return made


def _set(b: Body, node: tree.Set) -> list[ir.Stmt]:
    target = node.target
    if (named := named_default(b, node.value)) is not None:
        before = [stmt for each in named[0] for stmt in STATEMENTS[type(each)](b, each)]
        return [*before, *_set(b, replace(node, value=named[1]))]
    if (longer := _in_default(b, node)) is not None:
        return longer
    if isinstance(target, tree.Display) and target.kind in ("tuple", "list"):
        return _unpack(b, node, target)
    if isinstance(target, tree.Name):
        return _local(b, node, target)
    place = place_of(b, target)
    if place is None:
        later_types.note_item(b, target, node.value)
        return []
    if isinstance(node.value, tree.Apply):
        changing = effect(b, node.value)
        if changing is not None:
            return _into(b, node, changing, place)
    value = _of_no_list(b, node.value, expressions.expr(b, node.value, place.type))
    own = value.name if isinstance(value, ir.Local) and b.may_move(value.name) else None
    if own is None and not keeps(place, value):
        own_container(b, value, node.value.place)
    b.replaced(place)
    if own is not None:
        moved_to(b, own, place)
    if isinstance(place.type, t.Union) and t.fits(value.type, place.type):
        b.facts[place] = value.type
    return [ir.Assign(node.place, place, value)]


def _in_default(b: Body, node: tree.Set | tree.Augment) -> list[ir.Stmt] | None:
    """What changes an item of what `setdefault` gives; None of other statements."""
    if not (isinstance(node.target, tree.Subscript) and isinstance(node.target.of, tree.Apply)):
        return None
    longer = in_default(b, node)
    if longer is None:
        return None
    return [stmt for each in longer for stmt in STATEMENTS[type(each)](b, each)]


def _of_no_list(b: Body, node: tree.Expression, value: ir.Expr) -> ir.Expr:
    """A value to be kept or put out, with a problem where it is a list of a constant."""
    kind = value.type
    if not (t.immutable(kind) and (t.contains(kind, t.Seq) or t.contains(kind, t.Tuple))):
        return value
    from .short_forms.constant_lists import kept  # Few machines keep sequences.

    return kept(b, node, value)


def _into(b: Body, node: tree.Set, changing: Effect, place: ir.Expr) -> list[ir.Stmt]:
    """`self.x = self.part.step()`: through a local, for the step may change the place's path."""
    kind, make = changing
    if not t.fits(kind, place.type):
        expressions.misfit(b, node.value.place, kind, place.type)
    local = b.temporary(kind, node.place)
    _after(b, make)
    b.replaced(place)
    if isinstance(place.type, t.Union) and t.fits(kind, place.type):
        b.facts[place] = kind
    return [make(local), ir.Assign(node.place, place, read_of(local))]


def _local(b: Body, node: tree.Set, target: tree.Name) -> list[ir.Stmt]:
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
            _after(b, make)
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
        wanted = None  # Of what was refused nothing is known.
    return [_assign_local(b, node, target, (value, wanted))]


def _again(b: Body, node: tree.Set, of: tuple[str, t.Type | None]) -> ir.Expr:
    """The assignment to a local that already has a value, and so a type."""
    name, wanted = of
    value = declared(b, expressions.infer(b, node.value, wanted), wanted or t.NOTHING)
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


def _assign_local(
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
    if isinstance(kind, t.Union) and value.type != kind:
        b.facts[local] = value.type
    return ir.Assign(node.place, local, value)


def _has_refused(value: ir.Expr) -> bool:
    """Whether something in it was refused, and noted."""
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


def _unpack(b: Body, node: tree.Set, target: tree.Display) -> list[ir.Stmt]:
    written = node.value.items if isinstance(node.value, tree.Display) else ()
    if len(written) == len(target.items) and node.annotation is None:
        return _one_by_one(b, node, [*zip(target.items, written, strict=True)])
    value = expressions.expr(b, node.value)
    if isinstance(value.type, t.Seq) and t.immutable(value.type.item):
        return _of_sequence(b, node, target, value)
    items = value.type.items if isinstance(value.type, t.Tuple) else ()
    if len(items) != len(target.items):
        if not isinstance(value.type, t.Unknown):
            b.problem(
                "L203",
                node.value.place,
                str(value.type),
                f"a tuple of {len(target.items)}",
                "assign a tuple with as many items as there are names",
            )
        b.bind({each.name: t.Unknown() for each in target.items if isinstance(each, tree.Name)})
        return []
    temporaries = [b.temporary(kind, node.place) for kind in items]
    for kind in items:
        if not t.immutable(kind):
            b.problem(
                "L211",
                node.value.place,
                f"{a(kind)} unpacked",
                "immutable values",
                "assign containers one by one",
            )
    taken = _taken_apart(node.place, temporaries, value)
    return [taken, *_distributed(b, node, target.items, temporaries)]


def _taken_apart(place: Place, into: Sequence[ir.Local], value: ir.Expr) -> ir.Stmt:
    """The items of a tuple into locals; `Unpack` with one name means the tuple as it is."""
    if len(into) == 1:
        return ir.Assign(place, into[0], *tuples.given(value))
    return ir.Unpack(place, tuple(x.name for x in into), value)


def _of_sequence(b: Body, node: tree.Set, target: tree.Display, value: ir.Expr) -> list[ir.Stmt]:
    """`lo, hi = q`: the items of a list, which has no value where there are more or fewer."""
    place, count = node.value.place, len(target.items)
    whole = b.temporary(value.type, place)
    test = None if _sorted_items(node.value) == count else "=="
    items = items_of(place, tree.Name(place, whole.name), count, test, range(count))
    again = tree.Set(node.place, target, tree.Display(place, "tuple", items), None)
    return [ir.Assign(node.place, whole, value), *_unpack(b, again, target)]


def _sorted_items(node: tree.Expression) -> int | None:
    """How many items `sorted((a, b))` has, where they are written out."""
    match node:
        case tree.Apply(function=tree.Name(name="sorted"), args=(tree.Display(kind=kind) as of,)):
            return None if kind == "set" else len(of.items)
        case _:
            return None


def _one_by_one(
    b: Body, node: tree.Set, both: list[tuple[tree.Expression, tree.Expression]]
) -> list[ir.Stmt]:
    """`a, b = x, y`: all values first, from left to right, then the assignments."""
    values = [expressions.expr(b, value, _type_there(b, target)) for target, value in both]
    for (target, written), value in zip(both, values, strict=True):
        if is_view(written, value) and isinstance(target, tree.Name):
            kept_view(b, target.name, written.place)
    temporaries = [b.temporary(value.type, node.place) for value in values]
    if all(t.immutable(value.type) for value in values):
        whole = t.Tuple(tuple(value.type for value in values))
        packed = ir.Op(node.value.place, whole, "tuple", tuple(values))
        first: list[ir.Stmt] = [_taken_apart(node.place, temporaries, packed)]
    else:
        for (target, _), value in zip(both, values, strict=True):
            _kept(b, target, value)
        first = [
            ir.Assign(value.place, local, value)
            for value, local in zip(values, temporaries, strict=True)
        ]
    return [*first, *_distributed(b, node, [target for target, _ in both], temporaries)]


def _kept(b: Body, target: tree.Expression, value: ir.Expr) -> None:
    """Judge a container that is kept: it is this body's own, and a new local's has a type."""
    own_container(b, value, value.place)
    name = target.name if isinstance(target, tree.Name) else ""
    unknown = t.contains(value.type, t.Unknown) and not _has_refused(value)
    if name and name not in b.locals and unknown:
        _untyped(b, value.place, name, value.type)


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


def _type_there(b: Body, target: tree.Expression) -> t.Type | None:
    """The type of the place that is assigned; None of a new local."""
    if isinstance(target, tree.Name) and target.name not in b.aliases:
        return b.locals.get(target.name)
    kept = len(b.scene.problems.found), b.evaluated
    place = place_of(b, target)
    del b.scene.problems.found[kept[0] :]  # It is resolved, and judged, again.
    b.evaluated = kept[1]
    return None if place is None else place.type


def _distributed(
    b: Body, node: tree.Set, targets: Sequence[tree.Expression], temporaries: Sequence[ir.Local]
) -> list[ir.Stmt]:
    """The assignments of values that locals of our own hold."""
    out: list[ir.Stmt] = []
    for each, local in zip(targets, temporaries, strict=True):
        if isinstance(each, tree.Name):
            place: ir.Expr | None = _unpacked_local(b, each, local)
        else:
            place = place_of(b, each)
        if place is None:
            continue
        if not t.fits(local.type, place.type):
            expressions.misfit(b, node.value.place, local.type, place.type)
        b.replaced(place)
        if isinstance(place, ir.Local) and not t.immutable(place.type):
            b.own(place.name)
        out.append(ir.Assign(node.place, place, local))
    return out


def _unpacked_local(b: Body, each: tree.Name, local: ir.Local) -> ir.Expr | None:
    if names_place(b, each.name):
        b.problem(
            "L206",
            each.place,
            f"{each.name}, which names a place in the state",
            "a local that is assigned once",
            "use another name for this",
        )
        return None
    kind = b.locals.get(each.name) or t.widened(local.type)
    b.bind({each.name: kind})
    return ir.Local(each.place, kind, each.name)


def _augment(b: Body, node: tree.Augment) -> list[ir.Stmt]:
    if (longer := _in_default(b, node)) is not None:
        return longer
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


def _delete(b: Body, node: tree.Delete) -> list[ir.Stmt]:
    found = expressions.expr(b, node.target)
    if isinstance(found, ir.Narrow):
        found = found.of
    match found:
        case ir.Item(of=of) if isinstance(of.type, t.Bag):
            return _set(b, tree.Set(node.place, node.target, tree.Literal(node.place, 0), None))
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
                    "s.discard(x) for a set, self.q = self.q[n:] for a slice",
                )
            return []


def _evaluate(b: Body, node: tree.Evaluate) -> list[ir.Stmt]:
    call = node.value
    if not isinstance(call, tree.Apply):
        b.problem(
            "L102",
            node.place,
            "an expression whose value is not used",
            "a statement",
            "remove it, or assign it",
        )
        return []
    static = b.static(call.function)
    if static is words.require:
        return _require(b, call)
    if static is words.refuse:
        return [ir.Refuse(node.place, _why(b, call, 0))] if _guards_here(b, call.place) else []
    longer = in_place(b, call)
    if longer is not None:
        return [stmt for each in longer for stmt in _longer(b, each)]
    changing = effect(b, call)
    if changing is None:
        found = expressions.expr(b, call)
        if not isinstance(found.type, t.Unknown):
            b.problem(
                "L102",
                node.place,
                "a call whose value is not used",
                "a call that does something",
                "remove it, or assign its value",
            )
        return []
    return [_after(b, changing[1])]


def _after(b: Body, make: Callable[[ir.Expr | None], ir.Stmt]) -> ir.Stmt:
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


def _guards_here(b: Body, place: Place, what: str = "a guard") -> bool:
    if b.mode in ("transition", "initial", "helper"):
        b.changes = True  # Who calls this helper does more than read.
        return True
    b.problem(
        "L208",
        place,
        f"{what} in {a(b.mode)}",
        "an expression that only reads",
        "return a bool instead",
    )
    return False


def _longer(b: Body, node: tree.Statement) -> list[ir.Stmt]:
    """A statement that is written for a call: `q.sort()` changes the place that `q` names."""
    match node:
        case tree.Set(target=tree.Name(name=name) as target, value=given) if name in b.aliases:
            place = expressions.expr(b, target)
            if not is_place(place):
                return _set(b, node)
            if not changeable(b, place, node.place):
                return []
            if in_state(place):
                may_change(b, node.place)
            value = expressions.expr(b, given, place.type)
            b.updated(place)
            return [ir.Assign(node.place, place, value)]
        case _:
            return STATEMENTS[type(node)](b, node)


def _why(b: Body, call: tree.Apply, index: int) -> ir.Expr:
    return expressions.expr(b, call.args[index], t.TEXT)


def _require(b: Body, call: tree.Apply) -> list[ir.Stmt]:
    if not 1 <= len(call.args) <= 2 or call.keywords:
        refused(b, call, "require(condition, why)")
        return []
    if not _guards_here(b, call.place):
        return []
    test = conditions.truth(b, call.args[0])
    why = _why(b, call, 1) if len(call.args) == 2 else None
    b.facts.update(facts_if(test, True))
    return [ir.Require(call.place, test, why)]


def _choose(b: Body, node: tree.Choose) -> list[ir.Stmt]:
    test = conditions.truth(b, node.test)
    before, start = dict(b.facts), b.named()
    b.facts.update(facts_if(test, True))
    then = _inner(b, node.then)
    after_then, b.facts = b.facts, {**before, **facts_if(test, False)}
    ways = [] if ends(then) else [b.named()]
    b.come_together(start, [start])
    other = _inner(b, node.other)
    ways += [] if ends(other) else [b.named()]
    b.come_together(start, ways)
    if ends(then):
        pass
    elif ends(other):
        b.facts = after_then
    else:
        b.facts = {k: v for k, v in b.facts.items() if after_then.get(k) == v}
    return [ir.Branch(node.place, test, then, other)]


def _round(b: Body, node: tree.Each) -> Round:
    over, item = (
        copied(b, node.over)
        or loose_lists.gathered(b, node.over)
        or expressions.iterable(b, node.over)
    )
    return round_of_changed(b, over, node.names, node.body) or round_of(b, over, item, node.names)


def _each(b: Body, node: tree.Each) -> list[ir.Stmt]:
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
    body = _rounds(b, node.body, start)
    (judge_members if in_order is None else judge_sorted)(b, turn, body)
    b.facts, b.steady = facts, steady
    loop = ir.Loop(node.place, names, over, body)
    if not t.ordered(over.type) and not isinstance(over.type, t.Unknown):
        culprit = order_matters(loop, b.scene.functions())
        ended = early_end(loop) if culprit is not None and not before & set(names) else None
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
    return [loop]


def _while(b: Body, node: tree.While) -> list[ir.Stmt]:
    from .short_forms.emptied import emptying  # Few machines have such loops.

    return emptying(b, node, _each)


def _rounds(b: Body, nodes: tuple[tree.Statement, ...], start: Named) -> tuple[ir.Stmt, ...]:
    """The body of a loop before which locals name what they do at `start`."""
    for name in b.moved & tree.assigned_names(nodes):
        b.aliases.pop(name, None)  # In a later round it is another container.
    first, outer, entered = len(b.named_reads), (b.broken, b.continued), b.named()
    b.broken, b.continued = [], []
    older, b.older = b.older, b.older | (b.locals.keys() - b.moved)
    b.loops += 1
    body = _inner(b, nodes)
    b.loops -= 1
    b.older = older
    again = [*b.continued, *([] if ends(body) else [b.named()])]
    replaced = {name for way in again for name in way.dead} - entered.dead
    read_in_rounds(b, b.named_reads[first:], replaced & start.aliases.keys())
    b.come_together(start, [start, *again, *b.broken])
    b.broken, b.continued = outer
    return body


def _leave(b: Body, node: tree.Leave) -> list[ir.Stmt]:
    b.broken.append(b.named())
    return [ir.Break(node.place)]


def _next(b: Body, node: tree.Next) -> list[ir.Stmt]:
    b.continued.append(b.named())
    return [ir.Continue(node.place)]


def _give(b: Body, node: tree.Give) -> list[ir.Stmt]:
    if node.value is None:
        if not t.fits(t.NOTHING, b.output):
            expressions.misfit(b, node.place, t.NOTHING, b.output)
        return [ir.Return(node.place, None)]
    if isinstance(node.value, tree.Apply):
        changing = effect(b, node.value)
        if changing is not None:
            kind, make = changing
            if not t.fits(kind, b.output):
                expressions.misfit(b, node.value.place, kind, b.output)
            if isinstance(kind, t.Nothing):
                return [make(None), ir.Return(node.place, None)]
            local = b.temporary(kind, node.place)
            return [make(local), ir.Return(node.place, read_of(local))]
    value = _of_no_list(b, node.value, given_out(b, node.value))
    own = local_of(value) in b.owned
    if not fresh(value) and not own:
        own_container(b, value, node.value.place)
    return [ir.Return(node.place, value)]


def _claim(b: Body, node: tree.Claim) -> list[ir.Stmt]:
    _guards_here(b, node.place, "an assert")
    test = conditions.truth(b, node.test)
    b.facts.update(facts_if(test, True))
    return [ir.Assert(node.place, test)]


STATEMENTS: dict[type, Callable[[Body, Any], list[ir.Stmt]]] = {
    tree.Set: _set,
    tree.Augment: _augment,
    tree.Delete: _delete,
    tree.Evaluate: _evaluate,
    tree.Choose: _choose,
    tree.Match: lambda b, n: match_statement(b, n, _inner),
    tree.Each: _each,
    tree.While: _while,
    tree.Give: _give,
    tree.Claim: _claim,
    tree.Skip: lambda b, n: [],
    tree.Leave: _leave,
    tree.Next: _next,
}
