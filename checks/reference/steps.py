"""The reference engine: what a step is, executed statement by statement.

It defines the language; every other engine is compared with it. Language page, "What a step is".
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.outcomes import Reason, joined
from lawful.spec.sorting import in_order
from lawful.spec.text import reasons as words
from lawful.spec.text.reasons import named, shown, told
from lawful.spec.text.statements import expr as expr_text
from lawful.spec.text.statements import path
from lawful.spec.values import bounds
from lawful.spec.values.time import clock_of
from lawful.spec.values.world import encode

from .bounds import Breaches
from .clauses import clause, explain
from .containers import UPDATES, put
from .expressions import SELF, Env, Guard, Meaning, Said
from .missing_values import NoValue, valued
from .outcome import Broken, Done, Fault, Outcome, Refusal
from .states import State, WorkingCopy, freeze, private, thaw
from .time import advance, urgent_and_due

__all__ = ["Broken", "Done", "Fault", "Outcome", "Reference", "Refusal"]


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Left(Exception):
    """`break`."""


class _Next(Exception):
    """`continue`."""


class Reference(Meaning):
    """Executes a machine; states are values, nothing is shared between steps."""

    present = 0  # The tick in which the step happens.

    # Making states.

    def fresh(self, machine: str, given: Mapping[str, Any]) -> WorkingCopy:
        """The state that the defaults give, with these parameters and variables."""
        m = self.machines[machine]
        values = [given[v.name] if v.name in given else self.start_of(v) for v in m.variables]
        return WorkingCopy([*values, *self._fixed(m, given)])

    def start_of(self, v: ir.Variable) -> Any:
        """The value that a variable's default gives."""
        if isinstance(v.type, t.Clock):
            return self.present  # A part has the clock of its whole.
        return None if v.initial is None else self.eval(v.initial, {})

    def _fixed(self, m: ir.Machine, given: Mapping[str, Any]) -> list[Any]:
        defaults = [None if p.default is None else self.eval(p.default, {}) for p in m.parameters]
        both = zip(m.parameters, defaults, strict=True)
        return [given.get(p.name, default) for p, default in both]

    def parameters(self, given: Mapping[str, Any]) -> State:
        """A state in which only the parameters are known, for evaluating `@assume`."""
        fixed = self._fixed(self.machine, given)
        return freeze(WorkingCopy([*(None for _ in self.machine.variables), *fixed]))

    def initial(self, parameters: Mapping[str, Any]) -> State:
        """The state of a new instance with these parameters, before any `@initial`."""
        self.present = 0
        return freeze(self.fresh(self.machine.name, parameters))

    def start(self, state: State, function: ir.Function, args: Mapping[str, Any]) -> Outcome:
        """The outcome of an `@initial` method from the defaults."""
        return self.outermost(
            state, function.name, lambda working: self._body(working, function, args)
        )

    # Steps.

    def step(self, state: State, transition: str, args: Mapping[str, Any]) -> Outcome:
        """The outcome of one transition with these arguments: the outermost step.

        The state must be within the bounds of its types; of the next one, new values are checked.
        """
        row = self.machine.transition(transition)
        return self.outermost(
            state, transition, lambda working: self.enter(working, row, args), state
        )

    def outermost(
        self,
        state: State,
        name: str,
        run: Callable[[WorkingCopy], Any],
        before: State | None = None,
    ) -> Outcome:
        """The outcome of what `run` does to a private copy of the state, with its bounds judged."""
        working = thaw(state)
        clock = clock_of(self.machine)
        self.present = 0 if clock is None else working[self.layout[self.machine.name][clock.name]]
        try:
            output = run(working)
        except Guard as guard:
            return Refusal(name, _lazy(self, guard, name))
        except NoValue as error:
            return Fault("undefined", str(error), name)
        except Broken as broken:
            return Fault(broken.name, broken.what, name)
        after = freeze(working)
        out_of = self.breach(self.machine.name, after, before) or self._output_breach(name, output)
        return Fault("bounds", out_of, name) if out_of else Done(after, output, name)

    def breach(self, machine: str, state: State, before: State | None = None) -> str | None:
        """What is out of its type's bounds in a state, parts included, or None.

        A value that is the same object in `before`, a state that was checked, is not checked again.
        """
        # Parameters of a part come from a step of its whole; the whole's own were checked before.
        return Breaches(self.machines, self.machine.name).of(machine, state, before)

    def _output_breach(self, name: str, output: Any) -> str | None:
        rows = [x for x in self.machine.transitions if x.name == name]
        kind = rows[0].function.output if rows else t.NOTHING
        found = None if output is None else bounds.breach(output, kind)
        return None if found is None else f"the output: {found}"

    def enter(self, working: WorkingCopy, row: ir.Transition, args: Mapping[str, Any]) -> Any:
        """A transition, header and body, on a machine that the step may change."""
        env: Env = {SELF: working, **args}
        self.header(row, env)
        output = self._body(working, row.function, args)
        if row.target is not None and row.control is not None:
            if len(row.target) == 1:
                assert isinstance(row.control.type, t.Enum)
                target = self.world.enums[row.control.type.name][row.target[0]]
                self.store(row.control, target, env)
            elif self.eval(row.control, env).name not in row.target:
                now = self.eval(row.control, env).name
                raise Broken("bounds", f"{now} is none of {', '.join(row.target)}")
        return output

    def header(self, row: ir.Transition, env: Env) -> None:
        """The guards of a transition's header; its timer is disarmed."""
        if row.control is not None:
            state = self._header(row.control, env)
            if row.source is not None and state.name not in row.source:
                raise _elsewhere(row.control, state.name, row.source)
        if row.timer is not None:
            timer, value = row.timer, self._header(row.timer, env)
            left = None if value is self.stopped else self.left(value)
            if left != "":
                raise _header_guard(lambda: (words.timer(timer, left), {}))
            self.store(row.timer, self.stopped, env)

    def _header(self, place: ir.Expr, env: Env) -> Any:
        try:
            return self.eval(place, env)
        except NoValue as error:
            raise self._absent(place, env) from error

    def _absent(self, place: ir.Expr, env: Env) -> Guard:
        """The refusal for the first key of a header's place that is missing."""
        match place:
            case ir.Item(of=of, key=key):
                try:
                    self.eval(of, env)
                except NoValue:
                    return self._absent(of, env)
                value = self.eval(key, env)
                form, text = encode(value, key.type), told(value, key.type)
                values = named(key, [form]) if shown(key) == (key,) else {}
                return _header_guard(lambda: (words.absent(of, text), values))
            case ir.Field(of=of) | ir.Narrow(of=of):
                return self._absent(of, env)
            case _:
                raise AssertionError(f"no place of a header: {expr_text(place)}")

    def _body(self, working: WorkingCopy, function: ir.Function, args: Mapping[str, Any]) -> Any:
        return self.run(function.body, {SELF: working, **args})

    def run(self, body: tuple[ir.Stmt, ...], env: Env) -> Any:
        """Run a body; its return value."""
        try:
            self.block(body, env)
        except _Returned as returned:
            return returned.value
        return None

    def can(self, part: Any, kind: t.Type, name: str, args: list[Any]) -> bool:
        """Whether the call is not refused; a step that violates a property is not refused."""
        assert isinstance(kind, t.Part)
        try:
            self.call_step(private(part), kind.machine, name, args)
        except Guard:
            return False
        except (NoValue, Broken):
            return True
        return True

    def enabled(self, state: Any, event: str, args: list[Any]) -> bool:
        """Whether a transition of the machine accepts the event; it may end in a fault."""
        taken, _ = self._trials(private(state), self.machine.serving(event), args)
        return bool(taken)

    def call_step(self, working: WorkingCopy, machine: str, name: str, args: list[Any]) -> Any:
        """A transition or event of a part, within the caller's step."""
        m = self.machines[machine]
        event = next((e for e in m.events if e.name == name), None)
        start = next((f for f in m.initials if f.name == name), None)
        if start is not None:
            return self._body(working, start, bind(start.params, args))
        if event is None:
            row = m.transition(name)
            return self.enter(working, row, bind(row.function.params, args))
        serving = m.serving(name)
        if len(serving) == 1 and all(row.event != name for row in m.ignores):
            # A refusal refuses the whole step, so no copy is needed to undo this call.
            return self.enter(working, serving[0], bind(event.params, args))
        taken, refused = self._trials(working, serving, args)
        if len(taken) > 1:
            raise Broken("ambiguous", f"{len(taken)} transitions of {machine}.{name} are enabled")
        if taken:
            trial, run = taken[0]
            output = run()
            working[:] = trial
            return output
        if self.ignored(m, freeze(working), name, bind(event.params, args)):
            return None
        raise _header_guard(lambda: self._joined(refused))

    def _trials(
        self, working: WorkingCopy, rows: tuple[ir.Transition, ...], args: list[Any]
    ) -> tuple[list[tuple[WorkingCopy, Callable[[], Any]]], list[tuple[str, Guard]]]:
        """Try each transition on a copy; the enabled ones, faulty ones too, and the refusals."""
        taken: list[tuple[WorkingCopy, Callable[[], Any]]] = []
        refused: list[tuple[str, Guard]] = []
        for row in rows:
            trial = private(working)
            try:
                output = self.enter(trial, row, bind(row.function.params, args))
            except Guard as guard:
                refused.append((row.name, guard))
            except (NoValue, Broken) as fault:
                taken.append((trial, functools.partial(_raise, fault)))
            else:
                taken.append((trial, functools.partial(_give, output)))
        return taken, refused

    def _joined(self, refused: list[tuple[str, Guard]]) -> Said:
        """Why no transition of a part's event is enabled, in one clause."""
        reasons = [explain(self, guard, name) for name, guard in refused]
        values = {k: v for reason in reversed(reasons) for k, v in reason.values.items()}
        return joined(reasons) or "no transition serves it", values

    def ignored(
        self, m: ir.Machine, state: State, event: str, args: Mapping[str, Any]
    ) -> ir.Ignore | None:
        """The `ignore` that accepts the event in this state, if one does."""
        for row in m.ignores:
            if row.event != event:
                continue
            if row.source is not None:
                now = state[self.layout[m.name]["state"]]
                if now.name not in row.source:
                    continue
            if row.when is not None:
                given = bind(row.when.params, list(args.values()))
                if not self.run(row.when.body, {SELF: state, **given}):
                    continue
            return row
        return None

    # Statements.

    def block(self, body: tuple[ir.Stmt, ...], env: Env) -> None:
        """Run the statements in order."""
        for stmt in body:
            RUN[stmt.__class__](self, stmt, env)

    def store(self, target: ir.Expr, value: Any, env: Env) -> None:
        """Assign a place: a local, a machine's field, or an item of a container at a place."""
        match target:
            case ir.Local(name=name):
                env[name] = value
            case ir.Field(of=of, name=name):
                assert isinstance(of.type, t.Part)
                self.eval(of, env)[self.layout[of.type.machine][name]] = value
            case ir.Item(of=of, key=key):
                held, at = self.eval(of, env), self.eval(key, env)
                self.store(of, valued(target, put, held, at, value), env)
            case ir.Narrow(of=of):
                self.store(of, value, env)
            case _:
                raise AssertionError(f"not a place: {expr_text(target)}")


