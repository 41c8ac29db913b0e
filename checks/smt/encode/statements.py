"""Statements, one small function for each kind; the meaning is that of `reference`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lawful.checks.smt.algebra.term import Term
from lawful.spec import ir
from lawful.spec import types as t

from .parallel_loops import at_once
from .places import Places, in_state
from .sequences import changed
from .sorts import NotEncodable
from .time import late, later, started, stopped
from .trail import BodyExit, Element, Elements, StatePath, Value


class Statements(Places):
    """Executes statements; how bodies are entered is for the heir to say."""

    @abstractmethod
    def helper(self, e: ir.Call) -> Value:
        """The value of a helper, executed where it is called; it may change the state."""

    @abstractmethod
    def perform(
        self,
        part: ir.Expr,
        call: tuple[str, Sequence[tuple[Value, t.Type]], ir.Node],
        own: StatePath,
    ) -> Value:
        """A transition or event of the machine at a place, within this step; its output."""

    @abstractmethod
    def taken(
        self, row: ir.Transition, args: Mapping[str, Value], own: StatePath, machine: ir.Machine
    ) -> Value:
        """One transition, within this step; its output."""

    def block(self, body: Sequence[ir.Stmt]) -> None:
        """Execute statements in order, as far as any execution gets."""
        for stmt in body:
            if self.path is self.logic.false:
                return
            try:
                RUN[stmt.__class__](self, stmt)
            except NotEncodable as error:
                raise error if error.place else NotEncodable(error.construct, stmt.place) from error


def _assign(run: Statements, s: ir.Assign) -> None:
    value = run.of_type(s.value, s.target.type)
    run.listing(s.target.type, s)
    run.store(s.target, value)


def _unpack(run: Statements, s: ir.Unpack) -> None:
    run.bind(s.names, run.eval(s.value), s.value.type)


def _branch(run: Statements, s: ir.Branch) -> None:
    test = run.to_term(s.test)
    run.choose(test, lambda: run.block(s.then), lambda: run.block(s.other))


def _loop(run: Statements, s: ir.Loop) -> None:
    many = run.elements(run.eval(s.over), s.over.type, s)
    if not many.listed:
        at_once(run, s, many, partial(run.block, s.body))
        return
    with run.rejoined(run.frame.broken):
        for row in many.rows:
            run.choose(row.when, partial(_round, run, s, row, many), lambda: None)


def _round(run: Statements, s: ir.Loop, row: Element, many: Elements) -> None:
    run.bind(s.names, row.value, many.item)
    with run.rejoined(run.frame.continued):
        run.block(s.body)


def _break(run: Statements, s: ir.Break) -> None:
    run.leave(run.frame.broken)


def _continue(run: Statements, s: ir.Continue) -> None:
    run.leave(run.frame.continued)


def _return(run: Statements, s: ir.Return) -> None:
    value = None if s.value is None else run.of_type(s.value, run.frame.output)
    run.frame.returns.append(BodyExit(run.path, value, dict(run.state)))
    run.path = run.logic.false


def _require(run: Statements, s: ir.Require) -> None:
    run.stop("refused", run.logic.negate(run.to_term(s.test)), s)


def _refuse(run: Statements, s: ir.Refuse) -> None:
    run.stop("refused", run.logic.true, s)


def _assert(run: Statements, s: ir.Assert) -> None:
    run.stop("asserts", run.logic.negate(run.to_term(s.test)), s)


def _step(run: Statements, s: ir.Step) -> None:
    args = [(run.eval(arg), arg.type) for arg in s.args]
    own = run.owner(s.part)
    if not isinstance(own, tuple):
        raise NotEncodable("a step of what is no part of this state", s.place)
    _into(run, s.into, run.perform(s.part, (s.name, args, s), own), s)


def _base(run: Statements, s: ir.Base) -> None:
    row = next(row for row in run.frame.machine.bases if row.name == s.name)
    given = [(run.eval(arg), arg.type) for arg in s.args]
    own = run.frame.own
    assert isinstance(own, tuple)
    args = run.named(row.function.params, given, s)
    value = run.taken(row, args, own, run.frame.machine)
    if s.into is not None:
        run.store(s.into, run.fit(value, row.function.output, s.into.type, s))


def _do(run: Statements, s: ir.Do) -> None:
    value = run.helper(s.call)
    if s.into is not None:
        run.store(s.into, run.fit(value, s.call.type, s.into.type, s))


def _into(run: Statements, place: ir.Expr | None, value: Value, s: ir.Step) -> None:
    if place is None:
        return
    assert isinstance(s.part.type, t.Part)
    machine = run.encoding.inner(s.part.type.machine)
    rows = [e.output for e in machine.events if e.name == s.name]
    starts = [t.NOTHING for f in machine.initials if f.name == s.name]
    output = (*rows, *starts)[0] if rows or starts else machine.transition(s.name).function.output
    run.store(place, run.fit(value, output, place.type, s))


def _update(run: Statements, s: ir.Update) -> None:
    kind = s.target.type
    if isinstance(kind, t.Seq):
        many, item = changed(run, s, kind, [run.eval(s.target), *map(run.eval, s.args)])
        run.store(s.target, many)
        if s.into is not None and item is not None:
            run.store(s.into, run.fit(item, kind.item, s.into.type, s))
        return
    if not isinstance(kind, t.Set | t.Map | t.Bag | t.Timer):
        raise NotEncodable(f"{s.op} of a {kind}", s.place)
    held = run.term(run.eval(s.target), kind, s)
    if isinstance(kind, t.Timer):
        seconds = [run.to_term(arg) for arg in s.args]
        timer = started(run.encoding, *seconds) if s.op == "start" else stopped(run.encoding)
        run.store(s.target, timer)
        return
    new, given = _changed(run, s, kind, held)
    run.store(s.target, new)
    if s.into is not None and given is not None:
        source = kind.value if isinstance(kind, t.Map) else t.NOTHING
        if len(s.args) == 2:
            source = s.into.type
        run.store(s.into, run.fit(given, source, s.into.type, s))


def _changed(
    run: Statements, s: ir.Update, kind: t.Set | t.Map | t.Bag, held: Term
) -> tuple[Term, Value | None]:
    """The container after an update, and what the update gives."""
    logic, encoding = run.logic, run.encoding
    run.listing(kind, s)
    if s.op == "clear":
        return encoding.empty(kind), None
    item = t.element(kind)
    assert item is not None
    if s.op == "update":
        given = s.args[0].type
        some = kind  # Of what a total map is updated with, some keys may be absent.
        if isinstance(kind, t.Map) and isinstance(given, t.Map) and not given.total:
            some = replace(kind, total=False)
        other = run.to_term(s.args[0], some)
        key = logic.fresh("k", encoding.shape(item))
        there, value = encoding.get(some, other, key)
        if some != kind:  # A key that is none of the total map's is one too many.
            kept = logic.forall([key], there, encoding.bounds(key, item))
            run.exceed(logic.negate(kept), s, in_state(s.target))
        new = logic.read(other, key) if some == kind else value
        return logic.by_cases(key, logic.choose(there, new, logic.read(held, key))), None
    key = run.to_term(s.args[0], item)
    there, value = encoding.get(kind, held, key)
    needs_key = s.op in ("remove", "delete") or (s.op == "pop" and len(s.args) == 1)
    if needs_key and not isinstance(kind, t.Bag):
        run.stop("undefined", logic.negate(there), s)
    taken: Value = value
    if len(s.args) == 2 and s.into is not None and isinstance(kind, t.Map):
        default = run.of_type(s.args[1], s.into.type)
        taken = run.merge(there, run.fit(value, kind.value, s.into.type, s), default, s)
    match kind:
        case t.Set():
            return logic.write(held, key, logic.truth(s.op == "add")), None
        case t.Bag():
            return logic.write(held, key, logic.number(0)), None
        case _:
            return logic.write(held, key, encoding.absent(kind.value)), taken


def _tick(run: Statements, s: ir.Tick) -> None:
    """Clocks go on, and timers are due one tick sooner, where no urgent one is due."""
    encoding = run.encoding
    now = run.logic.add(run.to_term(s.clock), run.logic.number(1))
    rows = [(v.name, v.type, run.state[v.name]) for v in encoding.machine.variables]
    run.stop("refused", run.logic.any(late(encoding, held, kind) for _, kind, held in rows), s)
    for name, kind, held in rows:
        run.state[name] = later(encoding, held, kind, now)


RUN: Mapping[type[ir.Stmt], Callable[[Any, Any], None]] = {
    ir.Assign: _assign,
    ir.Update: _update,
    ir.Unpack: _unpack,
    ir.Branch: _branch,
    ir.Loop: _loop,
    ir.Break: _break,
    ir.Continue: _continue,
    ir.Return: _return,
    ir.Require: _require,
    ir.Refuse: _refuse,
    ir.Assert: _assert,
    ir.Step: _step,
    ir.Base: _base,
    ir.Do: _do,
    ir.Tick: _tick,
}
