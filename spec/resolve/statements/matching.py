"""`match`: over enums, literals and record classes; it becomes a chain of branches."""

from __future__ import annotations

from ... import ir
from ... import types as t
from ...analysis.places import is_place
from ...analysis.walk import ends
from ...errors import Place, a, nearest
from ...legal.texts import NO_TEXT
from ...syntax import tree
from .. import conditions, expressions
from ..context import MISSING, Block, Body, Named, facts_if
from ..declared.serials import declared
from .list_patterns import Lengths, is_certain, list_test, of_list


def match_statement(b: Body, node: tree.Match, block: Block) -> list[ir.Stmt]:
    """The statements of a `match`; the subject is evaluated once, into a local of our own."""
    value = expressions.expr(b, node.subject)
    whole = conditions.widest(value)  # A case of what is known not to be there is never taken.
    subject = b.temporary(whole.type, node.subject.place)
    if whole is not value:
        b.facts[subject] = value.type
    chain: list[tuple[tree.Case, ir.Expr, tuple[ir.Stmt, ...]]] = []
    before, start, ways = dict(b.facts), b.named(), list[Named]()
    left = _Left(value.type)
    for case in node.cases:
        b.come_together(start, [start])
        _own_names(b, case)
        test = _alternatives(b, case.place, case.patterns, expressions.narrowed(b, subject))
        if case.guard is None:
            left.take(test, subject)
        otherwise = {**b.facts, **_of_both(facts_if(test, False), subject, value)}
        b.facts.update(_of_both(facts_if(test, True), subject, value))
        if case.guard is not None:
            guard = conditions.truth(b, case.guard)
            otherwise = dict(before)
            test = ir.And(case.place, t.BOOL, (test, guard))
        taken = _taken(b, case)
        body = block(b, case.body)
        chain.append((case, test, (*taken, *body)))
        ways += [] if ends(body) else [b.named()]
        b.facts = otherwise
        if left.nothing:
            break
    b.come_together(start, ways if left.nothing else [*ways, start])
    b.facts = b.facts_through(before, (node,))
    return [ir.Assign(node.place, subject, whole), *_branches(chain, left.nothing)]


def _of_both(
    facts: dict[ir.Expr, t.Type], subject: ir.Expr, value: ir.Expr
) -> dict[ir.Expr, t.Type]:
    """Facts that a case gives about the subject also hold for the place from which it was read."""
    place = value.of if isinstance(value, ir.Narrow) else value
    return {**facts, place: facts[subject]} if subject in facts and is_place(place) else facts


def _branches(
    chain: list[tuple[tree.Case, ir.Expr, tuple[ir.Stmt, ...]]], complete: bool
) -> tuple[ir.Stmt, ...]:
    """The chain of branches; where the cases leave nothing over, the last one needs no test."""
    rest: tuple[ir.Stmt, ...] = ()
    for i, (case, test, body) in enumerate(reversed(chain)):
        last = i == 0 and complete and len(chain) > 1
        rest = body if last else (ir.Branch(case.place, test, body, rest),)
    return rest


class _Left:
    """The values of the subject that no case has matched yet: enum members, records, None."""

    def __init__(self, type: t.Type) -> None:
        self.open = self.lists = False
        self.lengths = Lengths()
        self.values: set[tuple[t.Type, str]] = set()
        for option in t.options(type):
            match option:
                case t.Enum(members=members):
                    self.values |= {(option, member) for member in members}
                case t.Bool():
                    self.values |= {(option, "True"), (option, "False")}
                case t.Record() | t.Nothing():
                    self.values.add((option, ""))
                case t.Seq():
                    self.lists = True
                case _:
                    self.open = True

    @property
    def nothing(self) -> bool:
        """Whether every value has its case."""
        return not self.open and not self.values and (not self.lists or self.lengths.nothing)

    def take(self, test: ir.Expr, subject: ir.Expr) -> None:
        """A case without a guard takes what makes its test true for certain."""
        match test:
            case ir.Const(value=True):
                self.open = self.lists = False
                self.values.clear()
            case ir.Or(args=args):
                for arg in args:
                    self.take(arg, subject)
            case ir.IsA(of=of, options=options) if _is(of, subject):
                self.values = {v for v in self.values if v[0] not in options}
            case ir.Op(
                op=op, args=(ir.Op(op="len", args=(of,)), ir.Const(value=int() as count))
            ) if _is(of, subject):
                self.lengths.take(op, count)
            case ir.Op(op="eq", args=(of, ir.Const(value=value))) if _is(of, subject):
                self.values = {v for v in self.values if v[1] != str(value)}
            case _:
                pass


