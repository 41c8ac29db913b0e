"""Steps as terms: one execution of a body for all states, arguments and parameters at once.

Branches are executed both ways and merged; what stops a step (a false guard, an operation without
a value, a false `assert`) is noted with the condition under which it is the first to do so. The
meaning is that of `reference`, statement by statement.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lawful.checks.smt.algebra.term import Term
from lawful.spec import ir
from lawful.spec import types as t

from .expressions import defaults
from .iteration import NO_FIRST
from .sorts import NotEncodable
from .statements import Statements
from .time import due, stopped
from .trail import BodyExit, Elements, Frame, OtherState, StatePath, Value


@dataclass(frozen=True)
class SymbolicStep:
    """One step, for all cases: where it happens, where it is stopped and by what, and its result.

    `done` is where nothing stopped it; bounds are judged there, by whoever asks. `outputs` are the
    values of the returns, each where it is reached. A sequence gets longer than it can be here by
    the scope (`beyond`: a step that leaves it), or inside a value with a `MaxLen` (`excess`).
    `laws` is true of the constants that were made on the way, in every state.
    """

    done: Term
    refused: Term
    undefined: Term
    asserts: Term
    bounds: Term
    ambiguous: Term
    beyond: Term
    excess: Term
    laws: Term
    after: Mapping[str, Value]
    outputs: tuple[tuple[Term, Value], ...]


class Execution(Statements):
    """Executes bodies; made for one step or one property."""

    # Entrances.

    def step(self, row: ir.Transition, args: Mapping[str, Value]) -> SymbolicStep:
        """One transition, from the state this execution was made with."""
        return self._outcome(lambda: self._transition(row, args, ()))

    def begin(self, function: ir.Function, args: Mapping[str, Value]) -> SymbolicStep:
        """An `@initial` method, from the defaults."""
        return self._outcome(lambda: self._body(function, args, ()))

    def began(self) -> SymbolicStep:
        """The start of a machine without `@initial`: the defaults, as they are."""
        return self._outcome(list)

    def judge(
        self,
        function: ir.Function,
        args: Mapping[str, Value],
        own: StatePath = (),
        machine: ir.Machine | None = None,
    ) -> tuple[Term, Term]:
        """A property's value, and whether it has one; of a part, the machine at a place."""
        value = self._merged(function, self._body(function, args, own, machine))
        if any(stop.kind in ("beyond", "excess") for stop in self.stops):
            raise NotEncodable("a sequence longer than any in the state", function.place)
        defined = self.logic.negate(self.stopped("undefined", "refused", "asserts"))
        return self._lawful(self.sure(value), function), self._lawful(defined, function)

    def _lawful(self, truth: Term, function: ir.Function) -> Term:
        """The same, of whatever keeps the laws of what was looked for: that alone does."""
        if not self.found:
            return truth
        if truth.shape is not self.logic.bool:
            raise NotEncodable(NO_FIRST, function.place)
        names = [name for name, _ in self.found]
        return self.logic.forall(names, self.logic.all(law for _, law in self.found), truth)

    def defaults(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """The state of a new instance with these parameters."""
        return defaults(self, self.frame.machine, given)

    def _outcome(self, run: Callable[[], list[BodyExit]]) -> SymbolicStep:
        returns = run()
        too_many = self.logic.all((self.path, self.extra))
        return SymbolicStep(
            done=self.logic.all((self.path, self.logic.negate(self.extra))),
            refused=self.stopped("refused"),
            undefined=self.stopped("undefined"),
            asserts=self.stopped("asserts"),
            bounds=self.logic.any((self.stopped("bounds"), too_many)),
            ambiguous=self.stopped("ambiguous"),
            beyond=self.stopped("beyond"),
            excess=self.stopped("excess"),
            laws=self.logic.all(law for _, law in self.found),
            after=dict(self.state),
            outputs=tuple((r.when, r.value) for r in returns if r.value is not None),
        )

    # Bodies.

    @contextmanager
    def _framed(
        self, machine: ir.Machine, own: StatePath | OtherState | Term | None
    ) -> Generator[Frame]:
        kept = self.frame
        self.frame = Frame(machine, own)
        try:
            yield self.frame
        finally:
            self.frame = kept

    def _body(
        self,
        function: ir.Function,
        args: Mapping[str, Value],
        own: StatePath | OtherState | Term | None,
        machine: ir.Machine | None = None,
    ) -> list[BodyExit]:
        """Execute a body; the ways out of it, the state merged over them."""
        with self._framed(machine or self.frame.machine, own) as frame:
            for name, kind in function.params:
                if name in args:
                    frame.locals[name] = (args[name], kind)
            frame.output = function.output
            self.block(function.body)
            returns = [*frame.returns, BodyExit(self.path, None, self.state)]
        alive = [r for r in returns if r.when is not self.logic.false]
        if alive:
            self.path = self.logic.any(r.when for r in alive)
            state = dict(alive[-1].state)
            for r in alive[-2::-1]:
                state = self.joined(r.when, r.state, state, function)
            self.state = state
        return alive

    def _merged(self, function: ir.Function, returns: Sequence[BodyExit]) -> Value:
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
            return Elements((), t.element(kind) or t.NOTHING)
        return self.logic.fresh("never", self.encoding.shape(kind))

    def _none(self) -> Term:
        return self.logic.make(self.encoding.data(t.NOTHING), 0, [])

    def _transition(
        self,
        row: ir.Transition,
        args: Mapping[str, Value],
        own: StatePath | OtherState | Term | None,
        machine: ir.Machine | None = None,
    ) -> list[BodyExit]:
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
                    timer = self.to_term(row.timer)
                self.stop("refused", logic.negate(due(self.encoding, timer)), row)
                self.store(row.timer, stopped(self.encoding))
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
    def _header(self) -> Generator[None]:
        """A missing key in a header refuses."""
        kept, self.stops = self.stops, []
        yield
        found, self.stops = self.stops, kept
        self.stops += [type(s)("refused", s.when, s.node) for s in found]

    # Calls.

    def call(self, e: ir.Call) -> Value:
        """The value of a helper, executed where it is called."""
        return self.helper(e)

    def helper(self, e: ir.Call) -> Value:
        machine, own = self.frame.machine, self.frame.own
        if e.of is None:
            own = None
        elif not isinstance(e.of, ir.Self):
            assert isinstance(e.of.type, t.Part)
            machine, own = self.encoding.inner(e.of.type.machine), self.owner(e.of)
        function = self._function(machine, e.function, e.of is None)
        pairs = zip(function.params, e.args, strict=True)
        args = {name: self.of_type(arg, kind) for (name, kind), arg in pairs}
        before = self.path
        count = len(self.stops)
        value = self._merged(function, self._body(function, args, own, machine))
        if len(self.stops) == count:
            self.path = before
        return self.fit(value, function.output, e.type, e)

    def _function(self, machine: ir.Machine, name: str, of_module: bool) -> ir.Function:
        """A helper or property of a machine; a module's function, whichever machine has it."""
        whole = self.encoding.machine
        owners = (machine, whole, *whole.parts) if of_module else (machine,)
        rows = [f for m in owners for f in m.functions if f.name == name]
        rows += [p.function for p in machine.properties if p.name == name]
        return rows[0]

    def can(self, e: ir.Can) -> Term:
        """Whether the step would not be refused; one that breaks a property is not."""
        args = [(self.eval(arg), arg.type) for arg in e.args]
        with self.inside(self.logic.true) as stops:
            trial = self._trial(self.state)
            own = trial.owner(e.part)
            if not isinstance(own, tuple):
                raise NotEncodable("can(...) of another state", e.place)
            stops.extend(trial.stops)
            trial.stops = []
            trial.perform(e.part, (e.name, args, e), own)
        for stop in (*stops, *(s for s in trial.stops if s.kind in ("beyond", "excess"))):
            self.stop(stop.kind, stop.when, stop.node)
        return self.logic.negate(trial.stopped("refused"))

    def _trial(self, state: Mapping[str, Value]) -> Execution:
        """What goes on from another state, in the same body."""
        trial = Execution(self.encoding, state, self.frame.machine)
        trial.frame, trial.found = self.frame, self.found
        return trial

    def perform(
        self,
        part: ir.Expr,
        call: tuple[str, Sequence[tuple[Value, t.Type]], ir.Node],
        own: StatePath,
    ) -> Value:
        """A transition or event of the machine at a place, within this step; its output."""
        name, given, node = call
        assert isinstance(part.type, t.Part)
        machine = self.encoding.inner(part.type.machine)
        event = next((e for e in machine.events if e.name == name), None)
        start = next((f for f in machine.initials if f.name == name), None)
        if start is not None:
            args = self.named(start.params, given, node)
            return self._merged(start, self._body(start, args, own, machine))
        if event is None:
            row = machine.transition(name)
            return self.taken(row, self.named(row.function.params, given, node), own, machine)
        rows = machine.serving(name)
        ignores = [i for i in machine.ignores if i.event == name]
        if len(rows) == 1 and not ignores:
            args = self.named(rows[0].function.params, given, node)
            output = self.taken(rows[0], args, own, machine)
            return self.fit(output, rows[0].function.output, event.output, node)
        return self._chosen(event, (rows, ignores, given, node), own, machine)

    def taken(
        self, row: ir.Transition, args: Mapping[str, Value], own: StatePath, machine: ir.Machine
    ) -> Value:
        before, count = self.path, len(self.stops)
        value = self._merged(row.function, self._transition(row, args, own, machine))
        if len(self.stops) == count:
            self.path = before
        return value

    def _chosen(
        self,
        event: ir.Event,
        call: tuple[Any, Any, Any, ir.Node],
        own: StatePath,
        machine: ir.Machine,
    ) -> Value:
        """An event with several transitions or ignores: the one that is not refused."""
        rows, ignores, given, node = call
        logic, before, state = self.logic, self.path, dict(self.state)
        trials: list[tuple[Term, Execution, Value]] = []
        for row in rows:
            trial = self._trial(state)
            args = trial.named(row.function.params, given, node)
            value = trial.taken(row, args, own, machine)
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
            self.state = self.joined(test, trial.state, self.state, node)
            for stop in trial.stops:
                if stop.kind != "refused":
                    self.stop(stop.kind, logic.all((test, stop.when)), stop.node)
        del before
        return none if output is None else output

    def _ignored(
        self,
        ignores: Sequence[ir.Ignore],
        given: Sequence[tuple[Value, t.Type]],
        own: StatePath,
        machine: ir.Machine,
    ) -> Term:
        found: list[Term] = []
        for row in ignores:
            where = self.logic.true
            if row.source is not None:
                kind = next(v.type for v in machine.variables if v.name == "state")
                now = self.sure(self.field_of(self.read(own), t.Part(machine.name), "state"))
                where = self.logic.any(
                    self.logic.equal(now, self.encoding.element(kind, s)) for s in row.source
                )
            if row.when is not None:
                args = self.named(row.when.params, given, row)
                returns = self._body(row.when, args, own, machine)
                where = self.logic.all((where, self.sure(self._merged(row.when, returns))))
            found.append(where)
        return self.logic.any(found)
