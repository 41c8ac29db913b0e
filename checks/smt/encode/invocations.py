"""Calls: helpers, transitions and events, executed where they are called.

`execute_body` enters a body and merges the ways out of it. A transition is its header (source,
timer), its body, and its target. An event is the one of its transitions that is not refused.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import One, Several, Start, callee
from lawful.spec.analysis.headers import Becomes, Firing, Source, StaysAmong, entry, leaving

from ..algebra.term import Term
from .control_flow import join_states
from .conversion import as_term, convert, eval_as, eval_term, field_of, merge
from .places import bind_args, owner, read, store
from .sorts import NotEncodable
from .symbolic import (
    Args,
    BodyExit,
    Call,
    Elements,
    Frame,
    LocalValue,
    Owner,
    StatePath,
    TypedValue,
    Value,
)
from .time import due, stopped
from .trail import Trail

# Bodies.


@contextmanager
def _framed(run: Trail, machine: ir.Machine, own: Owner | None) -> Generator[Frame]:
    kept = run.frame
    run.frame = Frame(machine, own)
    try:
        yield run.frame
    finally:
        run.frame = kept


def execute_body(
    run: Trail,
    function: ir.Function,
    args: Args,
    own: Owner | None,
    machine: ir.Machine | None = None,
) -> list[BodyExit]:
    """Execute a body; returns the ways out of it, and leaves the state merged over them."""
    with _framed(run, machine or run.frame.machine, own) as frame:
        _bind_params(frame, function, args)
        frame.output = function.output
        run.block(function.body)
        returns = [*frame.returns, BodyExit(run.path, None, run.state)]
    alive = [r for r in returns if r.when is not run.logic.false]
    if alive:
        run.path = run.logic.any(r.when for r in alive)
        state = dict(alive[-1].state)
        for r in alive[-2::-1]:
            state = join_states(run, r.when, r.state, state, function)
        run.state = state
    return alive


def _bind_params(frame: Frame, function: ir.Function, args: Args) -> None:
    for name, kind in function.params:
        if name in args:
            frame.locals[name] = LocalValue(args[name], kind)


def result(run: Trail, function: ir.Function, returns: Sequence[BodyExit]) -> Value:
    """The value that a body returns; None where it ends without `return`."""
    out: Value | None = None
    for r in reversed(returns):
        value = _none(run) if r.value is None else r.value
        if r.value is None and not isinstance(function.output, t.Nothing):
            if not t.fits(t.NOTHING, function.output):
                continue
            value = convert(run, value, t.NOTHING, function.output, function)
        out = value if out is None else merge(run, r.when, value, out, function)
    return _unreachable(run, function.output) if out is None else out


def _unreachable(run: Trail, kind: t.Type) -> Value:
    """An arbitrary value of the type, for where no execution arrives."""
    if isinstance(kind, t.Seq | t.Iter):
        return Elements((), t.element(kind) or t.NOTHING)
    return run.logic.fresh("never", run.encoding.shape(kind))


def _none(run: Trail) -> Term:
    return run.logic.make(run.encoding.data(t.NOTHING), 0, [])


# Helpers.


def _helper(run: Trail, e: ir.Call) -> Value:
    """The value of a helper, a property or a function of the module."""
    machine, own = run.frame.machine, run.frame.own
    if e.of is None:
        own = None
    elif not isinstance(e.of, ir.Self):
        assert isinstance(e.of.type, t.Part)
        machine, own = run.encoding.inner(e.of.type.machine), owner(run, e.of)
    function = _function(run, machine, e.function, of_module=e.of is None)
    pairs = zip(function.params, e.args, strict=True)
    args = {name: eval_as(run, arg, kind) for (name, kind), arg in pairs}
    before = run.path
    count = len(run.stops)
    value = result(run, function, execute_body(run, function, args, own, machine))
    if len(run.stops) == count:
        run.path = before
    return convert(run, value, function.output, e.type, e)


def _function(run: Trail, machine: ir.Machine, name: str, *, of_module: bool) -> ir.Function:
    """A helper or property of a machine; a module's function is the same in every machine."""
    whole = run.encoding.machine
    owners = (machine, whole, *whole.parts) if of_module else (machine,)
    rows = [f for m in owners for f in m.functions if f.name == name]
    rows += [p.function for p in machine.properties if p.name == name]
    return rows[0]


# Transitions.