def _raise(fault: Exception) -> NoReturn:
    raise fault


def _give(output: Any) -> Any:
    return output


def _elsewhere(control: ir.Expr, state: str, allowed: tuple[str, ...]) -> Guard:
    def says() -> Said:
        place = path(control)
        return words.source(place, state, allowed), {place: state}

    return _header_guard(says)


def _header_guard(says: Callable[[], Said]) -> Guard:
    return Guard(None, None, {}, says)


def _lazy(m: Reference, guard: Guard, transition: str) -> Callable[[], Reason]:
    return lambda: explain(m, guard, transition)


# Statements, one small function each.


def _assign(m: Reference, s: ir.Assign, env: Env) -> None:
    m.store(s.target, m.eval(s.value, env), env)


def _unpack(m: Reference, s: ir.Unpack, env: Env) -> None:
    env.update(zip(s.names, m.eval(s.value, env), strict=True))


def _branch(m: Reference, s: ir.Branch, env: Env) -> None:
    m.block(s.then if m.eval(s.test, env) else s.other, env)


def _loop(m: Reference, s: ir.Loop, env: Env) -> None:
    for item in m.asked(in_order(m.eval(s.over, env))):
        if len(s.names) == 1:
            env[s.names[0]] = item
        else:
            env.update(zip(s.names, item, strict=True))
        try:
            m.block(s.body, env)
        except _Left:
            break
        except _Next:
            continue


