"""IR statements -> Python statements that change a machine's state in place.

A function copies a container before it first changes it, unless `in_place` says that it need not.
Who runs a step keeps references to the old values, and undoes the step by assigning them again.
Generated code judges the bounds of each value that it writes into a container: one out of bounds
puts the instance into `SUSPECT`, and only then the whole container is judged at the step's end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import in_place
from lawful.spec.analysis.partiality import always_defined, mixed
from lawful.spec.analysis.places import variable_of
from lawful.spec.analysis.walk import statements
from lawful.spec.errors import Place
from lawful.spec.syntax.declare import slot
from lawful.spec.text import reasons
from lawful.spec.values.bounds import bounded
from lawful.spec.values.indices import clamped

from ..kernel import dispatch, guards, operators
from ..kernel.suspects import suspect
from .expressions import Expressions, copier
from .global_names import GlobalNames
from .helper_writes import SUPER, HelperWrites, LoggedWrite, callee
from .in_place import InPlaceWrite
from .part_steps import PartStep
from .python_ast import (
    assign,
    attribute,
    call,
    if_,
    located,
    name,
    negated,
    outside,
    target,
    target_of,
)
from .written_types import INDEX, item_of, key_of, taken_types, within

# The statements that end a function, with its output if it has one.
Finish = Callable[[ast.expr | None, Place], list[ast.stmt]]


class CalleesLog(NamedTuple):
    """The log that callees get: the local that has it, which of them take it, and the calls, by the
    `id` of the statement, after which nothing may refuse."""

    local: str
    writes: HelperWrites
    ends: frozenset[int]


class Body(Expressions):
    """Emits one function's statements.

    `sure`: the locals whose values are known to be within the bounds of their types. `refuse_by`:
    the statements of a refusal, from its site, its text and its values.
    """

    def __init__(
        self, names: GlobalNames, functions: dict[str, str], me: str, finish: Finish, sure: set[str]
    ) -> None:
        super().__init__(names, functions, me)
        self.finish = finish
        self.sure = sure
        self.copied: set[str] = set()
        self.in_place: dict[int, InPlaceWrite | LoggedWrite] = {}  # By `id` of their statements.
        self.log: CalleesLog | None = None
        self.part_steps: dict[int, PartStep] = {}
        self.refuse_by: Callable[..., list[ast.stmt]] = self.raised
        self.count = 0  # How many locals `held` has named.
        self.gives: t.Type | None = None  # The output of a transition, which its caller keeps.

    def write_in_place(
        self,
        log: str,
        writes: HelperWrites,
        body: Sequence[ir.Stmt],
        variables: Container[str],
        last: bool = True,
    ) -> None:
        """Write in place into these variables, where the statements of the body may, and let
        callees do so; the local `log` has the notes. `last`: after the body nothing may refuse."""
        self.log = CalleesLog(log, writes, writes.ends(body, last))
        for number, (key, change) in enumerate(writes.places(body, last).items()):
            if change.variable in variables:
                self.in_place[key] = LoggedWrite(self.names, change, log, number)

    def whole(self, body: Sequence[ir.Stmt], end: Place) -> list[ast.stmt]:
        """A function's body, and its ending where the body does not return."""
        out: list[ast.stmt] = []
        for stmt in body:
            for variable in self.to_copy(stmt):
                if variable not in self.copied:
                    self.copied.add(variable)
                    out.append(located(self.own_copy(variable), stmt.place))
            out += self.statement(stmt)
        if not body or not isinstance(body[-1], ir.Return | ir.Refuse):
            out += [located(s, end) for s in self.finish(None, end)]
        return out

    def to_copy(self, stmt: ir.Stmt) -> Iterator[str]:
        """The variables whose containers the statement changes other than in place."""
        for each in statements((stmt,)):
            if not isinstance(each, ir.Branch | ir.Loop) and id(each) not in self.in_place:
                yield from in_place(each)

    def own_copy(self, variable: str) -> ast.stmt:
        """Assign a copy of a variable's container to the variable."""
        held = attribute(name(self.me), slot(variable))
        copied = call(attribute(held, "copy"))
        return assign(attribute(name(self.me), slot(variable)), copied)

    def block(self, body: Iterable[ir.Stmt]) -> list[ast.stmt]:
        return [made for stmt in body for made in self.statement(stmt)] or [ast.Pass()]

    def statement(self, stmt: ir.Stmt) -> list[ast.stmt]:
        """The statement, at its place."""
        return [located(made, stmt.place) for made in STATEMENTS[type(stmt)](self, stmt)]

    # Guards.

    def refusal(self, site: guards.Site, why: ir.Expr | None, *values: ast.expr) -> list[ast.stmt]:
        """What a false guard does: it ends the function as `refuse_by` says."""
        text = ast.Constant("") if why is None else self.expr(why)
        return self.refuse_by(name(self.names.number("site", site)), text, *values)

    def raised(self, *row: ast.expr) -> list[ast.stmt]:
        """A refusal inside a step; who runs the step catches it."""
        return [ast.Raise(call(self.use(guards.Refusal), *row), None)]

    def require(self, stmt: ir.Require) -> list[ast.stmt]:
        return [
            located(
                if_(
                    negated(self.expr(test)),
                    *self.refusal(guards.false(test), stmt.why, *self.exprs(reasons.shown(test))),
                ),
                test.place,
            )
            for test in reasons.conjuncts(stmt.test)
        ]

    def refuse(self, stmt: ir.Refuse) -> list[ast.stmt]:
        return self.refusal(guards.plain_site(""), stmt.why)

    def claim(self, stmt: ir.Assert) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for test in reasons.conjuncts(stmt.test):
            site = name(self.names.number("claim", guards.unasserted(test)))
            values = self.exprs(reasons.shown(test))
            broken = call(self.use(guards.Broken), ast.Constant("asserts"), site, *values)
            out.append(located(if_(negated(self.expr(test)), ast.Raise(broken, None)), test.place))
        return out

    # Writing.

    def owned(self, place: ir.Expr, out: list[ast.stmt]) -> ast.expr:
        """A container that this step may change; an inner one is copied first, in its place."""
        if isinstance(place, ir.Narrow):
            return self.owned(place.of, out)
        if isinstance(place, ir.Item) and not t.immutable(place.type):
            of = self.owned(place.of, out)
            slot = ast.Subscript(of, self.expr(place.key), ast.Load())
            copied = call(self.use(copier(place.type)), self.expr(place))
            out.append(assign(slot, copied))
        return self.expr(place)

    def note_suspect(self, suspicious: ast.expr) -> ast.stmt:
        """Add the instance to `SUSPECT` where a written value may be out of bounds."""
        return if_(suspicious, ast.Expr(call(self.use(suspect), name(self.me))))

    def screened(self, e: ir.Expr, kind: t.Type, out: list[ast.stmt]) -> ast.expr:
        """The value for a place in a container; `out` takes the test of its bounds."""
        value = self.value(e, kind)
        if not bounded(kind) or self.is_sure(e, kind):
            return value
        held = self.held(value, out)
        out.append(self.note_suspect(self.stray(held, kind)))
        return name(held.id)

    def held(self, value: ast.expr, out: list[ast.stmt]) -> ast.Name:
        """The value in a new local, so that it is evaluated now and once."""
        if isinstance(value, ast.Name):
            return value
        key = self.names.local(f"value{self.count}")
        self.count += 1
        out.append(assign(name(key), value))
        return name(key)

    def stray(self, value: ast.Name, kind: t.Type) -> ast.expr:
        test = outside(lambda: name(value.id), kind) if isinstance(kind, t.Int) else None
        if test is not None:
            return test
        return call(self.use(operators.stray), value, name(self.names.number("type", kind)))

    def is_sure(self, e: ir.Expr, kind: t.Type) -> bool:
        """Whether the value is known to be within the bounds of this type."""
        match e:
            case _ if not bounded(kind):
                return True
            case ir.Op(op="serial_add" | "serial_sub", type=t.Serial() as mine) if mine == kind:
                return True
            case ir.Const(value=int() as value):
                return isinstance(kind, t.Int) and within(t.Int(value, value), kind)
            case ir.Const():
                return True
            case ir.Local(name=key):
                return key in self.sure and within(e.type, kind)
            case ir.Field(of=ir.Self()):
                return isinstance(e.type, t.Map | t.Set | t.Seq | t.Bag) and within(e.type, kind)
            case ir.Field(of=of) | ir.Narrow(of=of):
                return within(e.type, kind) and self.is_sure(of, of.type)
            case ir.Comp(clauses=clauses):
                return self._comp_is_sure(e, clauses, kind)
            case _:
                return False

    def _comp_is_sure(self, e: ir.Comp, clauses: tuple[ir.Clause, ...], kind: t.Type) -> bool:
        kept = set(self.sure)
        for clause in clauses:
            if self._goes_over_sure(clause.over):
                self.sure.update(clause.names)
            else:
                self.sure.difference_update(clause.names)
        item = kind.value if isinstance(kind, t.Map) else t.element(kind)
        sure = item is not None and self.is_sure(e.element, item)
        if sure and e.key is not None:
            sure = isinstance(kind, t.Map) and self.is_sure(e.key, kind.key)
        self.sure = kept
        return sure

    def _goes_over_sure(self, over: ir.Expr) -> bool:
        match over:
            case ir.Op(op="items" | "keys" | "values" | "sorted", args=(of,)):
                return self._goes_over_sure(of)
            case _:
                return self.is_sure(over, over.type)

    def assignment(self, stmt: ir.Assign) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        match stmt.target:
            case ir.Item(of=of, key=key):
                return self.store(of, key, stmt.value, self.in_place.get(id(stmt)))
            case place:
                out.append(assign(self.expr(place), self.value(stmt.value, place.type)))
                out += self.look(place, stmt.value)
                return out

    def store(
        self, of: ir.Expr, key: ir.Expr, given: ir.Expr, write: InPlaceWrite | LoggedWrite | None
    ) -> list[ast.stmt]:
        """An item is assigned. As in Python: the value, then the container, then the key."""
        out, after = list[ast.stmt](), list[ast.stmt]()
        bag = isinstance(of.type, t.Bag)
        value = self.expr(given) if bag else self.screened(given, item_of(of.type), out)
        held = self.owned(of, after) if write is None else self.expr(of)
        at = self.screened(key, key_of(of.type), after)
        if (bag or after or write) and not always_defined(given):
            value = self.held(value, out)
        if write is not None:
            after += self.entered(write, of, at)
            held, at = write.container(held), name(write.at)
        if bag:
            return [*out, *after, self.note_suspect(call(self.use(operators.put), held, at, value))]
        done = assign(ast.Subscript(held, at, ast.Load()), value)
        return [*out, *after, done, *([] if write is None else write.after())]

    def entered(
        self, write: InPlaceWrite | LoggedWrite, container: ir.Expr, at: ast.expr | None
    ) -> list[ast.stmt]:
        """The record of an update in place."""
        key = self.given(container.key) if isinstance(container, ir.Item) else None
        return write.before(self.me, key, at)

    def look(self, place: ir.Expr, value: ir.Expr) -> list[ast.stmt]:
        """The test of a container's bounds after it was assigned as a whole."""
        container = isinstance(place.type, t.Map | t.Set | t.Seq | t.Bag)
        if variable_of(place) is None or not container or self.is_sure(value, place.type):
            return []
        if isinstance(value, ir.Op) and not value.args:
            return []
        kind = name(self.names.number("type", place.type))
        return [self.note_suspect(call(self.use(operators.stray), self.expr(place), kind))]

    def update(self, stmt: ir.Update) -> list[ast.stmt]:
        place, kind = stmt.target, stmt.target.type
        out: list[ast.stmt] = []
        if isinstance(kind, t.Timer):
            return self.timer(stmt)
        write = self.in_place.get(id(stmt))
        of = self.owned(place, out) if write is None else self.expr(place)
        if isinstance(place, ir.Item) and write is None:
            of = self.held(of, out)
        args = self.in_order(zip(stmt.args, taken_types(stmt), strict=True), out)
        if (type(kind), stmt.op) == (t.Seq, "insert") and not within(stmt.args[0].type, INDEX):
            args[0] = call(self.use(clamped), args[0])
        if write is not None:
            out += self.entered(write, place, None if isinstance(kind, t.Seq) else args[0])
            args = args if isinstance(kind, t.Seq) else [name(write.at), *args[1:]]
            of = write.container(of)
        if stmt.op == "delete":
            done: ast.stmt = ast.Delete([ast.Subscript(of, args[0], ast.Del())])
        else:
            done = self.into(stmt.into, call(attribute(of, stmt.op), *args))
        return [*out, done, *([] if write is None else write.after())]

    def in_order(
        self, given: Iterable[tuple[ir.Expr, t.Type]], out: list[ast.stmt]
    ) -> list[ast.expr]:
        """Arguments, each evaluated before the bounds of the next are tested."""
        made: list[ast.expr] = []
        for e, kind in given:
            after: list[ast.stmt] = []
            value = self.screened(e, kind, after)
            if after:
                made = [self.held(each, out) for each in made]
            out += after
            made.append(value)
        return made

    def timer(self, stmt: ir.Update) -> list[ast.stmt]:
        """Start and stop: the timer's place gets its deadline, or None."""
        out: list[ast.stmt] = []
        if isinstance(stmt.target, ir.Item):
            out.append(ast.Expr(self.expr(stmt.target)))  # Raises where there is no such timer.
            of = self.owned(stmt.target.of, out)
            slot: ast.expr = ast.Subscript(of, self.expr(stmt.target.key), ast.Load())
        else:
            slot = self.expr(stmt.target)
        deadline: ast.expr = ast.Constant(None)
        if stmt.op == "start":
            environment = attribute(name(self.me), "__environment__")
            deadline = call(attribute(environment, "due"), self.expr(stmt.args[0]))
        return [*out, assign(slot, deadline)]

    def now(self) -> ast.expr:
        return call(attribute(attribute(name(self.me), "__environment__"), "now"))

    def into(self, place: ir.Expr | None, value: ast.expr) -> ast.stmt:
        """Assign the value of a step or an update, or discard it."""
        return ast.Expr(value) if place is None else assign(self.expr(place), value)

    def unpack(self, stmt: ir.Unpack) -> list[ast.stmt]:
        return [ast.Assign([target_of(stmt.names)], self.expr(stmt.value))]

    # Control.

    def branch(self, stmt: ir.Branch) -> list[ast.stmt]:
        other = self.block(stmt.other) if stmt.other else []
        return [ast.If(self.expr(stmt.test), self.block(stmt.then), other)]

    def loop(self, stmt: ir.Loop) -> list[ast.stmt]:
        # Users see the order in which keys were put into a map.
        over = self.iterated(stmt.over, mixed(stmt.body) or _puts_keys(stmt.body))
        return [ast.For(target(stmt.names), over, self.block(stmt.body), [])]

    def leave(self, stmt: ir.Break) -> list[ast.stmt]:
        return [ast.Break()]

    def go_on(self, stmt: ir.Continue) -> list[ast.stmt]:
        return [ast.Continue()]

    def give(self, stmt: ir.Return) -> list[ast.stmt]:
        if stmt.value is None:
            value = None
        elif isinstance(stmt.value.type, t.Map) and not isinstance(self.gives, t.Map):
            value = self.given(stmt.value)  # The caller copies it where it keeps it.
        elif self.gives is not None:
            value = self.value(stmt.value, self.gives)
        else:
            value = self.value(stmt.value, stmt.value.type)
        return self.finish(value, stmt.place)

    # Calls that change the state.

    def step(self, stmt: ir.Step) -> list[ast.stmt]:
        of, given = self.part_steps.get(id(stmt)), [*map(self.given, stmt.args)]
        if of is not None:
            return [*of.before(self.expr(stmt.part)), self.into(stmt.into, of.called(given))]
        args = [self.expr(stmt.part), ast.Constant(stmt.name), *given]
        return [self.into(stmt.into, call(self.use(dispatch.step), *args))]

    def base(self, stmt: ir.Base) -> list[ast.stmt]:
        key, log = self.called(f"{SUPER}{stmt.name}", stmt)
        args = [*map(self.given, stmt.args), *log]
        return [self.into(stmt.into, call(self.functions[key], name(self.me), *args))]

    def do(self, stmt: ir.Do) -> list[ast.stmt]:
        made, log = self.expr(stmt.call), list[ast.expr]()
        key = callee(stmt)
        if key is not None:
            key, log = self.called(key, stmt)
        if key is not None and log and isinstance(made, ast.Call):
            made = ast.Call(name(self.functions[key]), [*made.args, *log], [])
        into = stmt.into
        if into is not None and isinstance(into.type, t.Map) and into.type.mutable:
            made = call(self.use(dict), made)
        return [self.into(into, made)]

    def called(self, key: str, stmt: ir.Stmt) -> tuple[str, list[ast.expr]]:
        """The key of the function that a statement calls, and the log if it takes one."""
        log = self.log
        last = log is not None and id(stmt) in log.ends
        if log is None or not log.writes.of(key, last):
            return key, []
        return log.writes.logged(key, last), [name(log.local)]


STATEMENTS: dict[type[ir.Stmt], Callable[..., list[ast.stmt]]] = {
    ir.Assign: Body.assignment,
    ir.Update: Body.update,
    ir.Unpack: Body.unpack,
    ir.Branch: Body.branch,
    ir.Loop: Body.loop,
    ir.Break: Body.leave,
    ir.Continue: Body.go_on,
    ir.Return: Body.give,
    ir.Require: Body.require,
    ir.Refuse: Body.refuse,
    ir.Assert: Body.claim,
    ir.Step: Body.step,
    ir.Base: Body.base,
    ir.Do: Body.do,
}


def _puts_keys(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether some statement may put a key into a map."""
    for stmt in statements(body):
        match stmt:
            case ir.Assign(target=ir.Item(of=ir.Expr(type=t.Map() | t.Bag()))):
                return True
            case ir.Do() | ir.Step():
                return True
            case _:
                pass
    return False