def _is(of: ir.Expr, subject: ir.Expr) -> bool:
    return (of.of if isinstance(of, ir.Narrow) else of) == subject


def _own_names(b: Body, case: tree.Case) -> None:
    """A name that a case with a guard binds is bound even where the guard is false."""
    for pattern in case.patterns:
        for name in tree.captured(pattern):
            if case.guard is not None and (name in b.locals or name in b.aliases):
                b.problem(
                    "L206",
                    pattern.place,
                    f"{name}, a local that has a value already",
                    "a name that this case alone binds",
                    "use another name in the pattern",
                )


def _taken(b: Body, case: tree.Case) -> tuple[ir.Stmt, ...]:
    """The captured names that the body assigns, or that were locals before, become locals."""
    out: list[ir.Stmt] = []
    again = tree.assigned_names(case.body)
    for name in dict.fromkeys(n for p in case.patterns for n in tree.captured(p)):
        path = b.aliases.get(name)
        if path is None or not (name in b.locals or name in again or of_list(path)):
            continue
        value = expressions.narrowed(b, path)
        kind = b.locals.get(name)
        if kind is not None and not t.fits(value.type, kind):
            expressions.misfit(b, case.place, value.type, kind)
        b.bind({name: kind or t.widened(value.type)})
        if not t.immutable(b.locals[name]):
            b.own(name)
        out.append(ir.Assign(case.place, ir.Local(case.place, b.locals[name], name), value))
    return tuple(out)


def _alternatives(
    b: Body, place: Place, patterns: tuple[tree.Pattern, ...], subject: ir.Expr
) -> ir.Expr:
    """The test that one of the patterns fits; a name that each of them captures from a place of its
    own is another name of the value that the first of them that fits captures."""
    tests: list[ir.Expr] = []
    captured: list[dict[str, ir.Expr]] = []
    for pattern in patterns:
        tests.append(_pattern(b, pattern, subject))
        captured.append({n: b.aliases[n] for n in tree.captured(pattern) if n in b.aliases})
    for test, own in [*zip(tests, captured, strict=True)][-2::-1]:
        for name, value in own.items():
            other = b.aliases[name]
            if value != other:
                kind = expressions.join(b, place, (value.type, other.type))
                b.aliases[name] = ir.If(place, kind, test, value, other)
    return tests[0] if len(tests) == 1 else ir.Or(place, t.BOOL, tuple(tests))


def _pattern(b: Body, pattern: tree.Pattern, subject: ir.Expr) -> ir.Expr:
    """The test of a pattern; a captured name becomes another name of that value."""
    if pattern.capture is not None:
        if not t.immutable(subject.type):
            _second_name(b, pattern, pattern.capture, subject.type)
        b.aliases[pattern.capture] = subject
    if pattern.cls is not None:
        return _class(b, pattern, subject)
    if pattern.items is not None:
        return _items(b, pattern, pattern.items, subject)
    if pattern.value is None:
        return ir.Const(pattern.place, t.BOOL, True)
    value = declared(b, expressions.expr(b, pattern.value), subject.type)
    if isinstance(value.type, t.Nothing):
        return ir.IsA(pattern.place, t.BOOL, subject, (t.NOTHING,))
    if isinstance(subject.type, t.Text):
        b.problem("L203", value.place, "text compared", "values without text", NO_TEXT)
    elif not t.alike(value.type, subject.type):
        _never(b, pattern, value.type, subject.type)
    return ir.Op(pattern.place, t.BOOL, "eq", (subject, value))


