"""Comprehensions, quantifiers and folds in TLA+."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t

from .collections import as_sequence, as_set, is_sequence, not_empty
from .operators import least
from .terms import Check, Checks, Env, Expression, Writer, unwritten


@dataclass(frozen=True)
class BoundClause:
    """A clause in TLA+: a bound name over a set, with the conditions on it."""

    name: str
    over: str
    env: Env
    test: str | None
    checks: Checks  # Of the conditions, for each value of the name.
    before: Checks  # Of the iterable.
    tested: str  # The set of values that meet the conditions.


def comprehension(w: Writer, e: ir.Comp, env: Env) -> Expression:
    """The comprehension. Raises CannotWrite where its result depends on an order of evaluation."""
    checks = _checks(w, e, env)
    match e.kind:
        case "all" | "any" | "set" | "min" | "max":
            return _of_set(w, e, env, checks)
        case "sum":
            return Expression(_sum(w, e, env, 0), checks)
        case "map":
            return Expression(_map(w, e, env), checks)
        case "list" | "tuple":
            return Expression(_sequence(w, e, e.element, env, 0), checks)
        case _:
            return Expression(_sequence(w, e, e.element, env, 0), checks)


def bind(env: Env, names: tuple[str, ...], text: str) -> Env:
    """The environment in which the loop's names stand for the element `text`."""
    if len(names) == 1:
        return env.having(names[0], text)
    for i, name in enumerate(names, 1):
        env = env.having(name, f"{text}[{i}]")
    return env


def _bound_clause(w: Writer, c: ir.Clause, env: Env, *, places: bool = False) -> BoundClause:
    """A clause over the elements, or over their indices with `places`, to count equal ones."""
    over, base, known, before = _bound(w, c, env, places)
    name = w.names.fresh(base)
    inner = known(name)
    test, checks = _tested(w, c, inner)
    if test is None:
        return BoundClause(name, over, inner, test, checks, before, over)
    # TLA+ does not allow a name to be bound again inside the set over which it is bound.
    other = w.names.fresh(base)
    again, _ = _tested(w, c, known(other))
    return BoundClause(
        name, over, inner, test, checks, before, f"{{{other} \\in {over} : {again}}}"
    )


Known = Callable[[str], Env]


def _bound(w: Writer, c: ir.Clause, env: Env, places: bool) -> tuple[str, str, Known, Checks]:
    """The set, a name for its elements, and the environment in which an element has a name."""
    match c.over:
        case ir.Op(op="items" | "values" as op, args=(of,)):
            text, before = w.expr(of, env)
            known = _of_items if op == "items" else _of_values
            return f"DOMAIN {text}", "k", lambda name: known(env, c.names, text, name), before
        case _ if places and is_sequence(c.over):
            text, before = w.expr(c.over, env)
            return (
                f"DOMAIN {text}",
                "i",
                lambda name: _of_values(env, c.names, text, name),
                before,
            )
        case _:
            over, before = as_set(w, c.over, env)
            base = c.names[0] if len(c.names) == 1 else "x"
            return over, base, lambda name: bind(env, c.names, name), before


def _of_values(env: Env, names: tuple[str, ...], text: str, at: str) -> Env:
    return bind(env, names, f"{text}[{at}]")


def _of_items(env: Env, names: tuple[str, ...], text: str, at: str) -> Env:
    if len(names) == 1:
        return env.having(names[0], f"<<{at}, {text}[{at}]>>")
    return env.having(names[0], at).having(names[1], f"{text}[{at}]")


def _tested(w: Writer, c: ir.Clause, env: Env) -> tuple[str | None, Checks]:
    if not c.conditions:
        return None, ()
    both = ir.And(c.place, t.BOOL, c.conditions)
    expression = w.expr(c.conditions[0] if len(c.conditions) == 1 else both, env)
    return expression.text, expression.checks


# Checks: that every expression that Python evaluates has a value.


def _checks(w: Writer, e: ir.Comp, env: Env) -> Checks:
    """The checks of a comprehension; CannotWrite where two outcomes of checks would compete."""
    checks = _inside(w, e, env, 0)
    if len({c.out for c in checks}) > 1:
        raise unwritten(
            e, "needed() together with an operation that may be undefined, in one comprehension,"
        )
    return checks


def _inside(w: Writer, e: ir.Comp, env: Env, at: int) -> Checks:
    clause = e.clauses[at]
    stops = e.kind in ("all", "any", "first") and all(t.ordered(c.over.type) for c in e.clauses)
    row = _bound_clause(w, clause, env, places=stops)
    last = at + 1 == len(e.clauses)
    inner = _element_checks(w, e, row.env) if last else _inside(w, e, row.env, at + 1)
    wanted = [*row.checks, *_given(row.test, inner)]
    if not wanted:
        return row.before
    if stops and not last:
        raise unwritten(e, f"{e.kind}() over several lists that may be undefined")
    early = _unless_stopped(w, e, clause, env) if stops else None
    found = [
        Check(f"(\\A {row.name} \\in {row.over} : {_if_asked(row.name, early, c.text)})", c.out)
        for c in wanted
    ]
    return (*row.before, *found)