def _return(m: Reference, s: ir.Return, env: Env) -> None:
    raise _Returned(None if s.value is None else m.eval(s.value, env))


def _require(m: Reference, s: ir.Require, env: Env) -> None:
    if not m.eval(s.test, env):
        raise Guard(s.test, s.why, env)


def _refuse(m: Reference, s: ir.Refuse, env: Env) -> None:
    raise Guard(None, s.why, env)


def _assert(m: Reference, s: ir.Assert, env: Env) -> None:
    if not m.eval(s.test, env):
        raise Broken("asserts", clause(m, s.test, env))


def _step(m: Reference, s: ir.Step, env: Env) -> None:
    assert isinstance(s.part.type, t.Part)
    args = [m.eval(arg, env) for arg in s.args]
    _into(m, s.into, m.call_step(m.eval(s.part, env), s.part.type.machine, s.name, args), env)


def _base(m: Reference, s: ir.Base, env: Env) -> None:
    owner = next(x for x in m.machines.values() for row in x.bases if row.name == s.name)
    row = next(row for row in owner.bases if row.name == s.name)
    args = [m.eval(arg, env) for arg in s.args]
    _into(m, s.into, m.enter(env[SELF], row, bind(row.function.params, args)), env)


def _do(m: Reference, s: ir.Do, env: Env) -> None:
    assert s.call.of is not None and isinstance(s.call.of.type, t.Part)
    function = m.functions[s.call.of.type.machine, s.call.function]
    args = [m.eval(arg, env) for arg in s.call.args]
    working = m.eval(s.call.of, env)
    _into(m, s.into, m.run(function.body, {SELF: working, **bind(function.params, args)}), env)


