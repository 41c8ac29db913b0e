"""Refinement: each step of a machine, seen through a view, is a step of an abstract machine.

The view maps each initial state to an initial state of the abstract machine, and each step to one
of its steps, or to none. The abstract machine's scope bounds only the arguments that are tried for
its events.
"""

from __future__ import annotations

from collections.abc import Iterator

from lawful.spec import types as t
from lawful.spec.text.reasons import text
from lawful.spec.values import bounds

from ..reference import Done
from ..reference.missing_values import NoValue
from ..reference.properties import PropertyOf
from ..reference.states import State, freeze
from ..verdict import Verdict
from .space import Space, sizes_of

Failing = tuple[Verdict, str]


def refinements(space: Space) -> tuple[Refining, ...]:
    """The machine's `@refines`, each to be checked on the result of a search."""
    return tuple(_all(space))


def _all(space: Space) -> Iterator[Refining]:
    flats = {flat.machine.name: flat for flat in space.flat.abstracts}
    for j in space.of_kind("refines"):
        output = j.row.function.output
        assert isinstance(output, t.Part)
        abstract = flats[output.machine]
        values = bounds.Values(
            space.world, sizes_of(abstract), space.values.elements, space.values.serials
        )
        yield Refining(space, j, Space(abstract, space.world, values))


class Refining:
    """One `@refines` of the machine of `space`."""

    def __init__(self, space: Space, j: PropertyOf, abstract: Space) -> None:
        self.space = space
        self.abstract = abstract
        self.name = j.name
        self.function = j.row.function
        self.views: dict[State, State] = {}
        self.steps: dict[State, frozenset[State]] = {}

    def starts(self, state: State) -> Failing | None:
        """Why the abstract machine cannot start where this state is seen; None if it can."""
        try:
            view = self.view(state)
        except NoValue as error:
            return _without_value(error)
        found = self._breach(view)
        if found is not None:
            return Verdict.VIOLATED, found
        fixed = view[len(self.abstract.machine.variables) :]
        made = dict(zip(self._parameters(), fixed, strict=True))
        known = self.abstract.reference.parameters(made)
        if self.abstract.assumed(known) and any(
            isinstance(outcome, Done) and outcome.state == view
            for _, _, outcome in self.abstract.starts(made)
        ):
            return None
        return self._missing("initials", f"{self._named()} does not start as {self._shown(view)}")

    def follows(self, before: State, after: State) -> Failing | None:
        """Why no step of the abstract machine is what this step is seen as; None if one is."""
        try:
            old, new = self.view(before), self.view(after)
        except NoValue as error:
            return _without_value(error)
        return self.leads(old, new)

    def leads(self, old: State, new: State) -> Failing | None:
        """The same of what two states are seen as."""
        if old == new or new in self._after(old):
            return None
        found = self._breach(new)
        if found is not None:
            return Verdict.VIOLATED, found
        what = f"from {self._shown(old)} to {self._shown(new)}"
        return self._missing("rules", f"no step of {self._named()} leads {what}")

    def view(self, state: State) -> State:
        """The state as one of the abstract machine; NoValue where it has no value."""
        found = self.views.get(state)  # States are large: to look twice takes twice as long.
        if found is None:
            found = freeze(self.space.reference.call(self.function, state, []))
            self.views[state] = found
        return found

    def _after(self, view: State) -> frozenset[State]:
        found = self.steps.get(view)
        if found is None:
            outcomes = (outcome for _, _, outcome in self.abstract.outcomes(view))
            found = frozenset(o.state for o in outcomes if isinstance(o, Done))
            self.steps[view] = found
        return found

    def _missing(self, kind: str, why: str) -> Failing:
        """A violation, unless arguments that the abstract machine's scope leaves out may help."""
        flat, m = self.abstract.flat, self.abstract.machine
        rules = flat.initials if kind == "initials" else flat.rules
        functions = {f.name: f for f in m.initials} | {x.name: x.function for x in m.transitions}
        for rule in rules:
            given = dict(functions[rule.name].params)
            for plan in rule.plans:
                if plan.type != given[plan.name]:
                    more = f"only {plan.name} of {rule.name} within its scope was tried"
                    return Verdict.UNKNOWN, f"{why}; {more}"
        return Verdict.VIOLATED, why

    def _breach(self, view: State) -> str | None:
        """The bound of the abstract machine's types that the view violates."""
        m = self.abstract.machine
        rows = [(v.name, v.type) for v in m.variables] + [(p.name, p.type) for p in m.parameters]
        for (name, kind), value in zip(rows, view, strict=True):
            found = bounds.breach(value, kind)
            if found is not None:
                at = "" if found[0] in ".[ " else ": "
                return f"{self.name} gives no state of {m.name}: {name}{at}{found}"
        return None

    def _parameters(self) -> list[str]:
        return [p.name for p in self.abstract.machine.parameters]

    def _named(self) -> str:
        return self.abstract.machine.name

    def _shown(self, view: State) -> str:
        shown = self.abstract.shown(view)
        return f"({', '.join(f'{name} = {text(value)}' for name, value in shown.items())})"


def _without_value(error: NoValue) -> Failing:
    return Verdict.UNDEFINED, f"undefined: {error}"
