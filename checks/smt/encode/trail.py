"""The trail of one symbolic execution: its state, its path condition, and what stopped it.

The modules beside this one are functions over a trail: `conversion` (values), `control_flow`
(branches and loops), `iteration`, `expressions`, `places`, `statements`, `invocations`.
Expressions and statements contain each other: they meet through `Trail.eval` and `Trail.block`,
which `Execution` defines with the tables of all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Self

from lawful.spec import ir
from lawful.spec import types as t

from ..algebra.term import Term
from .symbolic import Frame, Law, State, Stop, StopKind, Value
from .values import Encoding


class Trail(ABC):
    """The state, the condition under which execution still goes on (`path`), and its stops."""

    def __init__(self, encoding: Encoding, state: State, machine: ir.Machine) -> None:
        self.encoding = encoding
        self.logic = encoding.logic
        self.state = dict(state)
        self.frame = Frame(machine, ())
        self.path: Term = encoding.logic.true
        self.stops: list[Stop] = []
        self.laws: list[Law] = []
        # What was skipped because it has no encoding: whether it has a value is not known.
        self.skipped: list[str] = []
        # Where a total map got a key that is not its own; bounds are checked after the step.
        self.extra_key: Term = encoding.logic.false
        self.first = self.logic.terms_made  # The terms of this execution come after this one.

    @abstractmethod
    def eval(self, e: ir.Expr) -> Value:
        """The value of an expression; an operation without a value stops the execution."""

    @abstractmethod
    def block(self, body: Sequence[ir.Stmt]) -> None:
        """Execute statements in order, as long as any execution goes on."""

    def fork(self, state: State) -> Self:
        """A trail that goes on from another state, in the same body."""
        trial = type(self)(self.encoding, state, self.frame.machine)
        trial.frame, trial.laws, trial.first = self.frame, self.laws, self.first
        trial.skipped = self.skipped
        return trial

    # Stops.

    def stop(self, kind: StopKind, where: Term, node: ir.Node) -> None:
        """End the execution where `where` is true."""
        when = self.logic.all((self.path, where))
        if when is not self.logic.false:
            self.stops.append(Stop(kind, when, node))
            self.path = self.logic.all((self.path, self.logic.negate(where)))

    def stopped(self, *kinds: StopKind) -> Term:
        """Where execution was stopped in one of these ways."""
        return self.logic.any(s.when for s in self.stops if s.kind in kinds)

    @contextmanager
    def where(self, test: Term) -> Generator[None]:
        """A block that is evaluated only where `test` is true."""
        before, count = self.path, len(self.stops)
        self.path = self.logic.all((before, test))
        yield
        inside = self.path
        if len(self.stops) == count:
            self.path = before
        else:
            skipped = self.logic.all((before, self.logic.negate(test)))
            self.path = self.logic.any((skipped, inside))

    @contextmanager
    def inside(self, test: Term) -> Generator[list[Stop]]:
        """A block for bound names, evaluated where `test` is true; yields the stops in it."""
        kept = self.path, self.stops
        collected: list[Stop] = []
        self.path, self.stops = test, collected
        try:
            yield collected
        finally:
            self.path, self.stops = kept

    # Total maps with a key that is not their own.

    def add_extra_key(self, where: Term, node: ir.Node, in_state: bool) -> None:
        """Note that a total map gets such a key where `where` is true.

        The bounds of a map in the state are checked after the step. Those of a local are never
        checked, so the step stops there.
        """
        if in_state:
            extra = self.logic.all((self.path, where))
            self.extra_key = self.logic.any((self.extra_key, extra))
        else:
            self.stop("excess", where, node)

    def lookup(self, kind: t.Type, container: Term, key: Term) -> tuple[Term, Term]:
        """Whether the key exists, and its value; extra keys of a total map count."""
        there, value = self.encoding.held(kind, container, key)
        total = isinstance(kind, t.Map) and kind.total
        if total and self.extra_key is not self.logic.false:
            there = self.logic.any((there, self.logic.stored(container, key)))
        return there, value

    def stop_at_extra_key(self, kind: t.Type, node: ir.Node) -> None:
        """Stop where a total map in a value of this type may have an extra key.

        An iteration over a total map skips such a key. After the whole map is assigned or deleted,
        the trail does not know whether the key is gone.
        """
        if self.extra_key is not self.logic.false and self._has_total_map(kind):
            self.stop("excess", self.extra_key, node)

    def _has_total_map(self, kind: t.Type) -> bool:
        """Whether there are total maps in a value, those in its parts included."""
        for each in t.inside(kind):
            if isinstance(each, t.Map) and each.total:
                return True
            if isinstance(each, t.Part):
                variables = self.encoding.inner(each.machine).variables
                if any(self._has_total_map(v.type) for v in variables):
                    return True
        return False