def _into(m: Reference, place: ir.Expr | None, value: Any, env: Env) -> None:
    if place is not None:
        m.store(place, value, env)


def _stop(exception: type[Exception]) -> Callable[[Reference, Any, Env], None]:
    def run(m: Reference, s: Any, env: Env) -> None:
        raise exception

    return run


def _update(m: Reference, s: ir.Update, env: Env) -> None:
    held = m.eval(s.target, env)
    args = [m.eval(arg, env) for arg in s.args]
    if isinstance(s.target.type, t.Timer):
        value, given = m.armed(args[0]) if s.op == "start" else m.stopped, None
    else:
        update = UPDATES[s.target.type.__class__.__name__, s.op]
        value, given = valued(s, update, held, *args)
    m.store(s.target, value, env)
    _into(m, s.into, given, env)


def _tick(m: Reference, s: ir.Tick, env: Env) -> None:
    late = next(urgent_and_due(m.machines, m.machine.name, env[SELF]), None)
    if late is not None:
        raise _header_guard(lambda: (f"the urgent timer {late} is due", {}))
    advance(m.machines, m.machine.name, env[SELF])


RUN: dict[type[ir.Stmt], Callable[[Reference, Any, Env], None]] = {
    ir.Assign: _assign,
    ir.Update: _update,
    ir.Unpack: _unpack,
    ir.Branch: _branch,
    ir.Loop: _loop,
    ir.Break: _stop(_Left),
    ir.Continue: _stop(_Next),
    ir.Return: _return,
    ir.Require: _require,
    ir.Refuse: _refuse,
    ir.Assert: _assert,
    ir.Step: _step,
    ir.Base: _base,
    ir.Do: _do,
    ir.Tick: _tick,
}
