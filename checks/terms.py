"""Steps as terms: one execution of a body for all states, arguments and parameters at once.

Branches are executed both ways and merged; what stops a step (a false guard, an operation without
a value, a false `assert`) is noted with the condition under which it is the first to do so. The
meaning is that of `reference`, statement by statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t

from .encode import Encoding
from .expressions import Evaluator, defaults
from .logic import Term, same
from .shapes import NotEncodable, fields_of
from .symbols import At, Frame, Many, Missing, Place, Returned, Row, Value, Whole


@dataclass(frozen=True)
class Symbolic:
    """One step, for all cases: where it happens, where it is stopped and by what, and its result.

    `done` is where nothing stopped it; bounds are judged there, by whoever asks. `outputs` are the
    values of the returns, each where it is reached.
    """

    done: Term
    refused: Term
    undefined: Term
    asserts: Term
    bounds: Term
    ambiguous: Term
    after: Mapping[str, Value]
    outputs: tuple[tuple[Term, Value], ...]


class Execution(Evaluator):
    """Executes bodies; made for one step or one property."""

    # Entrances.

    def step(self, row: ir.Transition, args: Mapping[str, Value]) -> Symbolic:
        """One transition, from the state this execution was made with."""
        return self._outcome(lambda: self._transition(row, args, ()))

    def begin(self, function: ir.Function, args: Mapping[str, Value]) -> Symbolic:
        """An `@initial` method, from the defaults."""
        return self._outcome(lambda: self._body(function, args, ()))

    def began(self) -> Symbolic:
        """The start of a machine without `@initial`: the defaults, as they are."""
        return self._outcome(list)

    def judge(self, function: ir.Function, args: Mapping[str, Value]) -> tuple[Term, Term]:
        """A property's value, and whether it has one."""
        value = self._merged(function, self._body(function, args, ()))
        return self.sure(value), self.logic.negate(self.stopped("undefined", "refused", "asserts"))

    def defaults(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """The state of a new instance with these parameters."""
        return defaults(self, self.frame.machine, given)

    def _outcome(self, run: Callable[[], list[Returned]]) -> Symbolic:
        returns = run()
        return Symbolic(
            done=self.path,
            refused=self.stopped("refused"),
            undefined=self.stopped("undefined"),
            asserts=self.stopped("asserts"),
            bounds=self.stopped("bounds"),
            ambiguous=self.stopped("ambiguous"),
            after=dict(self.state),
            outputs=tuple((r.when, r.value) for r in returns if r.value is not None),
        )

    # Bodies.

    @contextmanager
    def _framed(self, machine: ir.Machine, own: Place | Whole | Term | None) -> Iterator[Frame]:
        kept = self.frame
        self.frame = Frame(machine, own)
        try:
            yield self.frame
        finally:
            self.frame = kept

    def _body(
        self, function: ir.Function, args: Mapping[str, Value], own: Place | Whole | Term | None,
        machine: ir.Machine | None = None,
    ) -> list[Returned]:  # fmt: skip
        """Execute a body; the ways out of it, the state merged over them."""
        with self._framed(machine or self.frame.machine, own) as frame:
            for name, kind in function.params:
                if name in args:
                    frame.locals[name] = (args[name], kind)
            frame.output = function.output
            self.block(function.body)
            returns = [*frame.returns, Returned(self.path, None, self.state)]
        alive = [r for r in returns if not same(r.when, self.logic.false)]
        if alive:
            self.path = self.logic.any(r.when for r in alive)
            state = dict(alive[-1].state)
            for r in alive[-2::-1]:
                state = self._joined(r.when, r.state, state, function)
            self.state = state
        return alive

    def _merged(self, function: ir.Function, returns: Sequence[Returned]) -> Value:
        """The value of a body: None's where it ends without `return`."""
        out: Value | None = None
        for r in reversed(returns):
            value = self._none() if r.value is None else r.value
            if r.value is None and not isinstance(function.output, t.Nothing):
                if not t.fits(t.NOTHING, function.output):
                    continue
                value = self.fit(value, t.NOTHING, function.output, function)
            out = value if out is None else self.merge(r.when, value, out, function)
        return self._never(function.output) if out is None else out

    def _never(self, kind: t.Type) -> Value:
        """A value of the type for where no execution gets."""
        if isinstance(kind, t.Seq | t.Iter):
            return Many((), t.element(kind) or t.NOTHING)
        return self.logic.fresh("never", self.encoding.shape(kind))

    def _none(self) -> Term:
        return self.logic.make(self.encoding.data(t.NOTHING), 0, [])

    def _joined(
        self, test: Term, then: Mapping[str, Value], other: Mapping[str, Value], node: ir.Node
    ) -> dict[str, Value]:
        return {
            name: self.merge(test, then[name], value, node) for name, value in other.items()
        }

    def _transition(
        self, row: ir.Transition, args: Mapping[str, Value], own: Place | Whole | Term | None,
        machine: ir.Machine | None = None,
    ) -> list[Returned]:  # fmt: skip
        machine = machine or self.frame.machine
        logic = self.logic
        with self._framed(machine, own) as frame:
            frame.locals.update({n: (args[n], k) for n, k in row.function.params if n in args})
            if row.source is not None and row.control is not None:
                with self._header():
                    now = self.to_term(row.control)
                self.stop("refused", logic.negate(self._among(now, row.control, row.source)), row)
            if row.timer is not None:
                with self._header():
                    armed = self.to_term(row.timer)
                self.stop("refused", logic.negate(armed), row)
                self.store(row.timer, logic.false)
        returns = self._body(row.function, args, own, machine)
        if row.target is not None and row.control is not None:
            with self._framed(machine, own) as frame:
                frame.locals.update({n: (args[n], k) for n, k in row.function.params if n in args})
                if len(row.target) == 1:
                    target = self.encoding.element(row.control.type, row.target[0])
                    self.store(row.control, target)
                else:
                    now = self.to_term(row.control)
                    allowed = self._among(now, row.control, row.target)
                    self.stop("bounds", logic.negate(allowed), row)
        return returns

    def _among(self, now: Term, control: ir.Expr, names: Sequence[str]) -> Term:
        return self.logic.any(
            self.logic.equal(now, self.encoding.element(control.type, name)) for name in names
        )

    @contextmanager
    def _header(self) -> Iterator[None]:
        """A missing key in a header refuses."""
        kept, self.stops = self.stops, []
        yield
        found, self.stops = self.stops, kept
        self.stops += [type(s)("refused", s.when, s.node) for s in found]

    # Calls.

    def call(self, e: ir.Call) -> Value:
        """The value of a helper, executed where it is called."""
        return self._helper(e)

    def _helper(self, e: ir.Call) -> Value:
        machine, own = self.frame.machine, self.frame.own
        if e.of is None:
            machine, own = self.encoding.machine, None
        elif not isinstance(e.of, ir.Self):
            assert isinstance(e.of.type, t.Part)
            machine, own = self.encoding.inner(e.of.type.machine), self._owner(e.of)
        function = self._function(machine, e.function)
        pairs = zip(function.params, e.args, strict=True)
        args = {name: self.of_type(arg, kind) for (name, kind), arg in pairs}
        before = self.path
        count = len(self.stops)
        value = self._merged(function, self._body(function, args, own, machine))
        if len(self.stops) == count:
            self.path = before
        return self.fit(value, function.output, e.type, e)

    def _function(self, machine: ir.Machine, name: str) -> ir.Function:
        rows = [f for f in machine.functions if f.name == name]
        rows += [p.function for p in machine.properties if p.name == name]
        return rows[0]

    def _owner(self, of: ir.Expr) -> Place | Whole | Term:
        """Whose body is executed: a place of the state, or another state that is only read."""
        if isinstance(self._root(of), ir.Self) and isinstance(self.frame.own, tuple):
            return self.place(of)
        value = self.eval(of)
        return value if isinstance(value, Whole) else self.sure(value)

    def _root(self, e: ir.Expr) -> ir.Expr:
        while isinstance(e, ir.Field | ir.Item | ir.Narrow):
            e = e.of
        return e

    def can(self, e: ir.Can) -> Term:
        """Whether the step would not be refused; one that breaks a property is not."""
        args = [(self.eval(arg), arg.type) for arg in e.args]
        with self.inside(self.logic.true) as stops:
            trial = Execution(self.encoding, self.state, self.frame.machine)
            trial.frame = self.frame
            own = trial._owner(e.part)
            if not isinstance(own, tuple):
                raise NotEncodable("can(...) of another state", e.place)
            stops += trial.stops
            trial.stops = []
            trial.perform(e.part, (e.name, args, e), own)
        for stop in stops:
            self.stop(stop.kind, stop.when, stop.node)
        return self.logic.negate(trial.stopped("refused"))

    def perform(
        self, part: ir.Expr, call: tuple[str, Sequence[tuple[Value, t.Type]], ir.Node], own: Place
    ) -> Value:
        """A transition or event of the machine at a place, within this step; its output."""
        name, given, node = call
        assert isinstance(part.type, t.Part)
        machine = self.encoding.inner(part.type.machine)
        event = next((e for e in machine.events if e.name == name), None)
        if event is None:
            row = machine.transition(name)
            return self._taken(row, self._named(row.function.params, given, node), own, machine)
        rows = machine.serving(name)
        ignores = [i for i in machine.ignores if i.event == name]
        if len(rows) == 1 and not ignores:
            args = self._named(rows[0].function.params, given, node)
            output = self._taken(rows[0], args, own, machine)
            return self.fit(output, rows[0].function.output, event.output, node)
        return self._chosen(event, (rows, ignores, given, node), own, machine)

    def _named(
        self, params: Sequence[tuple[str, t.Type]], given: Sequence[tuple[Value, t.Type]],
        node: ir.Node,
    ) -> dict[str, Value]:  # fmt: skip
        return {
            name: self.fit(value, source, kind, node)
            for (name, kind), (value, source) in zip(params, given, strict=True)
        }

    def _taken(
        self, row: ir.Transition, args: Mapping[str, Value], own: Place, machine: ir.Machine
    ) -> Value:
        before, count = self.path, len(self.stops)
        value = self._merged(row.function, self._transition(row, args, own, machine))
        if len(self.stops) == count:
            self.path = before
        return value

    def _chosen(
        self, event: ir.Event, call: tuple[Any, Any, Any, ir.Node], own: Place, machine: ir.Machine
    ) -> Value:
        """An event with several transitions or ignores: the one that is not refused."""
        rows, ignores, given, node = call
        logic, before, state = self.logic, self.path, dict(self.state)
        trials: list[tuple[Term, Execution, Value]] = []
        for row in rows:
            trial = Execution(self.encoding, state, self.frame.machine)
            trial.frame = self.frame
            args = trial._named(row.function.params, given, node)
            value = trial._taken(row, args, own, machine)
            value = trial.fit(value, row.function.output, event.output, node)
            trials.append((logic.negate(trial.stopped("refused")), trial, value))
        idle = self._ignored(ignores, given, own, machine)
        taken = [test for test, _, _ in trials]
        several = [logic.all((a, b)) for i, a in enumerate(taken) for b in taken[:i]]
        self.stop("refused", logic.negate(logic.any((*taken, idle))), node)
        self.stop("ambiguous", logic.any(several), node)
        none = self._none()
        output: Value | None = None
        if t.fits(t.NOTHING, event.output):
            output = self.fit(none, t.NOTHING, event.output, node)
        for test, trial, value in trials:
            output = value if output is None else self.merge(test, value, output, node)
            self.state = self._joined(test, trial.state, self.state, node)
            for stop in trial.stops:
                if stop.kind != "refused":
                    self.stop(stop.kind, logic.all((test, stop.when)), stop.node)
        del before
        return none if output is None else output

    def _ignored(
        self, ignores: Sequence[ir.Ignore], given: Sequence[tuple[Value, t.Type]], own: Place,
        machine: ir.Machine,
    ) -> Term:  # fmt: skip
        found: list[Term] = []
        for row in ignores:
            where = self.logic.true
            if row.source is not None:
                kind = machine.variable("state").type
                now = self.sure(self.field_of(self.read(own), t.Part(machine.name), "state"))
                where = self.logic.any(
                    self.logic.equal(now, self.encoding.element(kind, s)) for s in row.source
                )
            if row.when is not None:
                args = self._named(row.when.params, given, row)
                returns = self._body(row.when, args, own, machine)
                where = self.logic.all((where, self.sure(self._merged(row.when, returns))))
            found.append(where)
        return self.logic.any(found)

    # Places.

    def place(self, e: ir.Expr) -> Place:
        """Where an expression stands in the state; a missing key on the way is undefined."""
        match e:
            case ir.Self():
                assert isinstance(self.frame.own, tuple)
                return self.frame.own
            case ir.Field(of=of, name=name):
                return (*self.place(of), At(of.type, name))
            case ir.Item(of=of, key=key):
                inner = self.place(of)
                self.eval(e)  # The key must be there, or the step stops here.
                assert isinstance(of.type, t.Map)
                return (*inner, At(of.type, key=self.to_term(key, of.type.key)))
            case ir.Narrow(of=of):
                return self.place(of)
            case _:
                raise NotEncodable("a change of what is no place", e.place)

    def write(self, place: Place, value: Value, node: ir.Node) -> None:
        """Put a value at a place of the state."""
        first, rest = place[0], place[1:]
        self.state[first.name] = self._inside(self.state[first.name], rest, value, node)

    def _inside(self, held: Value, place: Place, value: Value, node: ir.Node) -> Value:
        if not place:
            return value
        at, rest, encoding = place[0], place[1:], self.encoding
        container = self.term(held, at.of, node)
        if at.key is None:
            names = [name for name, _ in encoding.variants(at.of)[0][1]]
            fields: list[Value] = [self.field_of(container, at.of, name) for name in names]
            i = names.index(at.name)
            fields[i] = self._inside(fields[i], rest, value, node)
            return self.made(at.of, fields)
        inner: Value = encoding.get(at.of, container, at.key)[1]
        new = self.sure(self._inside(inner, rest, value, node))
        if isinstance(at.of, t.Map) and not at.of.total:
            new = encoding.present(at.of.value, new)
        return self.logic.write(container, at.key, new)

    def store(self, target: ir.Expr, value: Value) -> None:
        """Assign a place: a local, a field, or an item of a map or bag; the value fits there."""
        match target:
            case ir.Local(name=name):
                self.frame.locals[name] = (value, target.type)
            case ir.Field():
                self.write(self.place(target), value, target)
            case ir.Item(of=of, key=key):
                kind = of.type
                held = self.term(self.eval(of), kind, of)
                item = t.element(kind)
                if item is None or not isinstance(kind, t.Map | t.Bag):
                    raise NotEncodable(f"an item of a {kind} is assigned", target.place)
                at = self.to_term(key, item)
                new = self.sure(value)
                if isinstance(kind, t.Map) and not kind.total:
                    new = self.encoding.present(kind.value, new)
                elif isinstance(kind, t.Map):
                    known = self.encoding.bounds(at, kind.key)
                    self.stop("bounds", self.logic.negate(known), target)
                self.store(of, self.logic.write(held, at, new))
            case ir.Narrow(of=of):
                self.store(of, self.fit(value, target.type, of.type, target))
            case _:
                raise NotEncodable("a change of what is no place", target.place)

    # Statements.

    def block(self, body: Sequence[ir.Stmt]) -> None:
        """Execute statements in order, as far as any execution gets."""
        for stmt in body:
            if same(self.path, self.logic.false):
                return
            try:
                RUN[stmt.__class__](self, stmt)
            except NotEncodable as error:
                raise error if error.place else NotEncodable(error.construct, stmt.place) from error

    def choose(self, test: Term, then: Callable[[], None], other: Callable[[], None]) -> None:
        """Do both, each where it is done, and merge what comes of it."""
        logic, before, count = self.logic, self.path, len(self.stops)
        returned = len(self.frame.returns)
        state, names = dict(self.state), dict(self.frame.locals)
        self.path = logic.all((before, test))
        then()
        mine = (self.path, self.state, self.frame.locals)
        self.state, self.frame.locals = dict(state), dict(names)
        self.path = logic.all((before, logic.negate(test)))
        other()
        theirs = (self.path, self.state, self.frame.locals)
        if same(mine[0], logic.false) or same(theirs[0], logic.false):
            self.path, self.state, self.frame.locals = (
                theirs if same(mine[0], logic.false) else mine
            )
            return
        self.path = logic.any((mine[0], theirs[0]))
        if len(self.stops) == count and len(self.frame.returns) == returned:
            self.path = before
        self._merge_both(test, mine[1:], theirs[1:])

    def _merge_both(self, test: Term, mine: tuple[Any, Any], theirs: tuple[Any, Any]) -> None:
        node = self.frame.machine
        self.state = self._joined(test, mine[0], theirs[0], node)
        names = {**mine[1], **theirs[1]}
        for name in mine[1].keys() & theirs[1].keys():
            (a, kind), (b, _) = mine[1][name], theirs[1][name]
            try:
                names[name] = (self.merge(test, a, b, node), kind)
            except NotEncodable as error:
                names[name] = (Missing(f"the local {name}: {error.construct}"), kind)
        self.frame.locals = names


def _assign(run: Execution, s: ir.Assign) -> None:
    run.store(s.target, run.of_type(s.value, s.target.type))


def _unpack(run: Execution, s: ir.Unpack) -> None:
    run.bind(s.names, run.eval(s.value), s.value.type)


def _branch(run: Execution, s: ir.Branch) -> None:
    test = run.to_term(s.test)
    run.choose(test, lambda: run.block(s.then), lambda: run.block(s.other))


def _loop(run: Execution, s: ir.Loop) -> None:
    if _escapes(s.body):
        raise NotEncodable("a loop that is left early", s.place)
    many = run.elements(run.eval(s.over), s.over.type, s)
    if not many.listed:
        raise NotEncodable(f"a loop over a {s.over.type}, which has no bound", s.place)
    for row in many.rows:
        run.choose(row.when, lambda row=row: _round(run, s, row, many), lambda: None)


def _round(run: Execution, s: ir.Loop, row: Row, many: Many) -> None:
    run.bind(s.names, row.value, many.item)
    run.block(s.body)


def _escapes(body: Sequence[ir.Stmt]) -> bool:
    return any(
        isinstance(s, ir.Break | ir.Continue)
        or isinstance(s, ir.Branch) and (_escapes(s.then) or _escapes(s.other))
        for s in body
    )


def _return(run: Execution, s: ir.Return) -> None:
    value = None if s.value is None else run.of_type(s.value, run.frame.output)
    run.frame.returns.append(Returned(run.path, value, dict(run.state)))
    run.path = run.logic.false


def _require(run: Execution, s: ir.Require) -> None:
    run.stop("refused", run.logic.negate(run.to_term(s.test)), s)


def _refuse(run: Execution, s: ir.Refuse) -> None:
    run.stop("refused", run.logic.true, s)


def _assert(run: Execution, s: ir.Assert) -> None:
    run.stop("asserts", run.logic.negate(run.to_term(s.test)), s)


def _step(run: Execution, s: ir.Step) -> None:
    args = [(run.eval(arg), arg.type) for arg in s.args]
    own = run._owner(s.part)
    if not isinstance(own, tuple):
        raise NotEncodable("a step of what is no part of this state", s.place)
    _into(run, s.into, run.perform(s.part, (s.name, args, s), own), s)


def _base(run: Execution, s: ir.Base) -> None:
    row = next(row for row in run.frame.machine.bases if row.name == s.name)
    given = [(run.eval(arg), arg.type) for arg in s.args]
    own = run.frame.own
    assert isinstance(own, tuple)
    args = run._named(row.function.params, given, s)
    value = run._taken(row, args, own, run.frame.machine)
    if s.into is not None:
        run.store(s.into, run.fit(value, row.function.output, s.into.type, s))


def _do(run: Execution, s: ir.Do) -> None:
    value = run._helper(s.call)
    if s.into is not None:
        run.store(s.into, run.fit(value, s.call.type, s.into.type, s))


def _into(run: Execution, place: ir.Expr | None, value: Value, s: ir.Step) -> None:
    if place is None:
        return
    assert isinstance(s.part.type, t.Part)
    machine = run.encoding.inner(s.part.type.machine)
    rows = [e.output for e in machine.events if e.name == s.name]
    output = rows[0] if rows else machine.transition(s.name).function.output
    run.store(place, run.fit(value, output, place.type, s))


def _update(run: Execution, s: ir.Update) -> None:
    kind = s.target.type
    if not isinstance(kind, t.Set | t.Map | t.Bag | t.Timer):
        raise NotEncodable(f"{s.op} of a {kind}", s.place)
    held = run.term(run.eval(s.target), kind, s)
    if isinstance(kind, t.Timer):
        for arg in s.args:
            run.eval(arg)
        run.store(s.target, run.logic.truth(s.op == "start"))
        return
    new, given = _changed(run, s, kind, held)
    run.store(s.target, new)
    if s.into is not None and given is not None:
        source = kind.value if isinstance(kind, t.Map) else t.NOTHING
        if len(s.args) == 2:
            source = s.into.type
        run.store(s.into, run.fit(given, source, s.into.type, s))


def _changed(
    run: Execution, s: ir.Update, kind: t.Set | t.Map | t.Bag, held: Term
) -> tuple[Term, Value | None]:
    """The container after an update, and what the update gives."""
    logic, encoding = run.logic, run.encoding
    if s.op == "clear":
        return encoding.empty(kind), None
    item = t.element(kind)
    assert item is not None
    if s.op == "update":
        other = run.to_term(s.args[0], kind)
        key = logic.fresh("k", encoding.shape(item))
        there = encoding.get(kind, other, key)[0]
        entry = logic.choose(there, logic.read(other, key), logic.read(held, key))
        return logic.by_cases(key, entry), None
    key = run.to_term(s.args[0], item)
    there, value = encoding.get(kind, held, key)
    if s.op in ("remove", "delete") or s.op == "pop" and len(s.args) == 1:
        if not isinstance(kind, t.Bag):
            run.stop("undefined", logic.negate(there), s)
    given: Value = value
    if len(s.args) == 2 and s.into is not None and isinstance(kind, t.Map):
        default = run.of_type(s.args[1], s.into.type)
        given = run.merge(there, run.fit(value, kind.value, s.into.type, s), default, s)
    match kind:
        case t.Set():
            return logic.write(held, key, logic.truth(s.op == "add")), None
        case t.Bag():
            return logic.write(held, key, logic.number(0)), None
        case _:
            return logic.write(held, key, encoding.absent(kind.value)), given


def _left(run: Execution, s: ir.Stmt) -> None:
    raise NotEncodable("a loop that is left early", s.place)


RUN: Mapping[type[ir.Stmt], Callable[[Any, Any], None]] = {
    ir.Assign: _assign,
    ir.Update: _update,
    ir.Unpack: _unpack,
    ir.Branch: _branch,
    ir.Loop: _loop,
    ir.Break: _left,
    ir.Continue: _left,
    ir.Return: _return,
    ir.Require: _require,
    ir.Refuse: _refuse,
    ir.Assert: _assert,
    ir.Step: _step,
    ir.Base: _base,
    ir.Do: _do,
}

__all__ = ["Encoding", "Execution", "NotEncodable", "Symbolic", "fields_of"]
