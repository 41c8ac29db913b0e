"""Labels of transitions: event, guards, outputs, and steps of parts, computed from the body.

A label writes `x` for `self.x`, and `x` with a prime where the body has changed it before. Locals
are replaced by their values, calls of helpers by their bodies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.places import local_of, outer_variable_of
from lawful.spec.analysis.walk import everything, replaced
from lawful.spec.text.expressions import Level, expr, operand
from lawful.spec.text.statements import path

PRIME = "\N{PRIME}"
SHORT = 24  # Characters; of a longer output only the type is shown.
Env = Mapping[str, ir.Expr]
Mark = Literal["", "lost", "won"]  # What became of something between two versions.
Ending = Literal["goes on", "returns", "refuses"]


@dataclass(frozen=True, slots=True)
class Way:
    """A control state that a body assigns, and the conditions on the way there."""

    state: str
    path: tuple[ir.Expr, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """The label of one transition.

    `timer` is empty where no timer fires it. The transition needs all `guards`. `brief` is a short
    form of `outputs`.
    """

    name: str
    event: str
    timer: str
    guards: tuple[str, ...]
    steps: tuple[str, ...]
    outputs: tuple[str, ...]
    brief: str
    mark: Mark = ""

    @property
    def head(self) -> str:
        """The event, and the timer that fires it."""
        return f"{self.event} after {self.timer}" if self.timer else self.event

    @property
    def full(self) -> str:
        """The whole label on one line."""
        guards = f" [{' and '.join(self.guards)}]" if self.guards else ""
        outputs = f" / {' or '.join(self.outputs)}" if self.outputs else ""
        return f"{self.head}{guards}{outputs}"


def label_of(m: ir.Machine, tr: ir.Transition, target: str = "") -> Label:
    """The label of a transition of the machine; of one with several targets, that of the edge to
    `target`, with the condition on which the body goes there where it can be read off."""
    reader = _Reader(m, frozenset(name for name, _ in tr.function.params), tr.control)
    reader.block(tr.function.body, {}, ())
    reader.guards += branch(reader.ways, tr.target or (), target)
    declared = str(tr.function.output)
    outputs = tuple(dict.fromkeys(declared if _hidden(e) else expr(e) for e in reader.outputs))
    return Label(
        name=tr.name,
        event=_event(tr),
        timer="" if tr.timer is None else path(tr.timer),
        guards=tuple(dict.fromkeys(operand(guard, Level.AND) for guard in reader.guards)),
        steps=tuple(reader.steps),
        outputs=outputs,
        brief=_brief(reader.outputs, declared) if outputs else "",
    )


def _event(tr: ir.Transition) -> str:
    """The event with its parameters; of records also the type."""
    params = [
        f"{name}: {type}" if isinstance(type, t.Record | t.Union) else name
        for name, type in tr.function.params
    ]
    return tr.event if tr.timer is not None and not params else f"{tr.event}({', '.join(params)})"


def _brief(outputs: list[ir.Expr], declared: str) -> str:
    if len({expr(output) for output in outputs}) > 1 or _hidden(outputs[0]):
        return declared
    text = expr(outputs[0])
    if len(text) <= SHORT:
        return text
    return f"{outputs[0].type}(…)" if isinstance(outputs[0], ir.Make) else declared


def _hidden(output: ir.Expr) -> bool:
    """Whether the output contains the value of a helper or part, which has no name."""
    return any(isinstance(e, ir.Local) and e.name[:1] == "_" for e in everything([output]))


class _Reader:
    """Reads the body of one transition; `params` are the names of its parameters."""

    def __init__(self, m: ir.Machine, params: frozenset[str], control: ir.Expr | None) -> None:
        self.m = m
        self.control = control
        # The states that the body assigns, each under conditions; None where they are unknown.
        self.ways: list[Way] | None = []
        self.params = params
        self.functions = {f.name: f for f in m.functions}
        self.guards: list[ir.Expr] = []
        self.outputs: list[ir.Expr] = []
        self.steps: list[str] = []
        self.changed: set[str] = set()

    # Expressions in the form of labels.

    def shown(self, e: ir.Expr, env: Env) -> ir.Expr:
        """The expression as a label shows it; `env` has the values of locals."""

        def change(e: ir.Node) -> ir.Node | None:
            match e:
                case ir.Local(name=name):
                    return env.get(name)
                case ir.Field(of=ir.Self(), name=name):
                    return self._variable(e, name)
                case ir.Needed(of=of):
                    return self.shown(of, env)
                case ir.Op(op="not", args=(of,)):
                    return negated(self.shown(of, env), e)
                case ir.Field(of=of, name=name) if isinstance(of.type, t.Record):
                    return _field(self.shown(of, env), e)
                case ir.Comp(clauses=clauses) if env.keys() & (names := bound(clauses)):
                    return self.shown(e, without(env, names))
                case ir.Call():
                    return self._inlined(e, env)
                case _:
                    return None

        shown = replaced(e, change)
        return shown if isinstance(shown, ir.Expr) else e

    def _variable(self, e: ir.Field, name: str) -> ir.Expr:
        text = name + PRIME if name in self.changed else name
        # Where a parameter has the same name, the variable keeps its `self`.
        if name in self.params:
            return dataclasses.replace(e, name=text)
        return ir.Local(e.place, e.type, text)

    def _inlined(self, e: ir.Call, env: Env) -> ir.Expr | None:
        """The body of a helper that is one `return`; None where inlining would capture a name."""
        helper = self._helper(e)
        match helper:
            case ir.Function(body=(ir.Return(value=ir.Expr() as value),)):
                args = [self.shown(arg, env) for arg in e.args]
                inside = {
                    name
                    for node in everything([value])
                    if isinstance(node, ir.Clause)
                    for name in node.names
                }
                free = {node.name for node in everything(args) if isinstance(node, ir.Local)}
                if inside & free:
                    return None
                names = [name for name, _ in helper.params]
                return self.shown(value, dict(zip(names, args, strict=True)))
            case _:
                return None

    def _helper(self, call: ir.Call) -> ir.Function | None:
        ours = call.of is None or isinstance(call.of, ir.Self)
        return self.functions.get(call.function) if ours else None

    # Statements.

    def block(
        self, body: Iterable[ir.Stmt], env: Env, path: tuple[ir.Expr, ...], output: bool = True
    ) -> Ending:
        """Read statements under the conditions `path`; with `output`, they return the output."""
        known = dict(env)
        for s in body:
            self._needs(s, known, path)
            match s:
                case ir.Branch():
                    ending, path = self._branch(s, known, path, output)
                    if ending != "goes on":
                        return ending
                case ir.Return(value=value):
                    if output and value is not None and not isinstance(value.type, t.Nothing):
                        self.outputs.append(self.shown(value, known))
                    return "returns"
                case ir.Refuse():
                    if path:
                        self._guard(negated(conjunction(path)), ())
                    return "refuses"
                case _:
                    self._simple(s, known, path)
        return "goes on"

    def _simple(self, s: ir.Stmt, known: dict[str, ir.Expr], path: tuple[ir.Expr, ...]) -> None:
        match s:
            case ir.Require(test=test):
                self._guard(self.shown(test, known), path)
            case ir.Assign(target=ir.Local(name=name), value=value):
                known[name] = self.shown(value, known)
            case ir.Assign(target=target, value=value):
                if target == self.control:
                    self._goes(self.shown(value, known), path)
                self._changes(target, known)
            case ir.Update(target=target, into=into):
                self._changes(target, known)
                self._takes(into, known)
            case ir.Unpack(names=names, value=ir.Op(op="tuple", args=args)):
                known.update(zip(names, [self.shown(arg, known) for arg in args], strict=True))
            case ir.Unpack(names=names):
                for name in names:
                    known.pop(name, None)
            case ir.Loop():
                self._loop(s, known, path)
            case ir.Step(part=part, name=name, args=args, into=into):
                given = ", ".join(expr(self.shown(arg, known)) for arg in args)
                at = expr(self.shown(part, known)).replace(PRIME, "")
                where = f" if {expr(conjunction(without_implied(path)))}" if path else ""
                self.steps.append(f"{at}.{name}({given}){where}")
                self._changes(part, known)
                self._takes(into, known)
            case ir.Base(name=name, args=args, into=into):
                found = [base.function for base in self.m.bases if base.name == name]
                self._run(found, args, known, path)
                self._takes(into, known)
            case ir.Do(call=call, into=into):
                helper = self._helper(call)
                self._run([helper] if helper else [], call.args, known, path)
                self._takes(into, known)
            case _:
                pass

    def _run(
        self,
        functions: Iterable[ir.Function],
        args: Iterable[ir.Expr],
        known: Env,
        path: tuple[ir.Expr, ...],
    ) -> None:
        """Read the body of a helper or of an inherited transition, inlined here."""
        given = [self.shown(arg, known) for arg in args]
        for f in functions:
            names = [name for name, _ in f.params]
            self.block(f.body, dict(zip(names, given, strict=True)), path, output=False)

    def _branch(
        self, s: ir.Branch, known: dict[str, ir.Expr], path: tuple[ir.Expr, ...], output: bool
    ) -> tuple[Ending, tuple[ir.Expr, ...]]:
        """Read both arms; how they end, and the conditions of the statements after them."""
        test = self.shown(s.test, known)
        taken = {name: self.shown(value, known) for name, value in taken_out(s)}
        before = set(self.changed)
        then = self.block(s.then, known, (*path, test), output)
        after, self.changed = self.changed, before
        other = self.block(s.other, known, (*path, negated(test)), output)
        self.changed |= after
        for name in assigned((*s.then, *s.other)):
            known.pop(name, None)
        known.update(taken)
        if then == "goes on" and other == "returns":
            return "goes on", (*path, test)
        if then == "returns" and other == "goes on":
            return "goes on", (*path, negated(test))
        return ("goes on" if "goes on" in (then, other) else "returns"), path

    def _loop(self, s: ir.Loop, known: dict[str, ir.Expr], path: tuple[ir.Expr, ...]) -> None:
        over = self.shown(s.over, known)
        inner = without(known, {*s.names, *assigned(s.body)})
        outer, self.guards = self.guards, []
        ways = self.ways
        self.block(s.body, inner, ())
        if self.ways != ways:
            self.ways = None
        each = ir.Clause(s.place, s.names, over, ())
        inside, self.guards = self.guards, outer
        for guard in inside:
            self._guard(ir.Comp(s.place, t.BOOL, "all", guard, None, (each,)), path)
        for name in assigned(s.body):
            known.pop(name, None)

    def _goes(self, value: ir.Expr, path: tuple[ir.Expr, ...]) -> None:
        match value:
            case ir.If(test=test, then=then, other=other):
                self._goes(then, (*path, test))
                self._goes(other, (*path, negated(test)))
            case ir.Const(value=str(state)) if self.ways is not None:
                self.ways = [*self.ways, Way(state, path)]
            case _:
                self.ways = None

    def _guard(self, test: ir.Expr, path: tuple[ir.Expr, ...]) -> None:
        if not path:
            # Separate guards: a label can break between them. A chained comparison stays one.
            whole = "and" not in expr(test).split()
            self.guards += test.args if isinstance(test, ir.And) and not whole else [test]
            return
        first = conjunction(path)
        # `not path or test` at this place in the source is shown as `implies`.
        no = ir.Op(first.place, t.BOOL, "not", (first,))
        self.guards.append(ir.Or(test.place, t.BOOL, (no, test)))

    def _needs(self, s: ir.Stmt, known: Env, path: tuple[ir.Expr, ...]) -> None:
        """Add the guards that `needed` makes in the expressions of a statement."""
        own = [
            getattr(s, field.name)
            for field in dataclasses.fields(s)
            if field.name not in ("then", "other", "body")
        ]
        for node in everything(own):
            if isinstance(node, ir.Needed):
                absent = ir.IsA(node.place, t.BOOL, self.shown(node.of, known), (t.NOTHING,))
                self._guard(negated(absent), path)

    def _changes(self, target: ir.Expr, known: dict[str, ir.Expr]) -> None:
        variable, local = outer_variable_of(target), local_of(target)
        if variable is not None:
            self.changed.add(variable)
        if local is not None:
            known.pop(local, None)

    def _takes(self, into: ir.Expr | None, known: dict[str, ir.Expr]) -> None:
        if into is not None:
            self._changes(into, known)


def branch(ways: Sequence[Way] | None, targets: Sequence[str], target: str) -> list[ir.Expr]:
    """The condition on which a body with several targets goes to one of them; none if it is not
    known, or if there is none. What is assigned last counts."""
    if len(targets) < 2 or not ways or {way.state for way in ways} != set(targets):
        return []
    found: list[ir.Expr] = []
    for number, way in enumerate(ways):
        if way.state != target:
            continue
        texts = [expr(negated(test)) for test in way.path]
        tests = [*way.path]
        for later in ways[number + 1 :]:
            if not later.path:
                break
            if not any(expr(test) in texts for test in later.path):
                tests.append(negated(conjunction(later.path)))
        else:
            if not tests:
                return []
            found.append(conjunction(without_implied(tuple(tests))))
    if len(found) < 2:
        return found
    return [ir.Or(found[0].place, t.BOOL, tuple(found))]


def _field(of: ir.Expr, e: ir.Field) -> ir.Expr:
    """A field of a record; its value, where the record is made in the same expression."""
    if isinstance(of, ir.Make) and isinstance(of.type, t.Record):
        return of.args[[name for name, _ in of.type.fields].index(e.name)]
    return dataclasses.replace(e, of=of)


def negated(e: ir.Expr, written: ir.Expr | None = None) -> ir.Expr:
    """The negation of a condition, by the opposite operator where there is one."""
    match e:
        case ir.Op(op="not", args=(of,)):
            return of
        case ir.Op(op=op) if op in ops.OPPOSITES:
            return dataclasses.replace(e, op=ops.OPPOSITES[op])
        case _:
            return ir.Op((written or e).place, t.BOOL, "not", (e,))


def conjunction(tests: tuple[ir.Expr, ...]) -> ir.Expr:
    """The conjunction of the conditions."""
    return tests[0] if len(tests) == 1 else ir.And(tests[0].place, t.BOOL, tests)


def without_implied(tests: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """The conditions without those that follow from a class test among them."""
    each = [arg for e in tests for arg in (e.args if isinstance(e, ir.And) else (e,))]
    classes = {expr(e.of): set(e.options) for e in each if isinstance(e, ir.IsA)}

    def is_of_another(e: ir.Expr) -> bool:
        if not isinstance(e, ir.IsA):
            return False
        known = classes.get(expr(e.of), set[t.Type]())
        return len(known) > 0 and known.isdisjoint(e.options)

    def is_implied(e: ir.Expr) -> bool:
        match e:
            case ir.Op(op="not", args=(ir.And(args=args),)):
                return any(is_of_another(arg) for arg in args)
            case ir.Op(op="not", args=(arg,)):
                return is_of_another(arg)
            case ir.Const(value=value):
                return value is True
            case _:
                return False

    return tuple(e for e in each if not is_implied(e)) or tests


def taken_out(s: ir.Branch) -> Iterator[tuple[str, ir.Expr]]:
    """The local to which `m.pop(k, None)` gives a value, and `m.get(k)`, which is that value."""
    match s:
        case ir.Branch(
            test=ir.Op(op="in", args=(key, of)),
            then=(ir.Assign(target=into, value=ir.Item() as value), ir.Update(op="delete")),
            other=(
                ir.Assign(target=ir.Local(name=name) as same, value=ir.Const(value=None) as none),
            ),
        ) if into == same and value.of == of and value.key == key:
            yield name, ir.Op(s.place, same.type, "get", (of, key, none))
        case _:
            pass


def bound(clauses: Iterable[ir.Clause]) -> set[str]:
    """The names that the clauses of a comprehension bind."""
    return {name for clause in clauses for name in clause.names}


def without(env: Env, names: Iterable[str]) -> dict[str, ir.Expr]:
    """The environment without these names."""
    return {name: value for name, value in env.items() if name not in set(names)}


def assigned(body: Iterable[ir.Stmt]) -> set[str]:
    """The locals that some statement of the body assigns, or changes where they stand."""
    out: set[str] = set()
    for node in everything(body):
        if isinstance(node, ir.Assign | ir.Update) and (name := local_of(node.target)) is not None:
            out.add(name)
        match node:
            case ir.Unpack(names=names) | ir.Loop(names=names):
                out.update(names)
            case ir.Update(into=into) | ir.Step(into=into) | ir.Base(into=into) | ir.Do(into=into):
                out.update({into.name} if isinstance(into, ir.Local) else ())
            case _:
                pass
    return out
