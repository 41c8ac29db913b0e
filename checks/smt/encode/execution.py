"""Symbolic execution: one run through a body for all states, arguments and parameters at once.

Both branches of a choice are executed and merged. What stops a step (a false guard, an operation
without a value, a false `assert`) is noted with the condition under which it is the first to stop
it. The reference engine (`checks.reference`) defines the meaning, statement by statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lawful.spec import ir

from ..algebra.term import Term
from .conversion import as_term
from .expressions import EXPRESSIONS, defaults
from .invocations import CALL_EXPRESSIONS, CALL_STATEMENTS, execute_body, result, transition
from .iteration import NO_FIRST
from .sorts import NotEncodable
from .statements import STATEMENTS
from .symbolic import STOPS, Args, BodyExit, StatePath, StopKind, SymbolicStep, Value
from .trail import Trail

EVAL: Mapping[type[ir.Expr], Callable[[Any, Any], Value]] = {**EXPRESSIONS, **CALL_EXPRESSIONS}
RUN: Mapping[type[ir.Stmt], Callable[[Any, Any], None]] = {**STATEMENTS, **CALL_STATEMENTS}
# The terms of one execution. The systems' largest proofs take some 10,000 terms for all steps
# together; where a collection is made from collections again and again, each may have a power of
# the terms before.
MOST_TERMS = 200_000


class Execution(Trail):
    """Executes bodies from one state; made for one step or one property."""

    def eval(self, e: ir.Expr) -> Value:
        """The value of an expression; raises NotEncodable with the place of the construct."""
        if self.logic.terms_made - self.first > MOST_TERMS:
            raise NotEncodable(f"a step of more than {MOST_TERMS:,} terms", e.place)
        try:
            return EVAL[e.__class__](self, e)
        except NotEncodable as error:
            raise error if error.place else NotEncodable(error.construct, e.place) from error

    def block(self, body: Sequence[ir.Stmt]) -> None:
        """Execute statements in order, as long as any execution goes on."""
        for stmt in body:
            if self.path is self.logic.false:
                return
            try:
                RUN[stmt.__class__](self, stmt)
            except NotEncodable as error:
                raise error if error.place else NotEncodable(error.construct, stmt.place) from error

    def step(self, row: ir.Transition, args: Args) -> SymbolicStep:
        """One transition, from the state this execution was made with."""
        return self._outcome(lambda: transition(self, row, args, ()))

    def begin(self, function: ir.Function, args: Args) -> SymbolicStep:
        """An `@initial` method, from the defaults."""
        return self._outcome(lambda: execute_body(self, function, args, ()))

    def began(self) -> SymbolicStep:
        """The start of a machine without `@initial`: the state of the defaults."""
        return self._outcome(list)

    def judge(
        self,
        function: ir.Function,
        args: Args,
        own: StatePath = (),
        machine: ir.Machine | None = None,
    ) -> tuple[Term, Term]:
        """A property's value, and the condition that it is defined; for a property of a part,
        `machine` is the part's machine and `own` its path."""
        value = result(self, function, execute_body(self, function, args, own, machine))
        if any(stop.kind in ("beyond", "excess") for stop in self.stops):
            raise NotEncodable("a sequence longer than any in the state", function.place)
        if self.skipped:
            raise NotEncodable(self.skipped[0], function.place)
        defined = self.logic.negate(self.stopped("undefined", "refused", "asserts"))
        return self._under_laws(as_term(value), function), self._under_laws(defined, function)

    def _under_laws(self, truth: Term, function: ir.Function) -> Term:
        """The condition, quantified over this execution's own constants, under their laws."""
        if not self.laws:
            return truth
        if truth.shape is not self.logic.bool:
            raise NotEncodable(NO_FIRST, function.place)
        names = [law.constant for law in self.laws]
        return self.logic.forall(names, self.logic.all(law.truth for law in self.laws), truth)

    def defaults(self, given: Args) -> dict[str, Value]:
        """The state of a new instance with these parameters."""
        return defaults(self, self.frame.machine, given)

    def _outcome(self, run: Callable[[], list[BodyExit]]) -> SymbolicStep:
        returns, logic = run(), self.logic
        extra_key = logic.all((self.path, self.extra_key))
        stopped: dict[StopKind, Term] = {kind: self.stopped(kind) for kind in STOPS}
        stopped["bounds"] = logic.any((self.stopped("bounds"), extra_key))
        return SymbolicStep(
            done=logic.all((self.path, logic.negate(self.extra_key))),
            stopped=stopped,
            laws=logic.all(law.truth for law in self.laws),
            after=dict(self.state),
            outputs=tuple((r.when, r.value) for r in returns if r.value is not None),
            skipped=next(iter(self.skipped), ""),
        )