def _given(test: str | None, checks: Checks) -> Checks:
    return checks if test is None else tuple(Check(f"({test} => {c.text})", c.out) for c in checks)


def _element_checks(w: Writer, e: ir.Comp, env: Env) -> Checks:
    key = () if e.key is None else w.expr(e.key, env).checks
    return (*key, *w.expr(e.element, env).checks)


def _unless_stopped(w: Writer, e: ir.Comp, clause: ir.Clause, env: Env) -> Callable[[str], str]:
    """The condition that no earlier element of a list decided the outcome."""
    row = _bound_clause(w, clause, env, places=True)
    decides = {"all": "~", "any": "", "first": ""}[e.kind]
    found = "TRUE" if e.kind == "first" else f"{decides}{w.expr(e.element, row.env).text}"
    stop = found if row.test is None else f"({row.test} /\\ {found})"
    return lambda name: f"(\\A {row.name} \\in 1..({name} - 1) : ~({stop}))"


def _if_asked(name: str, early: Callable[[str], str] | None, text: str) -> str:
    return text if early is None else f"({early(name)} => {text})"


# Values.


def _of_set(w: Writer, e: ir.Comp, env: Env, checks: Checks) -> Expression:
    if e.kind in ("all", "any"):
        return Expression(_quantified(w, e, env, 0), checks)
    text = _set(w, e, env, 0)
    if e.kind == "set":
        return Expression(text, checks)
    found = least(w, text, e.element.type, e.kind)
    return Expression(found, (*checks, not_empty(text, "{}")))


def _quantified(w: Writer, e: ir.Comp, env: Env, at: int) -> str:
    row = _bound_clause(w, e.clauses[at], env)
    last = at + 1 == len(e.clauses)
    inner = w.expr(e.element, row.env).text if last else _quantified(w, e, row.env, at + 1)
    sign, link = ("\\A", "=>") if e.kind == "all" else ("\\E", "/\\")
    inner = inner if row.test is None else f"({row.test} {link} {inner})"
    return f"({sign} {row.name} \\in {row.over} : {inner})"


def _set(w: Writer, e: ir.Comp, env: Env, at: int) -> str:
    row = _bound_clause(w, e.clauses[at], env)
    if at + 1 < len(e.clauses):
        return f"(UNION {{{_set(w, e, row.env, at + 1)} : {row.name} \\in {row.tested}}})"
    element = w.expr(e.element, row.env).text
    if element == row.name:
        return row.tested
    return f"{{{element} : {row.name} \\in {row.tested}}}"


def _sum(w: Writer, e: ir.Comp, env: Env, at: int) -> str:
    row = _bound_clause(w, e.clauses[at], env, places=True)
    last = at + 1 == len(e.clauses)
    inner = w.expr(e.element, row.env).text if last else _sum(w, e, row.env, at + 1)
    return f"Sum({row.tested}, LAMBDA {row.name} : {inner})"


def _map(w: Writer, e: ir.Comp, env: Env) -> str:
    assert e.key is not None
    if all(t.ordered(c.over.type) for c in e.clauses):
        pair = ir.Op(e.place, t.Tuple((e.key.type, e.element.type)), "tuple", (e.key, e.element))
        return f"FromPairs(<<>>, {_sequence(w, e, pair, env, 0)})"
    row = _bound_clause(w, e.clauses[0], env)
    if len(e.clauses) > 1:
        raise unwritten(e, "a map over several collections without an order")
    key, element = w.expr(e.key, row.env).text, w.expr(e.element, row.env).text
    if key == row.name:
        return f"[{row.name} \\in {row.tested} |-> {element}]"
    pair_, one = w.names.fresh("p"), w.names.fresh("k")
    pairs = f"{{<<{key}, {element}>> : {row.name} \\in {row.tested}}}"
    keys = f"{{{pair_}[1] : {pair_} \\in {pairs}}}"
    return f"[{one} \\in {keys} |-> (CHOOSE {pair_} \\in {pairs} : {pair_}[1] = {one})[2]]"


def _sequence(w: Writer, e: ir.Comp, element: ir.Expr, env: Env, at: int) -> str:
    clause = e.clauses[at]
    text = as_sequence(w, clause.over, env).text
    name = w.names.fresh(clause.names[0] if len(clause.names) == 1 else "x")
    inner = bind(env, clause.names, name)
    test, _ = _tested(w, clause, inner)
    if test is not None:
        text = f"SelectSeq({text}, LAMBDA {name} : {test})"
    if at + 1 < len(e.clauses):
        return f"Flat(MapSeq({text}, LAMBDA {name} : {_sequence(w, e, element, inner, at + 1)}))"
    made = w.expr(element, inner).text
    return text if made == name else f"MapSeq({text}, LAMBDA {name} : {made})"
