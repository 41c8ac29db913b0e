"""The tests that a body makes before it reads its own changes, including guards of parts'
transitions.

Engines plan with the tests at the very beginning (`argument_plans`). To know what a step refuses,
more tests count: those behind a local that may have no value, those of the part that is called, and
those behind a change of variables that they do not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import One, Several, Start, callee
from lawful.spec.analysis.partiality import always_defined
from lawful.spec.analysis.walk import everything, replaced
from lawful.spec.errors import NOWHERE
from lawful.spec.lower.argument_plans import Leading, bound, free, put, unmixed

from .extents import covers
from .inlining import inlined

TRUE = ir.And(NOWHERE, t.BOOL, ())


def first_guards(machine: ir.Machine, function: ir.Function, params: set[str]) -> list[ir.Expr]:
    """The tests of a transition or start of the machine, in the order of evaluation.

    They are those that tell values of these parameters apart, the others being the same.
    """
    found = FirstGuards(machine, machine, params)
    return found.of(function)


class FirstGuards(Leading):
    """Collects tests that are true of the state before a step, or the step is refused or fails.

    A local that may have no value gives a test that is true where it has one. No test reads what
    was changed, and a change comes only before the first test that reads one of `params`.
    """

    def __init__(
        self, whole: ir.Machine, own: ir.Machine, params: set[str], changes: bool = True
    ) -> None:
        super().__init__({f.name: f for f in own.functions})
        self.whole = whole
        self.own = own
        self.params = params
        self.changes = changes  # Whether changes may come before tests.
        self.changed: set[str] = set()
        self.seen = 0  # Tests that read nothing that was changed before them.

    def of(self, function: ir.Function) -> list[ir.Expr]:
        """The tests of a body."""
        names = {name: ir.Local(function.place, kind, name) for name, kind in function.params}
        self.take(function.body, names)
        return self.tests

    def take(self, body: tuple[ir.Stmt, ...], given: Mapping[str, ir.Expr]) -> bool:
        """Whether all of the body were tests; `given` has the values of its locals."""
        known = dict(given)
        for i, stmt in enumerate(body):
            match stmt:
                case ir.Branch(test=test, then=(*_, ir.Return()) as then, other=()):
                    if unmixed(test, known) and always_defined(test):
                        ways = (self._way(then, known), self._way(body[i + 1 :], known))
                        self.tests.append(ir.Or(stmt.place, t.BOOL, ways))
                    return False
                case _ if not self.statement(stmt, known):
                    return False
                case _:
                    pass
        return True

    def _way(self, body: tuple[ir.Stmt, ...], known: Mapping[str, ir.Expr]) -> ir.Expr:
        """All that one of two ways asks."""
        kept, changed, seen = self.tests, set(self.changed), self.seen
        self.tests, self.seen = [], 0
        self.take(body, known)
        asked = ir.And(body[0].place, t.BOOL, tuple(self.tests)) if body else TRUE
        self.tests, self.changed, self.seen = kept, changed, seen
        return asked

    def asks(self, call: ir.Call) -> ir.Expr | None:
        """The test of a helper with a single expression, with its local values."""
        return inlined(self.whole, call)

    def statement(self, stmt: ir.Stmt, known: dict[str, ir.Expr]) -> bool:
        """Whether a later statement may still be a test of the state before the step."""
        going = unmixed(stmt, known) and self._any(stmt, known)
        for i in range(self.seen, len(self.tests)):
            if not self._unchanged(self.tests[i]):
                del self.tests[i:]
                return False
        self.seen = len(self.tests)
        return going

    def _any(self, stmt: ir.Stmt, known: dict[str, ir.Expr]) -> bool:
        match stmt:
            case ir.Assign(target=ir.Local(name=name), value=value) if not isinstance(
                value, ir.Needed
            ):
                made = known[name] = put(value, known)
                if not always_defined(made):
                    self.tests.append(_is_some(made))
                return True
            case ir.Assign(target=ir.Field() | ir.Item() as target, value=value):
                return self._change(target, (value,), known)
            case ir.Update(target=target, args=args, into=None | ir.Local() as into):
                if into is not None and into.name in known:
                    return False
                return self._change(target, args, known)
            case ir.Step(part=part, name=name, args=args):
                of = put(part, known)
                if isinstance(of.type, t.Part):
                    owner = self.whole.part(of.type.machine)
                    self._called(owner, _served(owner, name), [put(a, known) for a in args], of)
                return False
            case ir.Base(name=name, args=args):
                base = next((row for row in self.own.bases if row.name == name), None)
                self._called(self.own, base, [put(a, known) for a in args], None)
                return False
            case _:
                return super().statement(stmt, known)

    def _change(
        self, target: ir.Expr, args: tuple[ir.Expr, ...], known: Mapping[str, ir.Expr]
    ) -> bool:
        """Note a change of the machine's own that no parameter decides."""
        made = [put(each, known) for each in (target, *args)]
        if free(*made) & self.params or self._told_apart():
            return False
        if not all(map(self._unchanged, made[1:])):
            return False
        while isinstance(target, ir.Field | ir.Item | ir.Narrow):
            if isinstance(target, ir.Field) and _own(target):
                self.changed.add(target.name)
                return True
            target = target.of
        return False

    def _told_apart(self) -> bool:
        """Whether what comes now may be met with some arguments and not with others."""
        return not self.changes or bool(free(*self.tests) & self.params)

    def _unchanged(self, test: ir.Expr) -> bool:
        """Whether it reads nothing that was changed."""
        if not self.changed:
            return True
        inside = list(everything((test,)))
        read = [node.name for node in inside if isinstance(node, ir.Field) and _own(node)]
        whole = sum(isinstance(node, ir.Self) for node in inside) > len(read)
        return not whole and not self.changed & {*read}

    def _called(
        self,
        owner: ir.Machine,
        row: ir.Transition | ir.Function | None,
        args: list[ir.Expr],
        part: ir.Expr | None,
    ) -> None:
        """The tests of the called transition, with arguments substituted for parameters."""
        function = row.function if isinstance(row, ir.Transition) else row
        given = {} if function is None else _given(function, args)
        if function is None or given is None:
            return

        def change(node: ir.Node) -> ir.Node | None:
            if isinstance(node, ir.Self):
                return part
            return given.get(node.name) if isinstance(node, ir.Local) else None

        outer = free(*given.values(), *([part] if part else []))
        moving = {name for name, arg in given.items() if free(arg) & self.params}
        inner = FirstGuards(self.whole, owner, moving, not self._told_apart())
        self.tests += [_is_some(arg) for arg in given.values() if not always_defined(arg)]
        header = [*_keys(row)] if isinstance(row, ir.Transition) else []
        for test in (*header, *inner.of(function)):
            mixed = bound(test) & {*given, *outer}
            if mixed or free(test) - {*given}:
                return
            moved = replaced(test, change)
            assert isinstance(moved, ir.Expr)
            self.tests.append(moved)


