"""Bodies over components: statements, functions, and whole transitions of many instances at once.

A branch runs both its ways, each for its own rows; an assignment in it changes only these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis import headers, walk
from lawful.spec.values.bounds import bounded

from .components import (
    Array,
    Components,
    conversion,
    dtypes,
    out_of_bounds,
    selected,
)
from .layout import Unsupported
from .vectors import Code, Expressions, Frame, Run

Act = Callable[[Frame], None]
NONE: Components = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A compiled transition; `writes` are the fields that it may change."""

    name: str
    run: Act
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A compiled `ignore`: where it takes the event."""

    test: Callable[[Frame], Array]


class Bodies(Expressions):
    """Compiles the bodies of one machine; Unsupported for those that arrays cannot run."""

    def __init__(self, machine: ir.Machine) -> None:
        super().__init__(machine)
        self.written: set[str] = set()
        self.inside = 0  # Functions around the present statement.
        self.output: t.Type = t.Nothing()

    # Transitions.

    def candidate(self, row: ir.Transition) -> Candidate:
        """A whole transition: its header, its body, and the bounds of what it wrote."""
        self.written = set()
        acts = [self._entry(each) for each in headers.entry(row)]
        self.scope = dict(row.function.params)
        self.output = row.function.output
        acts.append(self._whole(row.function, merging=False))
        acts.append(_together)
        leaving = headers.leaving(row)
        if leaving is not None:
            acts.append(self._leaving(leaving))
        writes = tuple(sorted(self.written))
        acts += [self._bounds(name) for name in writes]
        if bounded(self.output):
            acts.append(self._output_bounds(self.output))
        return Candidate(row.name, _sequence(acts), writes)

    def ignored(self, row: ir.Ignore) -> Ignored:
        """Where an `ignore` takes the event."""
        source = None if row.source is None else self._among("state", row.source)
        when: Code | None = None
        if row.when is not None:
            self.scope = dict(row.when.params)
            when = self._function(row.when, list(row.when.params))

        def test(frame: Frame) -> Array:
            found: Array = True
            if source is not None:
                found = source(frame)
            return found if when is None else found & when.run(frame)[0]

        return Ignored(test)

    def holds(self, p: ir.Property) -> Callable[[Frame], Array]:
        """Where a property holds; arguments it has none."""
        self.scope = {}
        code = self._function(p.function, [])
        return lambda frame: code.run(frame)[0]

    def _among(self, name: str, states: tuple[str, ...]) -> Callable[[Frame], Array]:
        kind = self.kinds.get(name)
        if not isinstance(kind, t.Enum):
            raise Unsupported
        self.read.add(name)
        if len(states) == 1:
            index = kind.members.index(states[0])
            return lambda frame: frame.fields[name][0] == index
        table = np.array([each in states for each in kind.members])
        return lambda frame: table[frame.fields[name][0]]

    def _entry(self, asked: headers.Source | headers.Firing) -> Act:
        match asked:
            case headers.Source(control=ir.Field(of=ir.Self(), name=name), states=states):
                if states is None:
                    return _nothing
                test = self._among(name, states)
                return lambda frame: frame.narrow(test(frame))
            case _:
                raise Unsupported

    def _leaving(self, leaving: headers.Becomes | headers.StaysAmong) -> Act:
        match leaving:
            case headers.Becomes(control=ir.Field(of=ir.Self(), name=name, type=kind), state=state):
                if not isinstance(kind, t.Enum):
                    raise Unsupported
                index = kind.members.index(state)
                self.written.add(name)

                def become(frame: Frame) -> None:
                    frame.fields[name] = (index,)

                return become
            case headers.StaysAmong(control=ir.Field(of=ir.Self(), name=name), states=states):
                test = self._among(name, states)
                return lambda frame: frame.fault(np.logical_not(test(frame)))
            case _:
                raise Unsupported

    def _bounds(self, name: str) -> Act:
        kind = self.kinds[name]
        if not bounded(kind):
            return _nothing
        return lambda frame: frame.fault(out_of_bounds(frame.fields[name], kind))

    def _output_bounds(self, kind: t.Type) -> Act:
        def judge(frame: Frame) -> None:
            if frame.output is not None:
                frame.fault(out_of_bounds(frame.output, kind))

        return judge

    # Functions.

    def invoked(self, function: ir.Function, of: ir.Expr | None, args: tuple[ir.Expr, ...]) -> Code:
        """A call of a helper of the machine, or of a module."""
        if not isinstance(of, ir.Self | None):
            raise Unsupported
        rows = zip(args, function.params, strict=True)
        given = [self.stored(arg, kind) for arg, (_, kind) in rows]
        body = self._function(function, list(function.params))
        names = [name for name, _ in function.params]

        def run(frame: Frame) -> Components:
            values = [each.run(frame) for each in given]
            outer, frame.locals = frame.locals, dict(zip(names, values, strict=True))
            unset, frame.unset = frame.unset, {}
            try:
                return body.run(frame)
            finally:
                frame.locals, frame.unset = outer, unset

        return Code(run, fallible=True)

    def _function(self, function: ir.Function, params: list[tuple[str, t.Type]]) -> Code:
        """A body that gives a value, run in the locals that the frame has."""
        if self.inside > 20:
            raise Unsupported  # It calls itself.
        scope, output = self.scope, self.output
        self.scope, self.output = dict(params), function.output
        self.inside += 1
        try:
            act = self._whole(function, merging=True)
        finally:
            self.inside -= 1
            self.scope, self.output = scope, output

        def run(frame: Frame) -> Components:
            path, outer = frame.path, (frame.ended, frame.output)
            frame.ended, frame.output = [], None
            act(frame)
            _together(frame)
            if frame.path is not None:
                left = np.logical_not(frame.path)
                frame.refused.append(left if path is None else left & path)
            given = NONE if frame.output is None else frame.output
            frame.path, (frame.ended, frame.output) = path, outer
            return given

        return Code(run, fallible=True)

    # Statements.

    def _whole(self, function: ir.Function, merging: bool) -> Act:
        """A body; where it comes to its end, it gives None."""
        body = self._block(function.body, merging)
        if isinstance(function.body[-1] if function.body else None, ir.Return):
            return body
        try:
            end = self._return(None)
        except Unsupported:  # It gives something else, so this is not to happen.
            return _sequence([body, lambda frame: frame.fault(True)])
        return _sequence([body, end])

    def _block(self, body: tuple[ir.Stmt, ...], merging: bool) -> Act:
        """The statements one after another; `merging`: only some of the rows run them."""
        acts: list[Act] = []
        for stmt in body:
            acts.append(self._statement(stmt, merging))
            merging = merging or any(isinstance(s, ir.Return) for s in walk.statements([stmt]))
        return _sequence(acts)

    def _statement(self, stmt: ir.Stmt, merging: bool) -> Act:
        match stmt:
            case ir.Assign(target=target, value=value):
                return self._assign(target, value, merging)
            case ir.Require(test=test):
                run = self._test(test)
                return lambda frame: frame.narrow(run(frame))
            case ir.Refuse():
                return lambda frame: frame.narrow(test=False)
            case ir.Assert(test=test):
                run = self._test(test)
                return lambda frame: frame.fault(np.logical_not(run(frame)))
            case ir.Branch():
                return self._branch(stmt)
            case ir.Return(value=value):
                return self._return(value)
            case ir.Do(call=call, into=None):
                code = self.call(call)
                return lambda frame: void(code.run(frame))
            case _:
                raise Unsupported

    def _test(self, e: ir.Expr) -> Callable[[Frame], Array]:
        if not isinstance(e.type, t.Bool):
            raise Unsupported
        run = self.code(e).run
        return lambda frame: run(frame)[0]

    def _assign(self, target: ir.Expr, value: ir.Expr, merging: bool) -> Act:
        match target:
            case ir.Field(of=ir.Self(), name=name):
                run = self.stored(value, self.kinds[name]).run
                self.written.add(name)
                self.read.add(name)

                def assign(frame: Frame) -> None:
                    new, path = run(frame), frame.path
                    if merging and path is not None:
                        new = selected(path, new, frame.fields[name])
                    frame.fields[name] = new

                return assign
            case ir.Local(name=name, type=kind):
                known = self.scope.setdefault(name, kind)
                dtypes(known)
                run = self.stored(value, known).run
                return lambda frame: _set(frame, name, run(frame), merging)
            case ir.Narrow(of=of):
                return self._assign(of, value, merging)
            case _:
                raise Unsupported

    def _branch(self, stmt: ir.Branch) -> Act:
        test = self._test(stmt.test)
        then = self._block(stmt.then, merging=True)
        other = self._block(stmt.other, merging=True) if stmt.other else None

        def branch(frame: Frame) -> None:
            chosen = test(frame)
            path = frame.path
            frame.narrow(chosen)
            then(frame)
            first = frame.path
            frame.path = path
            frame.narrow(np.logical_not(chosen))
            if other is not None:
                other(frame)
            frame.path = first | frame.path

        return branch

    def _return(self, value: ir.Expr | None) -> Act:
        if value is None:
            run = _constantly(conversion(t.Nothing(), self.output)(NONE))
        else:
            run = self.stored(value, self.output).run

        def give(frame: Frame) -> None:
            new = run(frame)
            path = frame.path
            if frame.output is not None and path is not None:
                new = selected(path, new, frame.output)
            frame.output = new
            frame.ended.append(True if path is None else path)
            frame.path = False

        return give


def _set(frame: Frame, name: str, new: Components, merging: bool) -> None:
    """Give a local its value, on the rows that come here."""
    path = frame.path
    if not merging or path is None:
        frame.locals[name] = new
        frame.unset.pop(name, None)
    elif name in frame.locals:
        frame.locals[name] = selected(path, new, frame.locals[name])
        if name in frame.unset:
            frame.unset[name] = frame.unset[name] & np.logical_not(path)
    else:
        frame.locals[name] = new
        frame.unset[name] = np.logical_not(path)


def _together(frame: Frame) -> None:
    """The rows that returned go on with those that came to the end of the body."""
    path = frame.path
    for each in frame.ended:
        path = each if path is None else path | each
    frame.ended = []
    frame.path = path


def _sequence(acts: list[Act]) -> Act:
    """One after another."""
    kept = [each for each in acts if each is not _nothing]
    if len(kept) == 1:
        return kept[0]

    def run(frame: Frame) -> None:
        for each in kept:
            each(frame)

    return run


def _constantly(value: Components) -> Run:
    return lambda frame: value


def _nothing(frame: Frame) -> None:
    """Nothing is asked."""


def void(value: object) -> None:
    """The value is not used."""
