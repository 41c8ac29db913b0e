"""Statements: `tree` -> typed IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ... import ir, words
from ... import types as t
from ...analysis.places import in_state, is_place, local_of
from ...analysis.walk import ends
from ...errors import Place, a
from ...syntax import tree
from .. import conditions, expressions
from ..aliasing import changeable, fresh, own_container
from ..changing_calls import effect, may_change
from ..context import Body, facts_if, known_of_all, read_of
from ..methods import refused
from ..short_forms import later_types
from ..short_forms.given_out import given_out
from ..short_forms.in_place_methods import cut, in_default, in_place, named_default
from .assignments import after, assign, assign_local, augment, delete, of_no_list


def block(b: Body, nodes: Sequence[tree.Statement]) -> tuple[ir.Stmt, ...]:
    """The statements of a block, in order; facts from a test hold for the rest of it."""
    out: list[ir.Stmt] = []
    for at, node in enumerate(nodes):
        b.hoisted, b.evaluated = [], ()
        if at + 1 < len(nodes) and _looks_up(node):
            from ..short_forms.looked_up import with_places  # Few bodies look anything up.

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
    if (named := named_default(b, node.value)) is not None:
        return [*_all(b, named[0]), *_set(b, replace(node, value=named[1]))]
    if (longer := in_default(b, node)) is not None:
        return _all(b, longer)
    if (whole := cut(b, node)) is not None:
        return [stmt for each in whole for stmt in _longer(b, each)]
    match node.target:
        case tree.Display(kind="tuple" | "list") as target:
            from .unpacking import unpack  # Few bodies assign several targets.

            each = later_types.apart(node)
            return _all(b, each) if each else unpack(b, node, target)
        case tree.Name() as target:
            return assign_local(b, node, target)
        case _:
            return assign(b, node)


def _delete(b: Body, node: tree.Delete) -> list[ir.Stmt]:
    whole = cut(b, node)
    if whole is None:
        return delete(b, node)
    return [stmt for each in whole for stmt in _longer(b, each)]


def _augment(b: Body, node: tree.Augment) -> list[ir.Stmt]:
    longer = in_default(b, node)
    return augment(b, node) if longer is None else _all(b, longer)


def _all(b: Body, nodes: Sequence[tree.Statement]) -> list[ir.Stmt]:
    """The longer statements that one is short for."""
    return [stmt for each in nodes for stmt in STATEMENTS[type(each)](b, each)]


def _unless_none(node: tree.Expression) -> tuple[tree.Statement, ...]:
    """A side of `q.remove(x) if x in q else None`, as a statement of its own."""
    nothing = isinstance(node, tree.Literal) and node.value is None
    return () if nothing else (tree.Evaluate(node.place, node),)


def _evaluate(b: Body, node: tree.Evaluate) -> list[ir.Stmt]:
    call = node.value
    if isinstance(call, tree.Conditional):
        sides = (_unless_none(call.then), _unless_none(call.other))
        return _longer(b, tree.Choose(node.place, call.test, *sides))
    if not isinstance(call, tree.Apply):
        b.problem(
            "L102",
            node.place,
            "an expression whose value is not used",
            "a statement",
            "write a loop: for x in s: ..."
            if isinstance(call, tree.Comprehension)
            else "remove it, or assign it",
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
    return [after(b, changing[1])]


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
        case tree.Set(target=tree.Name(name=name) as target) if name in b.locals:
            own = ir.Local(target.place, b.locals[name], name)
            return _set(b, node) if changeable(b, own, node.place) else []
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
    if why is not None and isinstance(test, ir.Const) and test.value is False:
        return [ir.Refuse(call.place, why)]
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
        b.facts = known_of_all((b.facts, after_then))
    return [ir.Branch(node.place, test, then, other)]


# A machine whose methods have no loop and no `match` does not wait for their modules.


def _match(b: Body, node: tree.Match) -> list[ir.Stmt]:
    from .matching import match_statement

    return match_statement(b, node, _inner)


def _each(b: Body, node: tree.Each) -> list[ir.Stmt]:
    from .rounds import loop

    return loop(b, node, _inner)


def _while(b: Body, node: tree.While) -> list[ir.Stmt]:
    from .rounds import while_loop

    return while_loop(b, node, _inner)


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
    value = of_no_list(b, node.value, given_out(b, node.value))
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
    tree.Match: _match,
    tree.Each: _each,
    tree.While: _while,
    tree.Give: _give,
    tree.Claim: _claim,
    tree.Skip: lambda b, n: [],
    tree.Leave: _leave,
    tree.Next: _next,
}