def _is_some(value: ir.Expr) -> ir.Expr:
    """A test that is true if the expression has a value."""
    return ir.IsA(value.place, t.BOOL, value, t.options(value.type))


def _own(e: ir.Field) -> bool:
    """Whether it is a variable or parameter of the machine whose body this is."""
    return isinstance(e.of, ir.Self)


def _given(function: ir.Function, args: list[ir.Expr]) -> dict[str, ir.Expr] | None:
    """The arguments by name; None where one may be none of its parameter's type."""
    rows = list(zip(function.params, args, strict=True))
    held = ir.Local | ir.Field | ir.Item | ir.Narrow | ir.Const
    plain = all(isinstance(arg, held) for arg in args)
    if not plain or not all(covers(kind, arg.type) for (_, kind), arg in rows):
        return None
    return {name: arg for (name, _), arg in rows}


def _keys(row: ir.Transition) -> Iterator[ir.Expr]:
    """A source or a timer of a family asks whether its key is there."""
    for node in everything((row.control, row.timer)):
        if isinstance(node, ir.Item) and always_defined(node.of):
            yield ir.Op(node.place, t.BOOL, "in", (node.key, node.of))


def _served(owner: ir.Machine, name: str) -> ir.Transition | ir.Function | None:
    """What a call comes to; None where several serve the event, or it may be ignored."""
    match callee(owner, name):
        case Start(function=start):
            return start
        case One(transition=row):
            return row
        case Several():
            return None
