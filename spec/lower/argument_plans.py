"""Where the arguments of a rule come from: what a body asks of them first says which can be.

What comes before the first statement that is no guard is a row of tests. In the order of the
parameters each test is used once: where all its names are known, it is a guard that is evaluated
before the next parameter gets its values; where it says in what collection, or of what value, the
next parameter is, that is gone through in the place of every value of the type. A test of which
neither is true is left to the step, and what comes after it is used only if it is always defined.
An engine that finds a guard or a collection undefined goes through all values from there on: so
nothing is left out but what would be refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .. import ir
from .. import types as t
from ..analysis.walk import always_defined, everything, free_locals, replaced

EACH = "_each"  # No name of a declaration.
# Operations that give what can be gone through; a range may be longer than the type.
GATHERING = frozenset(
    {
        "keys",
        "values",
        "items",
        "union",
        "intersection",
        "difference",
        "symmetric_difference",
        "concat",
        "set",
        "list",
        "tuple",
        "set_of",
        "frozenset_of",
        "list_of",
        "tuple_of",
        "sorted",
        "slice",
        "get",
    }
)
Given = Mapping[str, ir.Expr]


@dataclass
class Planner:
    """Hands out the tests of one rule, parameter by parameter; a header's are never undefined."""

    header: tuple[ir.Expr, ...]
    body: tuple[ir.Expr, ...]
    known: set[str] = field(default_factory=set[str])
    used: set[int] = field(default_factory=set[int])

    def next(self, name: str, kind: t.Type) -> tuple[tuple[ir.Expr, ...], ir.Expr | None]:
        """The guards before the next parameter, and what it is enough to go through for it."""
        guards: list[ir.Expr] = []
        over: ir.Expr | None = None
        for i, test in enumerate((*self.header, *self.body)):
            if i in self.used:
                continue
            if free(test) <= self.known:
                guards.append(test)
                self.used.add(i)
                continue
            over = candidates(test, name, kind, self.known)
            if over is not None and free(test) <= {*self.known, name}:
                self.used.add(i)  # It is true of every candidate.
            if over is not None or not (i < len(self.header) or always_defined(test)):
                break
        self.known.add(name)
        return tuple(guards), over


# What is asked first.


def planner(
    row: ir.Transition | None, function: ir.Function, functions: Iterable[ir.Function]
) -> Planner:
    """What the header and the body ask first, in the order in which a step evaluates it."""
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
    if row is None:
        return
    if row.control is not None and row.source is not None:
        at = row.control
        states = (ir.Const(at.place, at.type, member) for member in row.source)
        yield ir.Or(at.place, t.BOOL, tuple(_equal(at, state) for state in states))
    if row.timer is not None:
        yield ir.Field(row.timer.place, t.BOOL, row.timer, "armed")


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
        """Whether the statement is a test, or a local of a value that there always is."""
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
        if found is None or not _apart(found, call) or not all(map(always_defined, call.args)):
            return False
        return self.take(found.body, _arguments(found, call))

    def _test(self, test: ir.Expr) -> bool:
        """Note a test: each of several that are joined, and what a helper asks in its place."""
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
        """What a helper that is one expression says of these arguments."""
        found = self.helpers.get(call.function)
        if found is None or not _apart(found, call) or not all(map(always_defined, call.args)):
            return None
        match found.body:
            case (ir.Return(value=ir.Expr() as value),) if unmixed(value, ()):
                return put(value, _arguments(found, call))
            case _:
                return None


def _arguments(function: ir.Function, call: ir.Call) -> dict[str, ir.Expr]:
    return dict(zip((name for name, _ in function.params), call.args, strict=True))


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


OPPOSITE = {"not_in": "in", "ne": "eq"}


def _not(test: ir.Expr) -> ir.Expr:
    match test:
        case ir.Op(op="not", args=(inner,)):
            return inner
        case ir.Op(op=op, args=args) if op in OPPOSITE:
            return ir.Op(test.place, t.BOOL, OPPOSITE[op], args)
        case ir.Or(args=args):
            return ir.And(test.place, t.BOOL, tuple(map(_not, args)))
        case _:
            return ir.Op(test.place, t.BOOL, "not", (test,))


# What a test says of one parameter.


def candidates(test: ir.Expr, name: str, kind: t.Type, known: set[str]) -> ir.Expr | None:
    """What it is enough to go through for a parameter; None where the test does not tell."""
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


def _gathered(over: ir.Expr) -> bool:
    """Whether going through it goes through all that is in it, and no more."""
    if isinstance(over.type, t.Map) and over.type.total:
        return False  # Every key is in it.
    return not isinstance(over, ir.Op | ir.Domain) or (
        isinstance(over, ir.Op) and over.op in GATHERING
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
    """Whether an element is told to be a value of the type by its class and bounds alone."""
    records = any(isinstance(option, t.Record) for option in t.options(kind))
    told = (t.Record, t.Nothing) if records else (t.Nothing,)
    return all(isinstance(o, told) or t.fits(o, kind) for o in t.options(item))


def _equal(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Op(left.place, t.BOOL, "eq", (left, right))


def free(*exprs: ir.Expr) -> set[str]:
    """The names that an expression needs to be known."""
    return {name for name, _ in free_locals(exprs)}