def _second_name(b: Body, pattern: tree.Pattern, name: str, kind: t.Type) -> None:
    """Note a pattern that gives a container of the state a second name."""
    b.problem(
        "L211",
        pattern.place,
        f"{name}, a second name of {a(kind)}",
        "a name of a value that never changes",
        "read the container where it is kept, or copy it before the match: xs = list(self.xs)",
    )


def _never(b: Body, pattern: tree.Pattern, found: t.Type, stands: t.Type) -> None:
    """Note a pattern that no value of the type which stands there has."""
    if not isinstance(stands, t.Unknown):
        rewrite = "this case is never taken: match what the value can be"
        b.problem("L203", pattern.place, a(found), a(stands), rewrite)


def _class(b: Body, pattern: tree.Pattern, subject: ir.Expr) -> ir.Expr:
    assert pattern.cls is not None
    static = b.static(pattern.cls)
    kind = t.Unknown() if static is MISSING else b.scene.annotation(static, pattern.place, b.names)
    if not isinstance(kind, t.Record):
        b.problem("L203", pattern.place, "this class", "a record class", "match records by class")
        return b.wrong(pattern.place)
    heirs = b.scene.heirs(static, pattern.place, b.names, subject.type)
    tests: list[ir.Expr] = [ir.IsA(pattern.place, t.BOOL, subject, heirs)]
    seen = t.union(heirs)
    if subject.type != seen and isinstance(subject, ir.Narrow):
        subject = subject.of
    if not any(heir in t.options(subject.type) for heir in heirs):
        _never(b, pattern, kind, subject.type)
        b.bind(dict.fromkeys(tree.captured(pattern), t.Unknown()))
        return b.wrong(pattern.place)
    narrow = subject if subject.type == seen else ir.Narrow(pattern.place, seen, subject)
    names = [name for name, _ in kind.fields]
    given = [*zip(names, pattern.positional, strict=False), *pattern.keyword]
    for name, patterns in given:
        if name not in names:
            known = f"one of {', '.join(names)}"
            b.problem("L205", pattern.place, name, known, nearest(name, names))
            continue
        field = expressions.field(b, pattern.place, narrow, name)
        tests.append(_alternatives(b, pattern.place, patterns, field))
    wanted = [test for test in tests if not is_certain(test)]
    return tests[0] if len(wanted) <= 1 else ir.And(pattern.place, t.BOOL, tuple(wanted))


def _items(
    b: Body, pattern: tree.Pattern, given: tuple[tuple[tree.Pattern, ...], ...], subject: ir.Expr
) -> ir.Expr:
    """The test of a tuple item by item."""
    place = pattern.place
    if isinstance(subject.type, t.Seq) and t.immutable(subject.type.item):
        return list_test(b, pattern, subject, _alternatives)
    kinds = subject.type.items if isinstance(subject.type, t.Tuple) else ()
    if pattern.rest is not None and pattern.rest[1] is None and len(kinds) >= len(given):
        at, left = pattern.rest[0], len(kinds) - len(given)
        anything = (tree.Pattern(place, None, None, (), (), None),)
        given = (*given[:at], *[anything] * left, *given[at:])
    elif pattern.rest is not None or len(kinds) != len(given) or not kinds:
        if not isinstance(subject.type, t.Unknown):
            found, expected = f"a pattern of {len(given)} items", f"{a(subject.type)}"
            rewrite = "match a tuple by a pattern as long as it is"
            if isinstance(subject.type, t.Seq):
                rewrite = f"test the length, then read each: if len(q) == {len(given)}: ... q[0]"
            b.problem("L203", place, found, expected, rewrite)
        b.bind(dict.fromkeys(tree.captured(pattern), t.Unknown()))
        return b.wrong(place)
    tests: list[ir.Expr] = []
    for i, (kind, patterns) in enumerate(zip(kinds, given, strict=True)):
        item = ir.Item(place, kind, subject, ir.Const(place, t.INT, i))
        tests.append(_alternatives(b, place, patterns, expressions.narrowed(b, item)))
    wanted = [test for test in tests if not is_certain(test)]
    if len(wanted) <= 1:
        return wanted[0] if wanted else ir.Const(place, t.BOOL, True)
    return ir.And(place, t.BOOL, tuple(wanted))
