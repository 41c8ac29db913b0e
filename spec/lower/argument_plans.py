"""Argument plans: which arguments of a transition can pass the tests at the beginning of its body.

The statements before the first one that is no guard form a sequence of tests. The plan goes through
the parameters in order, and uses each test once. If all its names are known, the test is a guard,
which is evaluated before the next parameter gets its values. If it says in which collection the
next parameter is, or which value it has, the engine iterates over that collection instead of every
value of the type. If an integer has many values, tests may give a least and a greatest one: the
engine then iterates over that range. A test of no such form is left to the step, and later tests
are used only if it is always defined. If an engine finds a guard or a collection undefined, it
iterates over all values from there on. So a plan leaves out only arguments that the guards would
refuse.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from .. import ir, ops
from .. import types as t
from ..analysis.callee import bind
from ..analysis.headers import Firing, Source, entry
from ..analysis.partiality import always_defined
from ..analysis.walk import everything, free_locals, replaced
from ..flat import Flat, Plan, Rule
from ..quick_dataclass import dataclass, field

EACH = "_each"  # No name of a declaration.
MANY = 64  # Values of an integer from which on it is worth while to know the ends of a range.
Given = Mapping[str, ir.Expr]
End = Literal["least", "beyond"]  # Of a range.
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass
class Planner:
    """Hands out the tests of one rule, parameter by parameter; a header's are never undefined."""

    header: tuple[ir.Expr, ...]
    body: tuple[ir.Expr, ...]
    known: set[str] = field(default_factory=set[str])
    used: set[int] = field(default_factory=set[int])

    def next(
        self, name: str, kind: t.Type, within: t.Type
    ) -> tuple[tuple[ir.Expr, ...], ir.Expr | None]:
        """The guards before the next parameter, and the collection of values that suffice for it;
        `within` is its type within the scope."""
        guards: list[ir.Expr] = []
        over: ir.Expr | None = None
        ends: list[tuple[End, ir.Expr]] = []
        for i, test in enumerate((*self.header, *self.body)):
            if i in self.used:
                continue
            if free(test) <= self.known:
                guards.append(test)
                self.used.add(i)
                continue
            over = candidates(test, name, kind, self.known)
            ends += ends_in(test, name, self.known)
            if over is not None and free(test) <= {*self.known, name}:
                self.used.add(i)  # It is true of every candidate.
            if over is not None or not (i < len(self.header) or always_defined(test)):
                break
        self.known.add(name)
        return tuple(guards), between(ends, within) if over is None else over


def planned(flat: Flat) -> Flat:
    """The same with plans of its starts and transitions; properties take every value."""
    m = flat.machine
    initials = [
        _planned(rule, f, planner(None, f, m.functions))
        for rule, f in zip(flat.initials, m.initials, strict=True)
    ]
    rules = [
        rule
        if m.is_of_ignores(row)
        else _planned(rule, row.function, planner(row, row.function, m.functions))
        for rule, row in zip(flat.rules, m.transitions, strict=True)
    ]
    return replace(flat, initials=tuple(initials), rules=tuple(rules))


def _planned(rule: Rule, function: ir.Function, tests: Planner) -> Rule:
    plans: list[Plan] = []
    for plan, (name, kind) in zip(rule.plans, function.params, strict=True):
        guards, over = tests.next(name, kind, plan.type)
        plans.append(replace(plan, over=over, guards=guards))
    return replace(rule, plans=tuple(plans))


# What is asked first.


def planner(
    row: ir.Transition | None, function: ir.Function, functions: Iterable[ir.Function]
) -> Planner:
    """The planner of the tests in header and body, in the order in which a step evaluates them."""
    leading = Leading({f.name: f for f in functions})
    leading.take(function.body, {})
    tests = leading.tests
    if row is not None and row.timer is not None:
        # Its timer is disarmed when the body begins.
        tests = [*itertools.takewhile(lambda test: not _reads_time(test), tests)]
    return Planner(tuple(_header(row)), tuple(tests))


def _reads_time(test: ir.Expr) -> bool:
    inside = everything((test,))
    return any(
        isinstance(node, ir.Call | ir.Can)
        or (isinstance(node, ir.Expr) and t.contains(node.type, t.Timer))
        for node in inside
    )


def _header(row: ir.Transition | None) -> Iterator[ir.Expr]:
    for asked in () if row is None else entry(row):
        match asked:
            case Source(at, tuple() as names):
                states = (ir.Const(at.place, at.type, member) for member in names)
                yield ir.Or(at.place, t.BOOL, tuple(_equal(at, state) for state in states))
            case Firing(timer):
                yield ir.Field(timer.place, t.BOOL, timer, "armed")
            case _:
                pass  # Whether a key is there says nothing of the state at it.


