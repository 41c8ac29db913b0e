"""Generated code of statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.text.reasons import conjuncts
from lawful.spec.values.bounds import bounded

from ..layout.layouts import INTEGER, Layout, NotGenerated, Number
from . import parts
from .body import Body, into
from .bounds import broken
from .conversions import to_layout
from .loops import bind, clauses, each, one
from .text import ASSERTS, BROKEN, REFUSED, Target, Value
from .time import tick
from .updates import update

CHANGES = (ir.Assign, ir.Update, ir.Step, ir.Do, ir.Base)


def block(f: Body, body: Iterable[ir.Stmt]) -> None:
    """Statements in their order."""
    for stmt in body:
        if stmt.__class__ not in STATEMENTS:
            raise NotGenerated(f"{type(stmt).__name__} in a step")
        STATEMENTS[stmt.__class__](f, stmt)


def _assign(f: Body, s: ir.Assign) -> None:
    f.assign(s.target, f.value(s.value, Target(f.target_layout(s.target))))


def _unpack(f: Body, s: ir.Unpack) -> None:
    bound = bind(f, s.names, f.value(s.value))
    for name, value in bound.items():
        f.assign_local(name, value)


def _branch(f: Body, s: ir.Branch) -> None:
    test = f.truth(s.test)
    before = dict(f.env)
    with f.block(f"if {test}:"):
        block(f, s.then)
    made = dict(f.env)
    f.env.clear()
    f.env.update({**made, **before})
    if s.other:
        with f.block("else:"):
            block(f, s.other)
    f.env.update({k: v for k, v in made.items() if k not in f.env})


def _loop(f: Body, s: ir.Loop) -> None:
    owned = any(isinstance(node, CHANGES) for node in everything(s.body))
    with ExitStack() as stack:
        items = stack.enter_context(each(f, s.over, owned))
        for name, value in bind(f, s.names, items).items():
            f.assign_local(name, value)
        block(f, s.body)


def _break(f: Body, s: ir.Break) -> None:
    f.line("break")


def _continue(f: Body, s: ir.Continue) -> None:
    f.line("continue")


def _return(f: Body, s: ir.Return) -> None:
    if f.outermost and s.value is not None:
        _given_out(f, s.value, f.declared)
        if not f.inlined:
            f.line("return 0")
        return
    if s.value is not None and not isinstance(s.value.type, t.Nothing):
        value = f.value(s.value, Target(f.output))
        if f.output is None:
            f.output = _wide(value.layout)
        if not f.output_at:
            f.output_at = f.region(f.output)
        f.store(f.output_at, to_layout(f, value, f.output))
    elif s.value is not None:
        value = f.value(s.value)
        if f.output is not None:
            f.output_at = f.output_at or f.region(f.output)
            f.store(f.output_at, to_layout(f, value, f.output))
    if not f.inlined:
        f.line("return 0")


def _given_out(f: Body, e: ir.Expr, declared: t.Type) -> None:
    """The output of the outermost step: it has to have a value, within the bounds of its type."""
    item = t.element(declared)
    match e:
        case ir.Op(op=op, args=(ir.Comp(clauses=rows, element=element),)) if (
            item and op in ops.COPIES
        ):
            with clauses(f, rows):
                _given_out(f, element, item)
        case ir.Op(op=op, args=(of,)) if item and op in ops.COPIES:
            _each_given(f, of, item)
        case ir.Make(type=t.Record(fields=fields), args=args):
            for arg, (_, kind) in zip(args, fields, strict=True):
                _given_out(f, arg, kind)
        case ir.Op(op=op, args=args) if op in ops.DISPLAYS and isinstance(declared, t.Tuple):
            for arg, kind in zip(args, declared.items, strict=True):
                _given_out(f, arg, kind)
        case ir.Op(op=op, args=args) if item and op in ops.DISPLAYS:
            for arg in args:
                _given_out(f, arg, item)
        case ir.Comp(kind=op, clauses=rows, element=element) if item and op in ops.DISPLAYS:
            with clauses(f, rows):
                _given_out(f, element, item)
        case ir.Op(op="map", args=()) | ir.Op(op="counter_of", args=(ir.Op(op="map", args=()),)):
            pass
        case _:
            _within_bounds(f, f.value(e), declared)


def _each_given(f: Body, of: ir.Expr, item: t.Type) -> None:
    with each(f, of) as items:
        _within_bounds(f, one(f, items), item)


def _within_bounds(f: Body, value: Value, declared: t.Type) -> None:
    if not bounded(declared):
        return
    made = to_layout(f, value, f.layout_of(declared))
    tests = broken(f.program, made.layout, f.placed(made))
    if tests:
        f.line(f"if {' or '.join(tests)}: w[{f.program.out}] = {BROKEN}")


def _wide(layout: Layout) -> Layout:
    return INTEGER if isinstance(layout, Number) else layout


def _require(f: Body, s: ir.Require) -> None:
    for test in conjuncts(s.test):
        true = f.truth(test)
        with f.guard(test):
            f.stop_if(f"not {true}", REFUSED)
        f.was_true(test)


def _refuse(f: Body, s: ir.Refuse) -> None:
    with f.guard(s):
        f.line(f.stop(REFUSED))


def _assert(f: Body, s: ir.Assert) -> None:
    f.stop_if(f"not {f.truth(s.test)}", ASSERTS)


def _step(f: Body, s: ir.Step) -> None:
    assert isinstance(s.part.type, t.Part)
    owner = f.module.machines[s.part.type.machine]
    args = parts.arguments(f, owner, s.name, s.args)
    f.writes(s.part)
    _, at = f.place(s.part)
    into(f, s.into, parts.take(f, owner, s.name, at, args).given(f))


def _base(f: Body, s: ir.Base) -> None:
    owner, row = f.module.base(s.name)
    args = [f.passed(f.own(f.value(a))) for a in s.args]
    made = f.module.transition(owner, row, tuple(v.layout for v in args))
    f.passing(f"{made.name}({', '.join(('w', f.me, *(v.text for v in args)))})")
    into(f, s.into, made.given(f))


def _do(f: Body, s: ir.Do) -> None:
    assert s.call.of is not None and isinstance(s.call.of.type, t.Part)
    owner = f.module.machines[s.call.of.type.machine]
    function = f.module.function(owner, s.call.function)
    args = [f.passed(f.own(f.value(a))) for a in s.call.args]
    f.writes(s.call.of)
    _, at = f.place(s.call.of)
    made = f.module.helper(owner, function, tuple(v.layout for v in args))
    f.passing(f"{made.name}({', '.join(('w', at, *(v.text for v in args)))})")
    into(f, s.into, made.given(f))


STATEMENTS: dict[type[ir.Stmt], Callable[[Body, Any], None]] = {
    ir.Assign: _assign,
    ir.Update: update,
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
    ir.Tick: tick,
}
