"""Refinement as terms: the view maps every start and step to one of the abstract machine.

The view of a state is a term of the abstract machine's own product type. The abstract step is
executed from there: some arguments lead to the view of the state after, or nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from math import prod

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind

from .algebra.term import Term
from .encode.execution import Execution
from .encode.sorts import NotEncodable, fields_of
from .encode.symbolic import Args, State, SymbolicStep, Unencodable, Value
from .encode.values import Encoding
from .obligations import Case

LIKELY = 16  # Combinations of the step's arguments that are tried for the abstract step.


class Refinement:
    """One `@refines` of a machine."""

    def __init__(self, encoding: Encoding, machine: ir.Machine, row: ir.Property) -> None:
        self.encoding, self.logic = encoding, encoding.logic
        self.machine, self.function = machine, row.function
        output = row.function.output
        assert isinstance(output, t.Part)
        self.kind = output
        self.abstract = encoding.inner(output.machine)

    def goal(self, case: Case, *, near: bool = False) -> Term:
        """The condition that the view of the start or step is one of the abstract machine; raises
        NotEncodable.

        With `near`, a stronger goal: the arguments of the abstract step are those of the step.
        """
        logic = self.logic
        after, has_value = self._view(case.step.after)
        kept = [has_value, self.encoding.bounds(after, self.kind)]
        if case.before is None:
            return logic.all((*kept, self._assumed(after), logic.any(self._starts(after))))
        before, _ = self._view(case.before)
        same = self.encoding.equal(before, after, self.kind)
        return logic.all((*kept, logic.any((same, *self._steps(case, (before, after), near)))))

    def _view(self, state: State) -> tuple[Term, Term]:
        """The view of a state, and the condition that it is defined."""
        return Execution(self.encoding, state, self.machine).judge(self.function, {})

    def _state(self, view: Term) -> dict[str, Value]:
        data = self.encoding.data(self.kind)
        names = [name for name, _ in fields_of(self.abstract)]
        return {name: self.logic.field(data, 0, i, view) for i, name in enumerate(names)}

    def _assumed(self, view: Term) -> Term:
        """The condition that the abstract machine's assumptions allow the parameters."""
        state, found = self._state(view), list[Term]()
        for p in self.abstract.of_kind("assume"):
            found += Execution(self.encoding, state, self.abstract).judge(p.function, {})
        return self.logic.all(found)

    def _starts(self, view: Term) -> list[Term]:
        state = self._state(view)
        given = {p.name: state[p.name] for p in self.abstract.parameters}
        found: list[Term] = []
        for function in self.abstract.initials or (None,):
            run = Execution(self.encoding, given, self.abstract)
            run.state = run.defaults(given)
            args, where = self._arguments(function)
            step = run.began() if function is None else run.begin(function, args)
            found.append(self._some(args, where, step, state))
        return found

    def _steps(self, case: Case, views: tuple[Term, Term], near: bool) -> list[Term]:
        old, new = map(self._state, views)
        found: list[Term] = []
        for row in self.abstract.transitions:
            listed = self._listed(row.function)
            if listed is not None:
                found += [
                    self._to(Execution(self.encoding, old, self.abstract).step(row, each), new)
                    for each in listed
                ]
                continue
            args, where = self._arguments(row.function)
            for likely in self._likely(case, row.function):
                step = Execution(self.encoding, old, self.abstract).step(row, likely)
                found.append(self._to(step, new))
            if args and not near:
                step = Execution(self.encoding, old, self.abstract).step(row, args)
                found.append(self._some(args, where, step, new))
        return found

    def _likely(self, case: Case, function: ir.Function) -> Iterator[dict[str, Value]]:
        """Arguments of the step that have the types of the abstract step's arguments."""
        own = [
            [value for value, kind in case.args.values() if kind == wanted]
            for _, wanted in function.params
        ]
        for values in islice(product(*own), LIKELY):
            yield bind(function.params, values)

    def _listed(self, function: ir.Function) -> list[dict[str, Value]] | None:
        """All arguments of the abstract step, where they are few and contain no integers."""
        values: list[list[Term]] = []
        for _, kind in function.params:
            universe = self.encoding.universe(kind)
            many = universe is None or any(isinstance(k, t.Int) for k in t.inside(kind))
            if universe is None or many or prod(map(len, (*values, universe))) > LIKELY:
                return None
            values.append(universe)
        names = [name for name, _ in function.params]
        return [dict(zip(names, each, strict=True)) for each in product(*values)]

    def _arguments(self, function: ir.Function | None) -> tuple[dict[str, Value], list[Term]]:
        args: dict[str, Value] = {}
        where: list[Term] = []
        for name, kind in () if function is None else function.params:
            term = self.logic.fresh(name, self.encoding.shape(kind))
            args[name] = term
            where.append(self.encoding.bounds(term, kind))
        return args, where

    def _some(self, args: Args, where: list[Term], step: SymbolicStep, to: State) -> Term:
        """The condition that some arguments lead to this state."""
        names = [_term(arg) for arg in args.values()]
        return self.logic.exists(names, self.logic.all((*where, self._to(step, to))))

    def _to(self, step: SymbolicStep, to: State) -> Term:
        if step.laws is not self.logic.true:
            raise NotEncodable("next(...) of a range without a bound, in a step that is looked for")
        rows = [(to[name], step.after[name], kind) for name, kind in fields_of(self.abstract)]
        same = [self.encoding.equal(_term(a), _term(b), kind) for a, b, kind in rows]
        return self.logic.all((step.done, *same))


def _term(value: Value) -> Term:
    if not isinstance(value, Term):
        raise NotEncodable(
            value.why if isinstance(value, Unencodable) else "a state without a term"
        )
    return value
