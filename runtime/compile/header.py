"""A transition's header: its guards before the body, its target after it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import assigned
from lawful.spec.analysis.places import variable_of
from lawful.spec.analysis.walk import everything, replaced

from ..kernel import commit, guards
from .python_ast import all_of, any_of, assign, call, compare, if_, located, name, negated
from .statements import Body


def _reads(place: ir.Expr, names: frozenset[str]) -> bool:
    return any(isinstance(each, ir.Local) and each.name in names for each in everything((place,)))


class Header:
    """Emits the guards of a transition's header, and the assignment or test of its target."""

    def __init__(self, body: Body, transition: ir.Transition) -> None:
        self.body = body
        self.transition = transition
        gone = assigned(transition.function.body)
        read = everything((transition.control,)) if transition.target is not None else ()
        # Copies of the arguments in the control state's path that the body assigns.
        self.kept = {
            each.name: body.names.local(f"given_{each.name}")
            for each in read
            if isinstance(each, ir.Local) and each.name in gone
        }

    def guards(self) -> list[ast.stmt]:
        """The guards of the source and of the timer, and the disarming of the timer."""
        out: list[ast.stmt] = []
        out += (assign(name(mine), name(given)) for given, mine in self.kept.items())
        out += self.looks(frozenset())
        return [*(located(s, self.transition.place) for s in out), *self.disarming()]

    def disarming(self) -> list[ast.stmt]:
        """The disarming of the timer, the first change of the step."""
        timer, place = self.transition.timer, self.transition.place
        written = [] if timer is None else self._write(timer, ast.Constant(None))
        return [located(s, place) for s in written]

    def holds(self) -> list[ast.expr]:
        """The same guards as tests that are true where the header admits the step."""
        tr, b, out = self.transition, self.body, list[ast.expr]()
        if tr.control is not None:
            out += self._has(tr.control)
            if tr.source is not None:
                states = self._states(tr.control, tr.source)
                out.append(any_of([compare(b.expr(tr.control), ast.Is(), each) for each in states]))
        if tr.timer is not None:
            none, late = ast.Constant(None), compare(b.expr(tr.timer), ast.Gt(), b.now())
            out += self._has(tr.timer)
            out += [compare(b.expr(tr.timer), ast.IsNot(), none), negated(late)]
        return [located(each, tr.place) for each in out]

    def _has(self, place: ir.Expr) -> list[ast.expr]:
        """The tests that a family has the key that the header names."""
        match place:
            case ir.Item(of=of):
                return [*self._has(of), negated(self._lacks(place))]
            case ir.Field(of=of) | ir.Narrow(of=of):
                return self._has(of)
            case _:
                return []

    def _lacks(self, place: ir.Item) -> ast.expr:
        """The test that a family lacks the key that the header names."""
        b, of = self.body, place.of
        if isinstance(of.type, t.Seq | t.Tuple):
            return compare(b.expr(place.key), ast.GtE(), call(b.use(len), b.expr(of)))
        return compare(b.expr(place.key), ast.NotIn(), b.expr(of))

    def looks(self, unknown: frozenset[str]) -> list[ast.stmt]:
        """The guards that do not read these arguments, without any change of the state."""
        tr, out = self.transition, list[ast.stmt]()
        if tr.control is not None and not _reads(tr.control, unknown):
            out += self._present(tr.control)
            if tr.source is not None:
                out += self._source(tr.control, tr.source)
        if tr.timer is not None and not _reads(tr.timer, unknown):
            out += self._present(tr.timer)
            out += self._timer(tr.timer)
        return [located(s, tr.place) for s in out]

    def _present(self, place: ir.Expr) -> list[ast.stmt]:
        """The guard that a family has the key that the header names."""
        match place:
            case ir.Item(of=of, key=key):
                b = self.body
                refusal = b.refusal(guards.missing(of, key), None, b.expr(key))
                return [*self._present(of), if_(self._lacks(place), *refusal)]
            case ir.Field(of=of) | ir.Narrow(of=of):
                return self._present(of)
            case _:
                return []

    def _states(self, control: ir.Expr, states: Sequence[str]) -> list[ast.expr]:
        b = self.body
        consts = [ir.Const(control.place, control.type, state) for state in states]
        return [b.expr(const) for const in consts]

    def _source(self, control: ir.Expr, source: tuple[str, ...]) -> list[ast.stmt]:
        b = self.body
        at = b.names.local("at")
        tests = [compare(name(at), ast.IsNot(), s) for s in self._states(control, source)]
        refusal = b.refusal(guards.elsewhere(control, source), None, name(at))
        return [assign(name(at), b.expr(control)), if_(all_of(tests), *refusal)]

    def _timer(self, timer: ir.Expr) -> list[ast.stmt]:
        b = self.body
        due, now, none = b.names.local("due"), b.names.local("now"), ast.Constant(None)
        site = guards.not_yet(timer)
        left = ast.BinOp(name(due), ast.Sub(), name(now))
        return [
            assign(name(due), b.expr(timer)),
            if_(compare(name(due), ast.Is(), none), *b.refusal(site, None, none)),
            assign(name(now), b.now()),
            if_(compare(name(due), ast.Gt(), name(now)), *b.refusal(site, None, left)),
        ]

    def _write(self, place: ir.Expr, value: ast.expr) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        variable = variable_of(place)
        if isinstance(place, ir.Item) and variable is not None:
            if variable not in self.body.copied:
                out.append(self.body.own_copy(variable))
            of = self.body.owned(place.of, out)
            slot: ast.expr = ast.Subscript(of, self.body.expr(place.key), ast.Load())
        else:
            slot = self.body.expr(place)
        return [*out, assign(slot, value)]

    def ending(self, value: ast.expr | None, out: list[ast.stmt]) -> ast.expr | None:
        """The output, evaluated before `out` takes the change of the control state."""
        known = value is None or isinstance(value, ast.Name | ast.Constant)
        if value is not None and not known and self.transition.target is not None:
            value = self.body.held(value, out)
        out += self._arrival()
        return value

    def _arrival(self) -> list[ast.stmt]:
        tr = self.transition
        if tr.target is None or tr.control is None:
            return []
        control = replaced(tr.control, self._as_given)
        assert isinstance(control, ir.Expr)
        states = self._states(control, tr.target)
        if len(states) == 1:
            return self._write(control, states[0])
        b = self.body
        tests = [compare(b.expr(control), ast.IsNot(), state) for state in states]
        allowed = ast.Tuple([ast.Constant(s) for s in tr.target], ast.Load())
        missed = call(b.use(commit.off_target), b.expr(control), allowed)
        return [if_(all_of(tests), ast.Raise(missed, None))]

    def _as_given(self, node: ir.Node) -> ir.Node | None:
        if isinstance(node, ir.Local) and node.name in self.kept:
            return ir.Local(node.place, node.type, self.kept[node.name])
        return None
