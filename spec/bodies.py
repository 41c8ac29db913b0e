"""Statements: `tree` -> typed IR."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from . import exprs, ir, tree, words
from . import types as t
from .cases import match_statement
from .context import Body, root, unpacked
from .effects import effect, may_change
from .errors import Place
from .order import order_matters


def block(b: Body, nodes: Sequence[tree.Statement]) -> tuple[ir.Stmt, ...]:
    """The statements of a block, in order; what a test told holds for the rest of it."""
    out: list[ir.Stmt] = []
    for node in nodes:
        b.hoisted, b.evaluated = [], False
        made = STATEMENTS[type(node)](b, node)
        hoisted, b.hoisted = b.hoisted or [], []
        out += [*hoisted, *made]
    return tuple(out)


def ends(body: Sequence[ir.Stmt]) -> bool:
    """Whether nothing after this block is reached through it."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ir.Branch):
        return ends(last.then) and ends(last.other)
    return isinstance(last, ir.Return | ir.Refuse | ir.Break | ir.Continue)


def _inner(b: Body, nodes: Sequence[tree.Statement]) -> tuple[ir.Stmt, ...]:
    kept = b.hoisted, b.evaluated
    made = block(b, nodes)
    b.hoisted, b.evaluated = kept
    return made


def _set(b: Body, node: tree.Set) -> list[ir.Stmt]:
    target = node.target
    if isinstance(target, tree.Display) and target.kind == "tuple":
        return _unpack(b, node, target)
    if isinstance(target, tree.Name):
        return _local(b, node, target)
    place = place_of(b, target)
    if place is None:
        return []
    if isinstance(node.value, tree.Apply):
        changing = effect(b, node.value)
        if changing is not None:
            return _into(b, node, changing, place)
    value = exprs.expr(b, node.value, place.type)
    _alias(b, value, node.place)
    b.forget(place)
    return [ir.Assign(node.place, place, value)]


def _into(
    b: Body, node: tree.Set, changing: tuple[t.Type, Callable[[ir.Expr | None], ir.Stmt]],
    place: ir.Expr,
) -> list[ir.Stmt]:  # fmt: skip
    """`self.x = self.part.step()`: through a local, for the step may change the place's path."""
    kind, make = changing
    if not t.fits(kind, place.type):
        b.problem("L203", node.place, str(kind), str(place.type), f"give a {place.type}")
    local = b.temporary(kind, node.place)
    b.forget_state()
    return [make(local), ir.Assign(node.place, place, local)]


def _alias(b: Body, value: ir.Expr, place: Place) -> None:
    if not t.immutable(value.type) and isinstance(value, ir.Field | ir.Item | ir.Local | ir.Narrow):
        b.problem(
            "L211", place, f"a {value.type} that stands elsewhere too", "a container of its own",
            "write set(...), list(...), dict(...) or .copy() round it",
        )  # fmt: skip


def _local(b: Body, node: tree.Set, target: tree.Name) -> list[ir.Stmt]:
    wanted = b.locals.get(target.name)
    if node.annotation is not None:
        wanted = b.scene.annotation(node.annotation, node.place, b.names)
    if target.name in b.aliases:
        b.problem(
            "L206", node.place, target.name, "a local that is assigned once",
            "a local that names a place in the state keeps naming it: use another name",
        )  # fmt: skip
        return []
    if isinstance(node.value, tree.Apply):
        changing = effect(b, node.value)
        if changing is not None:
            kind, make = changing
            b.locals[target.name] = wanted or _widened(kind)
            b.forget_state()
            return [make(ir.Local(target.place, b.locals[target.name], target.name))]
    value = exprs.expr(b, node.value, wanted)
    if not t.immutable(value.type) and isinstance(root(value), ir.Self):
        if isinstance(value, ir.Field | ir.Item):
            return _name_place(b, target, value)
    kind = wanted or _widened(value.type)
    b.locals[target.name] = kind
    local = ir.Local(target.place, kind, target.name)
    b.forget(local)
    if isinstance(kind, t.Union) and value.type != kind:
        b.facts[local] = value.type
    return [ir.Assign(node.place, local, value)]


def _name_place(b: Body, target: tree.Name, value: ir.Expr) -> list[ir.Stmt]:
    """A local that names a mutable place: every use of it is a use of the place."""
    out: list[ir.Stmt] = []

    def pinned(path: ir.Expr) -> ir.Expr:
        match path:
            case ir.Field(of=of):
                return dataclasses.replace(path, of=pinned(of))
            case ir.Item(of=of, key=key):
                if not isinstance(key, ir.Const):
                    local = b.temporary(key.type, key.place)
                    out.append(ir.Assign(key.place, local, key))
                    key = local
                return dataclasses.replace(path, of=pinned(of), key=key)
            case _:
                return path

    b.aliases[target.name] = pinned(value)
    return out