def transition(
    run: Trail, row: ir.Transition, args: Args, own: Owner | None, machine: ir.Machine | None = None
) -> list[BodyExit]:
    """Execute a transition with its header and target; returns the ways out of its body."""
    machine = machine or run.frame.machine
    with _framed(run, machine, own) as frame:
        _bind_params(frame, row.function, args)
        for each in entry(row):
            _enter(run, each, row)
    returns = execute_body(run, row.function, args, own, machine)
    with _framed(run, machine, own) as frame:
        _bind_params(frame, row.function, args)
        match leaving(row):
            case Becomes(control, state):
                store(run, control, run.encoding.element(control.type, state))
            case StaysAmong(control, states):
                allowed = _is_one_of(run, eval_term(run, control), control, states)
                run.stop("bounds", run.logic.negate(allowed), row)
            case None:
                pass
    return returns


def _enter(run: Trail, asked: Source | Firing, row: ir.Transition) -> None:
    """Evaluate the guards of a header, and disarm its timer."""
    match asked:
        case Source(control, states):
            with _header(run):
                now = eval_term(run, control)
            if states is not None:
                run.stop("refused", run.logic.negate(_is_one_of(run, now, control, states)), row)
        case Firing(timer):
            with _header(run):
                now = eval_term(run, timer)
            run.stop("refused", run.logic.negate(due(run.encoding, now)), row)
            store(run, timer, stopped(run.encoding))


def _is_one_of(run: Trail, now: Term, control: ir.Expr, names: Sequence[str]) -> Term:
    """Whether the control variable has one of these values."""
    return run.logic.any(
        run.logic.equal(now, run.encoding.element(control.type, name)) for name in names
    )


@contextmanager
def _header(run: Trail) -> Generator[None]:
    """A block in which whatever stops the execution is a refusal, such as a missing key."""
    kept, run.stops = run.stops, []
    yield
    found, run.stops = run.stops, kept
    run.stops += [type(s)("refused", s.when, s.node) for s in found]


def _fire(run: Trail, row: ir.Transition, args: Args, own: StatePath, machine: ir.Machine) -> Value:
    """Execute a transition within this step; returns its output."""
    before, count = run.path, len(run.stops)
    value = result(run, row.function, transition(run, row, args, own, machine))
    if len(run.stops) == count:
        run.path = before
    return value


# Events.


def _perform(run: Trail, machine: ir.Machine, call: Call, own: StatePath) -> Value:
    """Execute a start, transition or event of the machine at a path; returns its output."""
    match callee(machine, call.name):
        case Start(function=start):
            args = bind_args(run, start.params, call.args, call.node)
            return result(run, start, execute_body(run, start, args, own, machine))
        case One(transition=row, output=kind):
            args = bind_args(run, row.function.params, call.args, call.node)
            output = _fire(run, row, args, own, machine)
            return convert(run, output, row.function.output, kind, call.node)
        case Several() as event:
            return _dispatch(run, machine, event, call, own)


def _dispatch(run: Trail, machine: ir.Machine, event: Several, call: Call, own: StatePath) -> Value:
    """An event with several transitions or ignores: execute each of them apart, and go on with the
    one that is not refused."""
    logic, state, node = run.logic, dict(run.state), call.node
    trials: list[tuple[Term, Trail, Value]] = []
    for row in event.serving:
        trial = run.fork(state)
        args = bind_args(trial, row.function.params, call.args, node)
        value = _fire(trial, row, args, own, machine)
        value = convert(trial, value, row.function.output, event.output, node)
        trials.append((logic.negate(trial.stopped("refused")), trial, value))
    enabled = [test for test, _, _ in trials]
    with run.where(logic.negate(logic.any(enabled))):
        idle = _ignored(run, machine, (event, call), own)
    several = [logic.all((a, b)) for i, a in enumerate(enabled) for b in enabled[:i]]
    run.stop("refused", logic.negate(logic.any((*enabled, idle))), node)
    run.stop("ambiguous", logic.any(several), node)
    none = _none(run)
    output: Value | None = None
    if t.fits(t.NOTHING, event.output):
        output = convert(run, none, t.NOTHING, event.output, node)
    for test, trial, value in trials:
        output = value if output is None else merge(run, test, value, output, node)
        run.state = join_states(run, test, trial.state, run.state, node)
        for stop in trial.stops:
            if stop.kind != "refused":
                run.stop(stop.kind, logic.all((test, stop.when)), stop.node)
    return none if output is None else output


