"""Mutants that undo a narrowing: `self.n + 1` after the `require(self.n is not None)` was dropped.

Such a mutant is no machine: a declaration with this text is refused, since the type of what is read
does not fit. `ir.Narrow` says which values were narrowed; here is worked out, with the rules of
`spec.resolve`, whether tests and assignments before it still say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.places import holder, is_place, mentions, root
from lawful.spec.analysis.walk import children, ends, statements, written
from lawful.spec.errors import Place

Facts = Mapping[ir.Expr, t.Type]
Unfounded = tuple[Place, ir.Narrow]


def unfounded(machine: ir.Machine) -> frozenset[Unfounded]:
    """The narrowings in the bodies of a machine and its parts that nothing before them says."""
    found = set[Unfounded]()
    for owner in (machine, *machine.parts):
        rows = (*owner.transitions, *owner.bases)
        late = (each.when for each in owner.ignores if each.when is not None)
        bodies = (*(row.function for row in rows), *owner.initials, *owner.functions, *late)
        for function in bodies:
            _Walk(found).block(function.body, {})
    return frozenset(found)


class _Walk:
    """Goes through a body with what is known of places, and adds to `found`.

    `subjects`: of the local that holds the subject of a `match` the place from which it was read.
    """

    def __init__(self, found: set[Unfounded]) -> None:
        self.found = found
        self.subjects: dict[ir.Expr, ir.Expr] = {}

    def block(self, body: Iterable[ir.Stmt], facts: Facts) -> Facts:
        """What is known after the statements."""
        for stmt in body:
            facts = self.statement(stmt, facts)
            if ends(_taken(stmt)):
                break
        return facts

    def statement(self, stmt: ir.Stmt, facts: Facts) -> Facts:
        """What is known after the statement."""
        match stmt:
            case ir.Branch(test=test, then=then, other=other):
                self.expr(test, facts)
                if isinstance(test, ir.Const):  # The other block is never run.
                    return self.block(_taken(stmt), facts)
                first = self.block(then, self.known(test, True, facts))
                second = self.block(other, self.known(test, False, facts))
                if ends(then):
                    return second
                if ends(other):
                    return first
                return _either(first, second)
            case ir.Loop(over=over, body=body):
                self.expr(over, facts)
                kept = dict(_steady(facts, stmt))
                self.block(body, kept)
                return kept
            case ir.Require(test=test) | ir.Assert(test=test):
                self.inside(stmt, facts)
                return self.known(test, True, facts)
            case _:
                self.inside(stmt, facts)
                if isinstance(stmt, ir.Assign) and is_place(stmt.value):
                    self.subjects[stmt.target] = stmt.value
                return _after(stmt, facts)

    def inside(self, node: ir.Node, facts: Facts) -> None:
        """The expressions of a node, each with the same facts."""
        for each in children(node):
            if isinstance(each, ir.Expr):
                self.expr(each, facts)

    def expr(self, e: ir.Expr, facts: Facts) -> None:
        """An expression, with what is known where it begins."""
        match e:
            case ir.And(args=args) | ir.Or(args=args):
                for arg in args:
                    self.expr(arg, facts)
                    facts = self.known(arg, isinstance(e, ir.And), facts)
            case ir.If(test=test, then=then, other=other):
                self.expr(test, facts)
                self.expr(then, self.known(test, True, facts))
                self.expr(other, self.known(test, False, facts))
            case ir.Comp(element=element, key=key, clauses=clauses):
                for clause in clauses:
                    self.expr(clause.over, facts)
                    for condition in clause.conditions:
                        self.expr(condition, facts)
                        facts = self.known(condition, True, facts)
                for each in (element, key):
                    if each is not None:
                        self.expr(each, facts)
            case ir.Narrow(of=of, type=kind):
                fact = facts.get(of)
                if fact is None or not {*t.options(fact)} <= {*t.options(kind)}:
                    self.found.add((e.place, e))
                self.inside(e, facts)
            case _:
                self.inside(e, facts)

    def known(self, test: ir.Expr, outcome: bool, facts: Facts) -> Facts:
        """What is known where the test has this outcome."""
        match test:
            case ir.Op(op="not", args=(of,)):
                return self.known(of, not outcome, facts)
            case ir.And(args=args) | ir.Or(args=args):
                every = isinstance(test, ir.And)
                ended: Facts | None = None
                for arg in args:
                    if outcome != every:
                        one = self.known(arg, outcome, facts)
                        ended = one if ended is None else _either(ended, one)
                    facts = self.known(arg, every, facts)
                return facts if ended is None else ended
            case ir.IsA(of=of, options=wanted):
                inner = of.of if isinstance(of, ir.Narrow) else of
                now = facts.get(inner, inner.type)
                left = tuple(each for each in t.options(now) if (each in wanted) == outcome)
                if not left or not is_place(inner):
                    return facts
                both = (inner, self.subjects.get(inner, inner))
                return {**facts, **dict.fromkeys(both, t.union(left))}
            case _:
                return facts


def _taken(stmt: ir.Stmt) -> tuple[ir.Stmt, ...]:
    """The block that a branch always takes, because its test is a constant."""
    if isinstance(stmt, ir.Branch) and isinstance(stmt.test, ir.Const):
        return stmt.then if stmt.test.value else stmt.other
    return ()


def _either(first: Facts, second: Facts) -> Facts:
    """What is known where either came before."""
    both = first.keys() & second.keys()
    return {place: t.union((first[place], second[place])) for place in both}


def _after(stmt: ir.Stmt, facts: Facts) -> Facts:
    """What is known after a statement that is neither a test nor a loop."""
    if isinstance(stmt, ir.Step | ir.Base | ir.Do):
        facts = {place: fact for place, fact in facts.items() if isinstance(place, ir.Local)}
    changed: list[Any] = [holder(place) for place in written(stmt)]
    if isinstance(stmt, ir.Unpack):
        changed += [ir.Local(stmt.place, t.Unknown(), name) for name in stmt.names]
    facts = {
        place: fact
        for place, fact in facts.items()
        if not any(mentions(place, each) for each in changed)
    }
    match stmt:
        case ir.Assign(target=target, value=ir.Expr(type=kind)) if target.type != kind:
            return {**facts, target: kind}
        case ir.Assign(target=target, value=ir.Local() | ir.Field() as value) if value in facts:
            return {**facts, target: facts[value]}
        case _:
            return facts


def _steady(facts: Facts, loop: ir.Loop) -> Iterator[tuple[ir.Expr, t.Type]]:
    """The facts about locals that no round of the loop changes."""
    changed = set(loop.names)
    for stmt in statements(loop.body):
        rows = (root(place) for place in written(stmt))
        changed |= {each.name for each in rows if isinstance(each, ir.Local)}
        changed |= {*stmt.names} if isinstance(stmt, ir.Unpack | ir.Loop) else set()
    for place, fact in facts.items():
        base = root(place)
        if isinstance(base, ir.Local) and base.name not in changed:
            yield place, fact