def _widened(kind: t.Type) -> t.Type:
    """Values in the middle of a body are plain integers."""
    return t.INT if isinstance(kind, t.Int) else kind


def _unpack(b: Body, node: tree.Set, target: tree.Display) -> list[ir.Stmt]:
    value = exprs.expr(b, node.value)
    items = value.type.items if isinstance(value.type, t.Tuple) else ()
    if len(items) != len(target.items):
        if not isinstance(value.type, t.Unknown):
            b.problem(
                "L203", node.place, str(value.type), f"a tuple of {len(target.items)}",
                "assign a tuple with as many items as there are names",
            )  # fmt: skip
        return []
    temporaries = [b.temporary(kind, node.place) for kind in items]
    out: list[ir.Stmt] = [ir.Unpack(node.place, tuple(x.name for x in temporaries), value)]
    for each, local in zip(target.items, temporaries, strict=True):
        if isinstance(each, tree.Name):
            kind = b.locals.setdefault(each.name, _widened(local.type))
            place: ir.Expr | None = ir.Local(each.place, kind, each.name)
        else:
            place = place_of(b, each)
        if place is not None:
            b.forget(place)
            out.append(ir.Assign(node.place, place, local))
    return out


def place_of(b: Body, node: tree.Expression) -> ir.Expr | None:
    """An assignable place; a problem and None where it is not."""
    with b.knowing({}):
        b.facts = {}  # A place is assigned at its declared type, whatever is known of it.
        kept = b.evaluated
        found = exprs.expr(b, node)
        b.evaluated = kept
    if isinstance(found.type, t.Unknown):
        return None
    ok = True
    match found:
        case ir.Field(of=of, name=name):
            shape = b.shape(of.type)
            if shape is None or shape is not b.scene.own or name in shape.fixed:
                what = "a parameter" if shape is not None and name in shape.fixed else str(of.type)
                ok = _unassignable(b, found.place, f"{name} of {what}")
            elif isinstance(found.type, t.Part | t.Timer):
                ok = _unassignable(b, found.place, f"a {found.type}")
        case ir.Item(of=of):
            if not isinstance(of.type, t.Map | t.Seq | t.Bag):
                ok = _unassignable(b, found.place, f"an item of a {of.type}")
            elif not getattr(of.type, "mutable", True):
                ok = _unassignable(b, found.place, f"an item of a {of.type}")
        case _:
            ok = _unassignable(b, node.place, "this expression")
    if ok and isinstance(root(found), ir.Self):
        may_change(b, node.place)
    return found if ok else None


def _unassignable(b: Body, place: Place, found: str) -> bool:
    b.problem(
        "L206", place, found, "a variable of this machine, or an item of its map or list",
        "change a part by its transitions, a record by replace(...)",
    )  # fmt: skip
    return False


def _augment(b: Body, node: tree.Augment) -> list[ir.Stmt]:
    if isinstance(node.target, tree.Name) and node.target.name not in b.aliases:
        if node.target.name not in b.locals:
            exprs.expr(b, node.target)
            return []
        kind = b.locals[node.target.name]
        place: ir.Expr | None = ir.Local(node.target.place, kind, node.target.name)
    else:
        place = place_of(b, node.target)
    if place is None:
        return []
    kept = b.evaluated
    value = exprs.expr(b, node.value, place.type if isinstance(place.type, t.Seq) else None)
    b.evaluated = kept
    result = exprs.binary(b, node.place, node.op, (place, value))
    b.forget(place)
    return [ir.Assign(node.place, place, result)]


def _delete(b: Body, node: tree.Delete) -> list[ir.Stmt]:
    found = exprs.expr(b, node.target)
    if isinstance(found, ir.Narrow):
        found = found.of
    match found:
        case ir.Item(of=of, key=key) if isinstance(of.type, t.Map) and of.type.mutable:
            if of.type.total:
                b.problem(
                    "L206", node.place, "a key removed from a total map",
                    "a map that keeps every key", "assign the value that means absent",
                )  # fmt: skip
            may_change(b, node.place)
            b.forget(of)
            return [ir.Update(node.place, of, "delete", (key,), None)]
        case _:
            if not isinstance(found.type, t.Unknown):
                _unassignable(b, node.place, "del of this")
            return []