def _ignored(run: Trail, machine: ir.Machine, called: tuple[Several, Call], own: StatePath) -> Term:
    """The condition that the machine ignores the event. Conditions of `ignore`s are evaluated in
    order, each where none before it matches."""
    event, call = called
    found: list[Term] = []
    for row in event.ignores:
        where = run.logic.true
        if row.source is not None:
            kind = next(v.type for v in machine.variables if v.name == "state")
            now = as_term(field_of(run, read(run, own), t.Part(machine.name), "state"))
            where = run.logic.any(
                run.logic.equal(now, run.encoding.element(kind, s)) for s in row.source
            )
        if row.when is not None:
            asked = run.logic.all((where, run.logic.negate(run.logic.any(found))))
            with run.where(asked):
                args = bind_args(run, row.when.params, call.args, row)
                returns = execute_body(run, row.when, args, own, machine)
                value = as_term(result(run, row.when, returns))
            where = run.logic.all((where, value))
        found.append(where)
    return run.logic.any(found)


# Expressions and statements that call.


def _evaluated(run: Trail, args: Sequence[ir.Expr]) -> tuple[TypedValue, ...]:
    return tuple([TypedValue(run.eval(arg), arg.type) for arg in args])


def _machine_of(run: Trail, part: ir.Expr) -> ir.Machine:
    assert isinstance(part.type, t.Part)
    return run.encoding.inner(part.type.machine)


def _can(run: Trail, e: ir.Can) -> Term:
    """Whether the step is not refused; a step that violates a property is not refused."""
    call = Call(e.name, _evaluated(run, e.args), e)
    with run.inside(run.logic.true) as stops:
        trial = run.fork(run.state)
        own = owner(trial, e.part)
        if not isinstance(own, tuple):
            raise NotEncodable("can(...) of another state", e.place)
        stops.extend(trial.stops)
        trial.stops = []
        _perform(trial, _machine_of(run, e.part), call, own)
    for stop in (*stops, *(s for s in trial.stops if s.kind in ("beyond", "excess"))):
        run.stop(stop.kind, stop.when, stop.node)
    return run.logic.negate(trial.stopped("refused"))


def _enabled(run: Trail, e: ir.Enabled) -> Term:
    """Whether a transition of the machine accepts the event; it may end in a fault."""
    given, machine, own = _evaluated(run, e.args), run.frame.machine, run.frame.own
    assert isinstance(own, tuple)
    taken: list[Term] = []
    for row in machine.serving(e.event):
        trial = run.fork(run.state)
        args = bind_args(trial, row.function.params, given, e)
        _fire(trial, row, args, own, machine)
        taken.append(run.logic.negate(trial.stopped("refused")))
        for stop in (s for s in trial.stops if s.kind in ("beyond", "excess")):
            run.stop(stop.kind, stop.when, stop.node)
    return run.logic.any(taken)


def _step(run: Trail, s: ir.Step) -> None:
    """A step of a part, whose output is stored."""
    call = Call(s.name, _evaluated(run, s.args), s)
    own = owner(run, s.part)
    if not isinstance(own, tuple):
        raise NotEncodable("a step of an expression that is not a part of this state", s.place)
    machine = _machine_of(run, s.part)
    value = _perform(run, machine, call, own)
    if s.into is None:
        return
    output = callee(machine, s.name).output
    store(run, s.into, convert(run, value, output, s.into.type, s))


def _base(run: Trail, s: ir.Base) -> None:
    """`super()`: a transition of a base class."""
    row = next(row for row in run.frame.machine.bases if row.name == s.name)
    given = _evaluated(run, s.args)
    own = run.frame.own
    assert isinstance(own, tuple)
    args = bind_args(run, row.function.params, given, s)
    value = _fire(run, row, args, own, run.frame.machine)
    if s.into is not None:
        store(run, s.into, convert(run, value, row.function.output, s.into.type, s))


def _do(run: Trail, s: ir.Do) -> None:
    """A helper that may change the state."""
    value = _helper(run, s.call)
    if s.into is not None:
        store(run, s.into, convert(run, value, s.call.type, s.into.type, s))


CALL_EXPRESSIONS: Mapping[type[ir.Expr], Callable[[Any, Any], Value]] = {
    ir.Can: _can,
    ir.Enabled: _enabled,
    ir.Call: _helper,
}
CALL_STATEMENTS: Mapping[type[ir.Stmt], Callable[[Any, Any], None]] = {
    ir.Step: _step,
    ir.Base: _base,
    ir.Do: _do,
}