class Leading:
    """Collects tests up to the first statement that is none, through helpers and locals."""

    def __init__(self, helpers: Mapping[str, ir.Function]) -> None:
        self.helpers = helpers
        self.tests: list[ir.Expr] = []

    def take(self, body: tuple[ir.Stmt, ...], given: Given) -> bool:
        """Whether all of the body were tests; `given` has the values of its locals."""
        known = dict(given)
        return all(self.statement(stmt, known) for stmt in body)

    def statement(self, stmt: ir.Stmt, known: dict[str, ir.Expr]) -> bool:
        """Whether the statement is a test, or assigns a local a value that is always defined."""
        if not unmixed(stmt, known):
            return False
        match stmt:
            case ir.Require(test=test):
                return self._test(put(test, known))
            case ir.Branch(test=test, then=(ir.Refuse(),), other=()):
                return self._test(_not(put(test, known)))
            case ir.Assign(target=ir.Local(name=name), value=value):
                return self._local(name, put(value, known), known)
            case ir.Do(call=call, into=None):
                return self._helper(put(call, known))
            case ir.Return(value=None):
                return True
            case _:
                return False

    def _local(self, name: str, value: ir.Expr, known: dict[str, ir.Expr]) -> bool:
        if isinstance(value, ir.Needed) and always_defined(value.of):
            some = tuple(o for o in t.options(value.of.type) if o != t.NOTHING)
            self.tests.append(ir.IsA(value.place, t.BOOL, value.of, some))
        elif not always_defined(value):
            return False
        known[name] = value
        return True

    def _helper(self, call: ir.Expr) -> bool:
        if not isinstance(call, ir.Call) or not isinstance(call.of, ir.Self):
            return False
        found = self.helpers.get(call.function)
        if found is None or not _apart(found, call) or not always_defined(*call.args):
            return False
        return self.take(found.body, bind(found.params, call.args))

    def _test(self, test: ir.Expr) -> bool:
        """Note a test: the conjuncts of a conjunction one by one, and the tests inside a helper."""
        match test:
            case ir.And(args=args):
                return all(map(self._test, args))
            case ir.Call(of=ir.Self() | None) if self.asks(test) is not None:
                inside = self.asks(test)
                assert inside is not None
                return self._test(inside)
            case _:
                self.tests.append(test)
                return True

    def asks(self, call: ir.Call) -> ir.Expr | None:
        """The test that a helper with a single expression makes of these arguments."""
        found = self.helpers.get(call.function)
        if found is None or not _apart(found, call) or not always_defined(*call.args):
            return None
        match found.body:
            case (ir.Return(value=ir.Expr() as value),) if unmixed(value, ()):
                return put(value, bind(found.params, call.args))
            case _:
                return None


def _apart(function: ir.Function, call: ir.Call) -> bool:
    """Whether no comprehension of the function has a name that the arguments mean."""
    return not bound(function) & free(*call.args)


def unmixed(node: ir.Node, known: Iterable[str]) -> bool:
    """Whether no comprehension in it has a name that a value is put in the place of."""
    return not bound(node) & {*known}


def bound(node: ir.Node) -> set[str]:
    """The names that comprehensions and loops inside give to elements."""
    inside = everything((node,))
    return {n for each in inside if isinstance(each, ir.Clause | ir.Loop) for n in each.names}


def put(expr: ir.Expr, known: Given) -> ir.Expr:
    """The expression with values in the place of locals."""

    def change(node: ir.Node) -> ir.Node | None:
        return known.get(node.name) if isinstance(node, ir.Local) else None

    made = replaced(expr, change)
    assert isinstance(made, ir.Expr)
    return made


def _not(test: ir.Expr) -> ir.Expr:
    match test:
        case ir.Op(op="not", args=(inner,)):
            return inner
        case ir.Op(op="ne" | "not_in" as op, args=args):
            return ir.Op(test.place, t.BOOL, ops.OPPOSITES[op], args)
        case ir.Or(args=args):
            return ir.And(test.place, t.BOOL, tuple(map(_not, args)))
        case _:
            return ir.Op(test.place, t.BOOL, "not", (test,))


# What a test says of one parameter.


def candidates(test: ir.Expr, name: str, kind: t.Type, known: set[str]) -> ir.Expr | None:
    """The values that suffice for a parameter; None if the test does not restrict it."""
    match test:
        case ir.Or() | ir.Field(of=ir.Expr(type=t.Timer())):
            return _keys(test, name, kind, known)
        case ir.Op(op="eq", args=(left, right)):
            for one, other in ((left, right), (right, left)):
                if free(other) <= known:
                    only = ir.Op(other.place, t.Seq(other.type, False), "tuple", (other,))
                    return _among(one, only, name, kind, known)
        case ir.Op(op="in", args=(one, over)) if _gathered(over) and free(over) <= known:
            return _among(one, over, name, kind, known)
        case _:
            pass
    return None


def ends_in(test: ir.Expr, name: str, known: set[str]) -> Iterator[tuple[End, ir.Expr]]:
    """The least value that an integer parameter has, or the first that is too great, where the test
    is true."""
    denied = isinstance(test, ir.Op) and test.op == "not"
    inner = test.args[0] if isinstance(test, ir.Op) and denied else test
    match inner:
        case ir.Op(op="lt" | "le" | "gt" | "ge" as op, args=(left, right)):
            if not all(isinstance(side.type, t.Int) for side in (left, right)):
                return
            asked = ops.OPPOSITES[op] if denied else op
            for one, other, of in ((left, right, asked), (right, left, MIRRORED[asked])):
                if isinstance(one, ir.Local) and one.name == name and free(other) <= known:
                    one_more = ir.Const(other.place, t.INT, 1)
                    beyond = ir.Op(other.place, t.INT, "add", (other, one_more))
                    end: End = "least" if of in ("gt", "ge") else "beyond"
                    yield end, beyond if of in ("gt", "le") else other
        case _:
            pass