def _evaluate(b: Body, node: tree.Evaluate) -> list[ir.Stmt]:
    call = node.value
    if not isinstance(call, tree.Apply):
        b.problem(
            "L102", node.place, "an expression whose value is not used", "a statement",
            "remove it, or assign it",
        )  # fmt: skip
        return []
    static = b.static(call.function)
    if static is words.require:
        return _require(b, call)
    if static is words.refuse:
        return [ir.Refuse(node.place, _why(b, call, 0))] if _guards_here(b, call) else []
    changing = effect(b, call)
    if changing is None:
        found = exprs.expr(b, call)
        if not isinstance(found.type, t.Unknown):
            b.problem(
                "L102", node.place, "a call whose value is not used", "a call that does something",
                "remove it, or assign its value",
            )  # fmt: skip
        return []
    made = changing[1](None)
    if isinstance(made, ir.Update):
        b.forget(made.target)
    else:
        b.forget_state()
    return [made]


def _guards_here(b: Body, call: tree.Apply) -> bool:
    if b.mode in ("transition", "initial", "helper"):
        return True
    b.problem(
        "L208", call.place, f"a guard in a {b.mode}", "guards in transitions", "return a bool"
    )
    return False


def _why(b: Body, call: tree.Apply, index: int) -> ir.Expr:
    return exprs.expr(b, call.args[index], t.TEXT)


def _require(b: Body, call: tree.Apply) -> list[ir.Stmt]:
    if not 1 <= len(call.args) <= 2 or call.keywords:
        b.problem("L204", call.place, "these arguments", "require(condition, why)", "give both")
        return []
    if not _guards_here(b, call):
        return []
    test = exprs.truth(b, call.args[0])
    why = _why(b, call, 1) if len(call.args) == 2 else None
    b.facts.update(exprs.facts_if(test, True))
    return [ir.Require(call.place, test, why)]


def _choose(b: Body, node: tree.Choose) -> list[ir.Stmt]:
    test = exprs.truth(b, node.test)
    before = dict(b.facts)
    b.facts.update(exprs.facts_if(test, True))
    then = _inner(b, node.then)
    after_then, b.facts = b.facts, {**before, **exprs.facts_if(test, False)}
    other = _inner(b, node.other)
    if ends(then):
        pass
    elif ends(other):
        b.facts = after_then
    else:
        b.facts = {k: v for k, v in b.facts.items() if after_then.get(k) == v}
    return [ir.Branch(node.place, test, then, other)]


def _each(b: Body, node: tree.Each) -> list[ir.Stmt]:
    over, item = exprs.iterable(b, node.over)
    bound = unpacked(item, node.names)
    if bound is None:
        b.problem(
            "L203", node.place, f"{len(node.names)} names for a {item}",
            "one name, or as many as the tuple has items", "unpack tuples only",
        )  # fmt: skip
        bound = dict.fromkeys(node.names, t.Unknown())
    b.locals.update(bound)
    b.facts = {}  # What a round changes is not known when the next one begins.
    body = _inner(b, node.body)
    b.facts = {}
    loop = ir.Loop(node.place, node.names, over, body)
    if not t.ordered(over.type) and not isinstance(over.type, t.Unknown):
        culprit = order_matters(loop, b.scene.functions())
        if culprit is not None:
            exprs.unordered(b, culprit, "a loop over an unordered collection that shows its order")
    return [loop]


def _give(b: Body, node: tree.Give) -> list[ir.Stmt]:
    if node.value is None:
        return [ir.Return(node.place, None)]
    if isinstance(b.output, t.Nothing) and not isinstance(node.value, tree.Literal):
        b.problem(
            "L203", node.place, "a value returned", "no output",
            "annotate what is returned: -> Nat",
        )  # fmt: skip
        return []
    if isinstance(node.value, tree.Apply):
        changing = effect(b, node.value)
        if changing is not None:
            kind, make = changing
            if not t.fits(kind, b.output):
                b.problem("L203", node.place, str(kind), str(b.output), f"give a {b.output}")
            if isinstance(kind, t.Nothing):
                return [make(None), ir.Return(node.place, None)]
            local = b.temporary(kind, node.place)
            return [make(local), ir.Return(node.place, local)]
    return [ir.Return(node.place, exprs.expr(b, node.value, b.output))]


def _claim(b: Body, node: tree.Claim) -> list[ir.Stmt]:
    test = exprs.truth(b, node.test)
    b.facts.update(exprs.facts_if(test, True))
    return [ir.Assert(node.place, test)]


STATEMENTS: dict[type, Callable[[Body, Any], list[ir.Stmt]]] = {
    tree.Set: _set,
    tree.Augment: _augment,
    tree.Delete: _delete,
    tree.Evaluate: _evaluate,
    tree.Choose: _choose,
    tree.Match: lambda b, n: match_statement(b, n, _inner),
    tree.Each: _each,
    tree.Give: _give,
    tree.Claim: _claim,
    tree.Skip: lambda b, n: [],
    tree.Leave: lambda b, n: [ir.Break(n.place)],
    tree.Next: lambda b, n: [ir.Continue(n.place)],
}
