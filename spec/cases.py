"""`match`: over enums, literals and record classes; it becomes a chain of branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import exprs, ir, tree
from . import types as t
from .context import MISSING, Body
from .facts import facts_if

Block = Callable[[Body, Sequence[tree.Statement]], tuple[ir.Stmt, ...]]


def match_statement(b: Body, node: tree.Match, block: Block) -> list[ir.Stmt]:
    """The statements of a `match`; the subject is evaluated once, into a local of our own."""
    value = exprs.expr(b, node.subject)
    subject = b.temporary(value.type, node.subject.place)
    chain: list[tuple[tree.Case, ir.Expr, tuple[ir.Stmt, ...]]] = []
    before = dict(b.facts)
    kept = dict(b.aliases)
    for case in node.cases:
        tests = [_pattern(b, pattern, exprs.narrowed(b, subject)) for pattern in case.patterns]
        test = tests[0] if len(tests) == 1 else ir.Or(case.place, t.BOOL, tuple(tests))
        otherwise = {**b.facts, **facts_if(test, False)}
        b.facts.update(facts_if(test, True))
        if case.guard is not None:
            guard = exprs.truth(b, case.guard)
            otherwise = dict(b.facts)
            test = ir.And(case.place, t.BOOL, (test, guard))
        chain.append((case, test, block(b, case.body)))
        b.facts, b.aliases = otherwise, dict(kept)
    b.facts = {k: v for k, v in before.items() if isinstance(k, ir.Local)}
    rest: tuple[ir.Stmt, ...] = ()
    for case, test, body in reversed(chain):
        rest = (ir.Branch(case.place, test, body, rest),)
    return [ir.Assign(node.place, subject, value), *rest]


def _pattern(b: Body, pattern: tree.Pattern, subject: ir.Expr) -> ir.Expr:
    """The test that a pattern is; what it captures becomes another name of that value."""
    if pattern.capture is not None:
        b.aliases[pattern.capture] = subject
    if pattern.cls is not None:
        return _class(b, pattern, subject)
    if pattern.value is None:
        return ir.Const(pattern.place, t.BOOL, True)
    value = exprs.expr(b, pattern.value)
    if isinstance(value.type, t.Nothing):
        return ir.IsA(pattern.place, t.BOOL, subject, (t.NOTHING,))
    if not t.fits(value.type, subject.type):
        b.problem("L203", pattern.place, str(value.type), str(subject.type), "match what can be")
    return ir.Op(pattern.place, t.BOOL, "eq", (subject, value))


def _class(b: Body, pattern: tree.Pattern, subject: ir.Expr) -> ir.Expr:
    assert pattern.cls is not None
    static = b.static(pattern.cls)
    kind = t.Unknown() if static is MISSING else b.scene.annotation(static, pattern.place, b.names)
    if not isinstance(kind, t.Record):
        b.problem("L203", pattern.place, "this class", "a record class", "match records by class")
        return b.wrong(pattern.place)
    tests: list[ir.Expr] = [ir.IsA(pattern.place, t.BOOL, subject, (kind,))]
    if subject.type != kind and isinstance(subject, ir.Narrow):
        subject = subject.of
    narrow = subject if subject.type == kind else ir.Narrow(pattern.place, kind, subject)
    names = [name for name, _ in kind.fields]
    given = [*zip(names, pattern.positional, strict=False), *pattern.keyword]
    for name, patterns in given:
        if name not in names:
            b.problem("L205", pattern.place, name, f"one of {', '.join(names)}", "correct the name")
            continue
        field = ir.Field(pattern.place, dict(kind.fields)[name], narrow, name)
        inner = [_pattern(b, each, field) for each in patterns]
        tests.append(inner[0] if len(inner) == 1 else ir.Or(pattern.place, t.BOOL, tuple(inner)))
    wanted = [test for test in tests if not _always(test)]
    return tests[0] if len(wanted) <= 1 else ir.And(pattern.place, t.BOOL, tuple(wanted))


def _always(test: ir.Expr) -> bool:
    return isinstance(test, ir.Const) and test.value is True
