"""Statements, one small function for each node; the reference engine defines the meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.places import in_state

from ..algebra.term import Term
from .control_flow import choose, leave, rejoined
from .conversion import convert, eval_as, eval_term, merge, to_term
from .iteration import bind, elements
from .parallel_loops import at_once
from .places import store
from .sequences import changed
from .symbolic import BodyExit, Element, Elements, Value
from .time import late, later, started, stopped
from .trail import Trail


def _assign(run: Trail, s: ir.Assign) -> None:
    value = eval_as(run, s.value, s.target.type)
    run.stop_at_extra_key(s.target.type, s)
    store(run, s.target, value)


def _unpack(run: Trail, s: ir.Unpack) -> None:
    bind(run, s.names, run.eval(s.value), s.value.type)


def _branch(run: Trail, s: ir.Branch) -> None:
    test = eval_term(run, s.test)
    choose(run, test, lambda: run.block(s.then), lambda: run.block(s.other))


def _loop(run: Trail, s: ir.Loop) -> None:
    many = elements(run, run.eval(s.over), s.over.type, s)
    with rejoined(run, run.frame.broken):
        for row in many.rows:  # Several with bound names, where a local is one of several ranges.
            if row.names:
                at_once(run, s, Elements((row,), many.item), partial(run.block, s.body))
            else:
                choose(run, row.when, partial(_round, run, s, row, many), lambda: None)


def _round(run: Trail, s: ir.Loop, row: Element, many: Elements) -> None:
    bind(run, s.names, row.value, many.item)
    with rejoined(run, run.frame.continued):
        run.block(s.body)


def _break(run: Trail, s: ir.Break) -> None:
    leave(run, run.frame.broken)


def _continue(run: Trail, s: ir.Continue) -> None:
    leave(run, run.frame.continued)


def _return(run: Trail, s: ir.Return) -> None:
    value = None if s.value is None else eval_as(run, s.value, run.frame.output)
    run.frame.returns.append(BodyExit(run.path, value, dict(run.state)))
    run.path = run.logic.false


def _require(run: Trail, s: ir.Require) -> None:
    run.stop("refused", run.logic.negate(eval_term(run, s.test)), s)


def _refuse(run: Trail, s: ir.Refuse) -> None:
    run.stop("refused", run.logic.true, s)


def _assert(run: Trail, s: ir.Assert) -> None:
    run.stop("asserts", run.logic.negate(eval_term(run, s.test)), s)


def _update(run: Trail, s: ir.Update) -> None:
    kind = s.target.type
    if isinstance(kind, t.Seq):
        many, item = changed(run, s, kind, [run.eval(s.target), *map(run.eval, s.args)])
        store(run, s.target, many)
        if s.into is not None and item is not None:
            store(run, s.into, convert(run, item, kind.item, s.into.type, s))
        return
    held = to_term(run, run.eval(s.target), kind, s)
    if not isinstance(kind, t.Timer):
        run.stop_at_extra_key(kind, s)
    new, given = UPDATES[type(kind).__name__, s.op](run, s, kind, held)
    store(run, s.target, new)
    if s.into is not None and given is not None:
        store(run, s.into, given)


Updated = tuple[Term, Value | None]  # The container after an update, and the result of the update.


def _clear(run: Trail, _s: ir.Update, kind: t.Type, _held: Term) -> Updated:
    return run.encoding.empty(kind), None


def _add(run: Trail, s: ir.Update, kind: t.Set, held: Term) -> Updated:
    return run.logic.write(held, eval_term(run, s.args[0], kind.item), run.logic.true), None


def _discard(run: Trail, s: ir.Update, kind: t.Set, held: Term) -> Updated:
    return run.logic.write(held, eval_term(run, s.args[0], kind.item), run.logic.false), None


def _remove(run: Trail, s: ir.Update, kind: t.Set, held: Term) -> Updated:
    element = eval_term(run, s.args[0], kind.item)
    there, _ = run.encoding.get(kind, held, element)
    run.stop("undefined", run.logic.negate(there), s)
    return run.logic.write(held, element, run.logic.false), None


def _merge(run: Trail, s: ir.Update, kind: t.Set | t.Map, held: Term) -> Updated:
    """The union of two containers; at equal keys the items of the operand count."""
    logic, encoding = run.logic, run.encoding
    item = kind.item if isinstance(kind, t.Set) else kind.key
    given = s.args[0].type
    some = kind  # The operand of an update of a total map need not have all keys.
    if isinstance(kind, t.Map) and isinstance(given, t.Map) and not given.total:
        some = replace(kind, total=False)
    other = eval_term(run, s.args[0], some)
    key = logic.fresh("k", encoding.shape(item))
    there, value = encoding.get(some, other, key)
    if some != kind:  # The operand may have a key that is not one of the total map's keys.
        kept = logic.forall([key], there, encoding.bounds(key, item))
        run.add_extra_key(logic.negate(kept), s, in_state(s.target))
    new = logic.read(other, key) if some == kind else value
    return logic.by_cases(key, logic.choose(there, new, logic.read(held, key))), None


def _remove_key(run: Trail, s: ir.Update, kind: t.Map, held: Term) -> Updated:
    """The map without a key, and the value removed; without a default, the key must exist."""
    key = eval_term(run, s.args[0], kind.key)
    there, value = run.encoding.get(kind, held, key)
    without = run.logic.write(held, key, run.encoding.absent(kind.value))
    if len(s.args) == 1:
        run.stop("undefined", run.logic.negate(there), s)
    if s.into is None:
        for default in s.args[1:]:  # It may have no value.
            run.eval(default)
        return without, None
    into = s.into.type
    others = [eval_as(run, default, into) for default in s.args[1:]]
    given = convert(run, value, kind.value, into, s)
    return without, merge(run, there, given, others[0], s) if others else given


def _start(run: Trail, s: ir.Update, _kind: t.Timer, _held: Term) -> Updated:
    return started(run.encoding, eval_term(run, s.args[0])), None


def _stop(run: Trail, _s: ir.Update, _kind: t.Timer, _held: Term) -> Updated:
    return stopped(run.encoding), None


# By container and operator; those of lists are `sequences.UPDATES`.
UPDATES: Mapping[tuple[str, str], Callable[[Trail, ir.Update, Any, Term], Updated]] = {
    ("Set", "add"): _add,
    ("Set", "discard"): _discard,
    ("Set", "remove"): _remove,
    ("Set", "update"): _merge,
    ("Set", "clear"): _clear,
    ("Map", "pop"): _remove_key,
    ("Map", "delete"): _remove_key,
    ("Map", "update"): _merge,
    ("Map", "clear"): _clear,
    ("Bag", "clear"): _clear,
    ("Timer", "start"): _start,
    ("Timer", "stop"): _stop,
}


def _tick(run: Trail, s: ir.Tick) -> None:
    """One tick: clocks advance, timers come one tick closer; refused while an urgent one is due."""
    encoding = run.encoding
    now = run.logic.add(eval_term(run, s.clock), run.logic.number(1))
    rows = [(v.name, v.type, run.state[v.name]) for v in encoding.machine.variables]
    run.stop("refused", run.logic.any(late(encoding, held, kind) for _, kind, held in rows), s)
    for name, kind, held in rows:
        run.state[name] = later(encoding, held, kind, now)


STATEMENTS: Mapping[type[ir.Stmt], Callable[[Any, Any], None]] = {
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
    ir.Tick: _tick,
}
