"""Mutation operators: the small changes that are made to a machine, one at a time.

The names are those of the literature where it has one (R. DeMillo, R. Lipton, F. Sayward, "Hints on
test data selection", 1978; A. J. Offutt and others, "An experimental determination of sufficient
mutant operators", 1996: absolute value, arithmetic, logical, relational operators, and unary
insertion are sufficient for numbers and tests). Those for guards, queues, timers, outputs and
headers are for state machines.

A change has no more than one place, and replaces a node of the IR by another one of a type that
fits. Texts of reasons and `assert` are never changed: the one has no effect, the other is a
property.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.walk import children, statements
from lawful.spec.text.expressions import expr
from lawful.spec.text.statements import statement

from .variants import near, negated, none_in, one_more, variants

RELATIONS = {
    "lt": ("le",),
    "le": ("lt",),
    "gt": ("ge",),
    "ge": ("gt",),
    "eq": ("ne",),
    "ne": ("eq",),
    "in": ("not_in",),
    "not_in": ("in",),
    "before": (),
    "subset": ("superset",),
    "superset": ("subset",),
    "proper_subset": ("subset",),
    "proper_superset": ("superset",),
}
ARITHMETIC = {
    "add": "sub",
    "sub": "add",
    "serial_add": "serial_sub",
    "serial_sub": "serial_add",
    "mul": "add",
    "min": "max",
    "max": "min",
    "min_of": "max_of",
    "max_of": "min_of",
    "min_or": "max_or",
    "max_or": "min_or",
    "all_of": "any_of",
    "any_of": "all_of",
    "union": "intersection",
    "intersection": "union",
    "successor": "predecessor",
    "predecessor": "successor",
}
FOLDS: dict[ir.CompKind, ir.CompKind] = {"all": "any", "any": "all", "min": "max", "max": "min"}


@dataclass(frozen=True, slots=True)
class Change:
    """One node replaced by another. `operator` names the rule, `what` says it as source text."""

    operator: str
    old: ir.Node
    new: ir.Node
    what: str


@dataclass(frozen=True, slots=True)
class Body:
    """A function whose body is changed, and the machine that it stands in."""

    function: ir.Function
    owner: ir.Machine


def changes(body: Body) -> Iterator[Change]:
    """Every change of the body, in the order of the source for each operator of a node."""
    for stmt in statements(body.function.body):
        for rule in STATEMENTS:
            yield from rule(stmt, body)
        for root in _changeable(stmt):
            for node in _inside(root):
                for of_expression in EXPRESSIONS:
                    yield from of_expression(node, body)


def _inside(node: ir.Node) -> Iterator[ir.Expr]:
    """The expressions of a tree; texts and the moduli of serial numbers are none of them."""
    if isinstance(node, ir.Expr):
        if isinstance(node.type, t.Text):
            return
        yield node
    inner = tuple(children(node))
    if isinstance(node, ir.Op) and node.op in ops.SERIAL:
        inner = inner[:-1]
    for each in inner:
        yield from _inside(each)


def _changeable(stmt: ir.Stmt) -> Iterator[ir.Node]:
    """The expressions of a statement alone, without texts of reasons; none of an `assert`."""
    match stmt:
        case ir.Assert() | ir.Refuse():
            return
        case ir.Branch(test=test) | ir.Require(test=test):
            yield test
        case ir.Loop(over=over):
            yield over
        case ir.Assign(target=target, value=value):
            yield from (*children(target), value)
        case ir.Update(target=target, args=args):
            yield from (*children(target), *args)
        case ir.Step(part=part, args=args):
            yield from (*children(part), *args)
        case ir.Base(args=args):
            yield from args
        case ir.Do(call=call):
            yield from call.args
        case _:
            yield from (each for each in children(stmt) if isinstance(each, ir.Expr))


def nothing(stmt: ir.Stmt) -> ir.Stmt:
    """A statement that does nothing, in place of another."""
    return ir.Branch(stmt.place, ir.Const(stmt.place, t.BOOL, True), (), ())


# Statements.


def _guards(stmt: ir.Stmt, _: Body) -> Iterator[Change]:
    match stmt:
        case ir.Require(test=test):
            without = f"without require({expr(test)})"
            yield Change("drop guard", stmt, nothing(stmt), without)
            yield _other("negate guard", test, negated(test))
        case ir.Refuse():
            yield Change("drop guard", stmt, nothing(stmt), "without the refusal")
        case ir.Branch(test=test):
            yield _other("negate guard", test, negated(test))
            for value in (True, False):
                new = ir.Const(test.place, t.BOOL, value)
                yield _other("fix a branch", test, new)
        case _:
            pass


def _assignments(stmt: ir.Stmt, body: Body) -> Iterator[Change]:
    match stmt:
        case ir.Assign(target=ir.Field() | ir.Item() as target, value=value):
            dropped = f"without the assignment of {expr(target)}"
            yield Change("drop assignment", stmt, nothing(stmt), dropped)
            yield from _changed_value("change assignment", value, target.type)
        case ir.Assign(target=ir.Local(), value=value):
            yield from _changed_value("change assignment", value, value.type)
        case ir.Return(value=ir.Expr() as value):
            is_output = any(body.function is row.function for row in body.owner.transitions)
            name = "change output" if is_output else "change result"
            for each in _changed_value(name, value, body.function.output):
                # In `return self.items.pop(0)` the value is also where `pop` puts it: it is one
                # node, so the statement is replaced.
                if isinstance(value, ir.Local) and isinstance(each.new, ir.Expr):
                    new = dataclasses.replace(stmt, value=each.new)
                    yield dataclasses.replace(each, old=stmt, new=new)
                else:
                    yield each
        case ir.Break():
            yield Change("drop break", stmt, nothing(stmt), "without break")
        case ir.Continue():
            yield Change("drop continue", stmt, nothing(stmt), "without continue")
        case _:
            pass


def _changed_value(name: str, value: ir.Expr, place: t.Type) -> Iterator[Change]:
    for other in (*variants(value), *none_in(place, value)):
        yield _other(name, value, other)


def _updates(stmt: ir.Stmt, body: Body) -> Iterator[Change]:
    """Containers and timers that are changed where they stand."""
    if not isinstance(stmt, ir.Update):
        return
    if stmt.into is None:
        yield Change("drop update", stmt, nothing(stmt), f"without {_line(stmt)}")
    if isinstance(stmt.target.type, t.Timer):
        yield from _timers(stmt, body)
        return
    zero, last = (ir.Const(stmt.place, t.INT, n) for n in (0, -1))
    match stmt:
        case ir.Update(op="append", args=(item,)):
            yield _line_for("order of a queue", stmt, op="insert", args=(zero, item))
        case ir.Update(op="insert", args=(ir.Const(value=0), item)):
            yield _line_for("order of a queue", stmt, op="append", args=(item,))
        case ir.Update(op="pop", args=(ir.Const(value=0),), target=ir.Expr(type=t.Seq())):
            yield _line_for("order of a queue", stmt, args=(last,))
        case ir.Update(op="pop", args=() | (ir.Const(value=-1),), target=ir.Expr(type=t.Seq())):
            yield _line_for("order of a queue", stmt, args=(zero,))
        case ir.Update(op="add", args=(item,), target=target):
            alone = ir.Op(stmt.place, target.type, "set", (item,))
            new = ir.Assign(stmt.place, target, alone)
            yield Change("set for one element", stmt, new, f"{_line(new)} for {_line(stmt)}")
        case ir.Update(op="discard" | "remove" | "delete", args=(_,), into=None):
            yield _line_for("set for one element", stmt, op="clear", args=())
        case _:
            pass


def _timers(stmt: ir.Update, body: Body) -> Iterator[Change]:
    for other in body.owner.variables:
        match stmt.target:
            case ir.Field(of=ir.Self(), name=name) if name != other.name and _is_timer(other):
                target = dataclasses.replace(stmt.target, name=other.name)
                yield _line_for("wrong timer", stmt, target=target)
            case _:
                pass
    if stmt.op == "start" and stmt.args:
        duration = stmt.args[0]
        if isinstance(duration.type, t.Int) and not isinstance(duration, ir.Const):
            yield _other("wrong duration", duration, one_more(duration))
        for parameter in body.owner.parameters:
            other_one = ir.Field(
                duration.place, parameter.type, _self(body, duration), parameter.name
            )
            if parameter.type == duration.type and other_one != duration:
                yield _other("wrong duration", duration, other_one)


def _is_timer(variable: ir.Variable) -> bool:
    return isinstance(variable.type, t.Timer)


def _self(body: Body, at: ir.Expr) -> ir.Self:
    return ir.Self(at.place, t.Part(body.owner.name))


def _calls(stmt: ir.Stmt, body: Body) -> Iterator[Change]:
    match stmt:
        case ir.Step(into=None) | ir.Base(into=None) | ir.Do(into=None):
            yield Change("drop call", stmt, nothing(stmt), f"without {_line(stmt)}")
        case _:
            pass
    match stmt:
        case ir.Step(args=args) | ir.Base(args=args):
            for swapped in _swaps(args):
                yield _line_for("swap arguments", stmt, args=swapped)
            yield from _changed_arguments(args)
        case ir.Do(call=call):
            for swapped in _swaps(call.args):
                new = dataclasses.replace(stmt, call=dataclasses.replace(call, args=swapped))
                yield Change("swap arguments", stmt, new, f"{_line(new)} for {_line(stmt)}")
            yield from _changed_arguments(call.args)
        case _:
            pass
    if isinstance(stmt, ir.Step):
        yield from _other_events(stmt, body)


def _changed_arguments(args: Sequence[ir.Expr]) -> Iterator[Change]:
    for each in args:
        for other in variants(each):
            yield _other("change argument", each, other)


def _other_events(stmt: ir.Step, body: Body) -> Iterator[Change]:
    """Another event of the part with the same parameters and output."""
    if not isinstance(stmt.part.type, t.Part):
        return
    try:
        part = body.owner.part(stmt.part.type.machine)
    except KeyError:
        return
    events = {each.name: each for each in part.events}
    mine = events.pop(stmt.name, None)
    for other in events.values():
        if mine is not None and _signature(other) == _signature(mine):
            yield _line_for("wrong event", stmt, name=other.name)


def _signature(event: ir.Event) -> tuple[list[t.Type], t.Type]:
    return [kind for _, kind in event.params], event.output


# Expressions.


def _operators(node: ir.Expr, _: Body) -> Iterator[Change]:
    match node:
        case ir.Op(op=op) if op in RELATIONS:
            for name in RELATIONS[op]:
                yield _other("relational operator", node, dataclasses.replace(node, op=name))
        case ir.Op(op=op) if op in ARITHMETIC:
            new = dataclasses.replace(node, op=ARITHMETIC[op])
            yield _other("arithmetic operator", node, new)
        case ir.Comp(kind=kind) if kind in FOLDS:
            yield _other("arithmetic operator", node, dataclasses.replace(node, kind=FOLDS[kind]))
        case _:
            pass
    match node:
        case ir.Op(op=op, args=(left, right, *rest)) if (
            op in ops.ORDERED and left.type == right.type
        ):
            yield _other(
                "swap operands", node, dataclasses.replace(node, args=(right, left, *rest))
            )
        case ir.If(then=then, other=other):
            yield _other("negate guard", node, dataclasses.replace(node, then=other, other=then))
        case _:
            pass


def _junctions(node: ir.Expr, _: Body) -> Iterator[Change]:
    """Parts of `and` and `or`, and conditions of comprehensions."""
    match node:
        case ir.And(args=args) | ir.Or(args=args):
            name = "conjunct" if isinstance(node, ir.And) else "disjunct"
            for i, each in enumerate(args):
                rest = args[:i] + args[i + 1 :]
                new = rest[0] if len(rest) == 1 else dataclasses.replace(node, args=rest)
                yield _other(f"drop {name}", node, new)
                flipped = (*args[:i], negated(each), *args[i + 1 :])
                yield _other(f"negate {name}", node, dataclasses.replace(node, args=flipped))
        case ir.Comp(clauses=clauses):
            for i, clause in enumerate(clauses):
                for k, each in enumerate(clause.conditions):
                    left = clause.conditions[:k] + clause.conditions[k + 1 :]
                    flipped = (*clause.conditions[:k], negated(each), *clause.conditions[k + 1 :])
                    for name, conditions in (("drop", left), ("negate", flipped)):
                        other = dataclasses.replace(clause, conditions=conditions)
                        every = (*clauses[:i], other, *clauses[i + 1 :])
                        new = dataclasses.replace(node, clauses=every)
                        yield _other(f"{name} conjunct", node, new)
        case _:
            pass


def _constants(node: ir.Expr, _: Body) -> Iterator[Change]:
    if isinstance(node, ir.Const):
        for other in near(node):
            name = "off by one" if isinstance(node.type, t.Int) else "change constant"
            yield _other(name, node, other)


def _elements(node: ir.Expr, body: Body) -> Iterator[Change]:
    """First for last, other peer, other key."""
    match node:
        case ir.Item(of=ir.Expr(type=t.Seq()), key=ir.Const(value=0 | -1 as at) as key):
            new = dataclasses.replace(key, value=-1 if at == 0 else 0)
            yield _other("wrong element", node, dataclasses.replace(node, key=new))
        case ir.Local(name=name, type=kind) if kind != t.BOOL:
            for other, type in body.function.params:
                if other != name and type == kind:
                    yield _other("wrong element", node, dataclasses.replace(node, name=other))
        case ir.Make(args=args) | ir.Call(args=args):
            for swapped in _swaps(args):
                yield _other("swap arguments", node, dataclasses.replace(node, args=swapped))
        case _:
            pass
    if isinstance(node, ir.Make):
        fields = node.type.fields if isinstance(node.type, t.Record) else ()
        for (_, place), each in zip(fields, node.args, strict=False):
            yield from _changed_value("change argument", each, place)


def _swaps(args: tuple[ir.Expr, ...]) -> Iterator[tuple[ir.Expr, ...]]:
    """The arguments with two of one type exchanged."""
    for i, one in enumerate(args):
        for k in range(i + 1, len(args)):
            if one.type == args[k].type and one != args[k]:
                yield (*args[:i], args[k], *args[i + 1 : k], one, *args[k + 1 :])


StatementRule = Callable[[ir.Stmt, Body], Iterator[Change]]
ExpressionRule = Callable[[ir.Expr, Body], Iterator[Change]]
STATEMENTS: tuple[StatementRule, ...] = (_guards, _assignments, _updates, _calls)
EXPRESSIONS: tuple[ExpressionRule, ...] = (_operators, _junctions, _constants, _elements)


def _line_for(operator: str, stmt: ir.Stmt, **fields: Any) -> Change:
    new = dataclasses.replace(stmt, **fields)
    return Change(operator, stmt, new, f"{_line(new)} for {_line(stmt)}")


def _other(operator: str, old: ir.Expr, new: ir.Expr) -> Change:
    return Change(operator, old, new, f"{expr(new)} for {expr(old)}")


def _line(stmt: ir.Stmt) -> str:
    return " ".join(statement(stmt))