def between(ends: Sequence[tuple[End, ir.Expr]], within: t.Type) -> ir.Expr | None:
    """The range between these ends and those of the scope; None where none is known, or the scope
    has few values."""
    match within:
        case t.Int(low=int() as low, high=int() as high) if ends and high - low >= MANY:
            place = ends[0][1].place
            rows: dict[End, int] = {"least": low, "beyond": high + 1}
            sides = [
                (ir.Const(place, t.INT, of_scope), *(value for end, value in ends if end == side))
                for side, of_scope in rows.items()
            ]
            args = tuple(
                side[0] if len(side) == 1 else ir.Op(place, t.INT, op, side)
                for op, side in zip(("max", "min"), sides, strict=True)
            )
            return ir.Op(place, t.Iter(t.INT, True), "range", args)
        case _:
            return None


def is_range(over: ir.Expr | None) -> bool:
    """Whether these are the values of a range, each once."""
    return isinstance(over, ir.Op) and over.op == "range"


def without_ranges(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """The same, but the values of a range are all tried: several tests may refuse the others."""
    return tuple(replace(p, over=None) if is_range(p.over) else p for p in plans)


def _gathered(over: ir.Expr) -> bool:
    """Whether going through it goes through all that is in it, and no more."""
    if isinstance(over.type, t.Map) and over.type.total:
        return False  # Every key is in it.
    return not isinstance(over, ir.Op | ir.Domain) or (
        isinstance(over, ir.Op) and over.op in ops.GATHERING
    )


def _among(one: ir.Expr, over: ir.Expr, name: str, kind: t.Type, known: set[str]) -> ir.Expr | None:
    """The values of a parameter with which this is one of those elements."""
    item = t.element(over.type)
    if item is None or t.contains(item, t.Unknown):
        return None
    each: ir.Expr = ir.Local(over.place, item, EACH)
    parts: list[ir.Expr]
    conditions: tuple[ir.Expr, ...] = ()
    match one:
        case ir.Local(name=found) if found == name:
            return over if _comparable(item, kind) else None
        case ir.Make(type=t.Record() as record, args=args) if record in t.options(item):
            isa = ir.IsA(over.place, t.BOOL, each, (record,))
            if isinstance(item, t.Union):
                conditions, each = (isa,), ir.Narrow(over.place, record, each)
            parts = [ir.Field(over.place, of, each, n) for n, of in record.fields]
        case ir.Op(op="tuple", args=args) if isinstance(item, t.Tuple):
            places = (ir.Const(over.place, t.INT, i) for i in range(len(item.items)))
            rows = zip(places, item.items, strict=True)
            parts = [ir.Item(over.place, of, each, at) for at, of in rows]
        case _:
            return None
    if not always_defined(one) or len(args) != len(parts):
        return None
    pairs = list(zip(parts, args, strict=True))
    mine = [part for part, arg in pairs if isinstance(arg, ir.Local) and arg.name == name]
    if not mine or not _comparable(mine[0].type, kind):
        return None
    same = (_equal(part, arg) for part, arg in pairs if free(arg) <= known)
    return _gathering(mine[0], over, (*conditions, *same))


def _keys(test: ir.Expr, name: str, kind: t.Type, known: set[str]) -> ir.Expr | None:
    """The keys of the map through which a header's test leads, with which it is true."""
    for node in everything((test,)):
        match node:
            case ir.Item(of=ir.Expr(type=t.Map() as held) as over, key=ir.Local(name=found)):
                if found != name or not free(over) <= known or not _comparable(held.key, kind):
                    continue
                if free(test) - {name} <= known:
                    each = ir.Local(over.place, held.key, EACH)
                    return _gathering(each, over, (put(test, {name: each}),))
            case _:
                pass
    return None


def _gathering(element: ir.Expr, over: ir.Expr, conditions: tuple[ir.Expr, ...]) -> ir.Expr:
    clause = ir.Clause(over.place, (EACH,), over, conditions)
    return ir.Comp(over.place, t.Set(element.type, False), "set", element, None, (clause,))


def _comparable(item: t.Type, kind: t.Type) -> bool:
    """Whether class and bounds suffice to tell that an element is a value of the type."""
    records = any(isinstance(option, t.Record) for option in t.options(kind))
    distinct = (t.Record, t.Nothing) if records else (t.Nothing,)
    return all(isinstance(o, distinct) or t.fits(o, kind) for o in t.options(item))


def _equal(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Op(left.place, t.BOOL, "eq", (left, right))


def free(*exprs: ir.Expr) -> set[str]:
    """The names that an expression needs to be known."""
    return {name for name, _ in free_locals(exprs)}
