"""Views of a machine at the end of a path: what is possible there, what is refused, what holds.

A path is a tuple of numbers: the place of the start among all starts, then of each event among the
admitted ones of its state, in the order of the declaration. So a path can stand in an address.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.flat import Flat
from lawful.spec.ir import Json
from lawful.spec.values.world import World, encode

from ..explore.limits import Budget, Limits, OutOfBudget
from ..explore.retrace import judged
from ..explore.space import Args, Edge, Space
from ..explore.state_json import shown
from ..explore.traces import trace_of
from ..reference import Done, Fault, Refusal
from ..reference.states import State
from ..reference.time import timers
from ..verdict import Trace, TraceStep
from .message_flights import MessageFlights, Moves, members

Path = tuple[int, ...]
MOST = 200  # Events of a state, and starts, that a view lists.
TRIED = 50  # Arguments with which a refused transition is tried.
CLAUSES = 3  # Different refusals of one transition that a view has.
KEPT = 5000  # States of paths that are kept.
SECONDS = 3.0  # The time for one view; what is left out is said.
WALK_SECONDS = 30.0  # The time for a random walk.


class NoPath(ValueError):
    """A path leads nowhere; the text says at which of its numbers."""


class Point(NamedTuple):
    """The end of a path; of one with events also the last event, as it was found and as a view has
    it, and what it did to messages."""

    state: State
    edge: Edge | None = None
    step: Json = None
    moves: Moves | None = None


class WalkedPath:
    """Computes the views of one machine within its scope, with the reference engine."""

    def __init__(self, flat: Flat, world: World, seconds: float = SECONDS) -> None:
        self.space = Space(flat, world)
        self.seconds = seconds
        self._flights = MessageFlights(self.space)
        self._points: OrderedDict[Path, Point] = OrderedDict()

    def view(self, path: Path) -> dict[str, Json]:
        """The page's data at the end of a path; of the empty path only the starts.

        Raises NoPath, and OutOfBudget where already the way there takes too long.
        """
        self._begin()
        if not path:
            starts, more = self._first(self._starts())
            rows: list[Json] = [
                {"index": i, "event": name or "start", "args": args, "state": state}
                for i, name, args, state in starts
            ]
            return {"path": [], "starts": rows, "more": more}
        points = self._along(path)
        states = [point.state for point in points]
        state = states[-1]
        edges, more = self._first(enumerate(self.space.edges(state)))
        properties, complete = self._properties(states)
        refused, all_refused = self._refused(state, {edge.rule for _, edge in edges})
        return {
            "path": list(path),
            "state": self.space.shown(state),
            "lanes": list(self._lanes(state)),
            "timers": self._timers(state),
            "flights": self._flights.picture(states, [p.moves for p in points if p.moves]),
            "steps": [point.step for point in points[1:]],
            "enabled": [self._edge(i, edge) for i, edge in edges],
            "refused": refused,
            "properties": properties,
            "more": more or not (complete and all_refused),
        }

    def state(self, path: Path) -> State:
        """The state at the end of a path that is not empty. Raises NoPath."""
        return self._point(path).state

    def trace(self, path: Path) -> Trace:
        """The path as a trace, as `lawful check` has it. Raises NoPath."""
        self._begin()
        points = self._along(path)
        edges = [point.edge for point in points if point.edge is not None]
        states = [point.state for point in points]
        return trace_of(self.space, states, [(edge.rule, edge.args) for edge in edges])

    def last_step(self, path: Path) -> TraceStep:
        """The last event of a path of at least two numbers. Raises NoPath."""
        self._begin()
        states, edge = [self.state(path[:-1]), self.state(path)], self._point(path).edge
        assert edge is not None
        return trace_of(self.space, states, [(edge.rule, edge.args)]).steps[0]

    def random_walk(self, path: Path, seed: int, events: int) -> Path:
        """The path, and so many further events, which the seed chooses: equal seeds walk equally.

        Each is one of the first events of its state that lead to a state within the scope. The walk
        is shorter where there is none. An empty path gets a start first, which is not counted.
        Raises NoPath, and OutOfBudget where it takes too long.
        """
        self.space.budget = Budget(Limits(seconds=WALK_SECONDS))
        chosen = Random(seed)
        if not path:
            starts = sum(1 for _ in itertools.islice(self._made(), MOST))
            path = (int(chosen.random() * starts),)
        self._along(path)
        for _ in range(events):
            edges = itertools.islice(enumerate(self.space.edges(self.state(path))), MOST)
            able: dict[int, list[int]] = {}
            for i, edge in edges:
                if isinstance(edge.outcome, Done) and edge.cut is None:
                    able.setdefault(edge.rule, []).append(i)
            if not able:
                break
            # Each transition is as likely, however many arguments it has.
            of_one = [*able.values()][int(chosen.random() * len(able))]
            path = (*path, of_one[int(chosen.random() * len(of_one))])
        return path

    def path_of(self, trace: Trace) -> Path:
        """The path of a trace of this machine, as far as its events lead to states."""
        self.space.budget = Budget()
        path: Path = ()
        for number, state in enumerate(self._made()):
            if self.space.shown(state) == trace.initial:
                path = (number,)
                break
        for step, after in zip(trace.steps, trace.states[1:], strict=False):
            state = self.state(path)
            for number, edge in enumerate(self.space.edges(state)):
                if self._leads(edge, step) == after:
                    path = (*path, number)
                    break
            else:
                break
        return path

    def _leads(self, edge: Edge, step: TraceStep) -> Mapping[str, Json] | None:
        """The state to which an event leads, if it is that of the step."""
        same = self.space.rules[edge.rule][1].name == step.transition
        if not (same and self._args(edge.rule, edge.args) == step.args):
            return None
        return self.space.shown(edge.outcome.state) if isinstance(edge.outcome, Done) else None

    def events(self, path: Path) -> Iterator[dict[str, Any]]:
        """Every admitted event at the end of a path, as a view has it.

        Raises NoPath, and OutOfBudget after the time for one view.
        """
        self._begin()
        for index, edge in enumerate(self.space.edges(self.state(path))):
            yield self._edge(index, edge)

    def refusals(self, path: Path, event: str) -> Iterator[dict[str, Any]]:
        """Every refusal of an event, or of one transition, with its arguments and the clause.

        Raises NoPath, ValueError where the arguments are too many to enumerate, and OutOfBudget.
        """
        self._begin()
        state = self.state(path)
        for index, (rule, row) in enumerate(self.space.rules):
            if event not in (row.event, row.name):
                continue
            for args in self.space.arguments(rule, state, planned=False):
                named = bind(row.function.params, args)
                outcome = self.space.reference.step(state, row.name, named)
                if isinstance(outcome, Refusal):
                    clause = str(outcome.reason())
                    yield {**self._call(index, args), "clause": clause}

    def parameters(self, event: str) -> list[str] | None:
        """The argument names of an event or a transition; None where there is no such event."""
        rows = [row for _, row in self.space.rules if event in (row.event, row.name)]
        names = [name for row in rows for name, _ in row.function.params]
        return list(dict.fromkeys(names)) if rows else None

    def failing(self, path: Path) -> list[tuple[str, str, str]]:
        """Name, kind and reason of each property that fails at the end of a path."""
        self._begin()
        rows, _ = self._properties([point.state for point in self._along(path)])
        failed = (row for row in rows if isinstance(row, dict) and row["now"] == "fails")
        return [(str(row["name"]), str(row["kind"]), str(row["why"])) for row in failed]

    def _begin(self) -> None:
        self.space.budget = Budget(Limits(seconds=self.seconds))

    def _made(self) -> Iterator[State]:
        """The states of the starts within the scope."""
        for _, _, outcome in self.space.initial():
            placed, outside = self.space.placed(outcome)
            if isinstance(placed, Done) and outside is None:
                yield placed.state

    def _starts(self) -> Iterator[tuple[int, str | None, Json, Json]]:
        functions = {f.name: f for f in self.space.machine.initials}
        number = 0
        for name, args, outcome in self.space.initial():
            placed, outside = self.space.placed(outcome)
            if isinstance(placed, Done) and outside is None:
                given = self.space.shown_args(functions[name], args) if name is not None else {}
                yield number, name, given, self.space.shown(placed.state)
                number += 1

    def _first(self, found: Iterator[Any]) -> tuple[list[Any], bool]:
        """The first rows, and whether there are or may be more."""
        rows: list[Any] = []
        try:
            for row in found:
                if len(rows) == MOST:
                    return rows, True
                rows.append(row)
        except (OutOfBudget, ValueError):  # Too many arguments to enumerate.
            return rows, True
        return rows, False

    def _along(self, path: Path) -> list[Point]:
        """The points from the start of a path to its end."""
        return [self._point(path[: n + 1]) for n in range(len(path))]

    def _point(self, path: Path) -> Point:
        known = self._points.get(path)
        if known is not None:
            self._points.move_to_end(path)
            return known
        found = self._started(path) if len(path) == 1 else self._stepped(path)
        if found is None:
            raise NoPath(f"number {len(path)} of the path, {path[-1]}, leads to no state")
        self._points[path] = found
        if len(self._points) > KEPT:
            self._points.popitem(last=False)
        return found

    def _started(self, path: Path) -> Point | None:
        state = next(itertools.islice(self._made(), path[0], None), None)
        return None if state is None else Point(state)

    def _stepped(self, path: Path) -> Point | None:
        """The point after the last event of a path of at least two numbers."""
        before = self.state(path[:-1])
        edge = next(itertools.islice(self.space.edges(before), path[-1], None), None)
        if edge is None:
            raise NoPath(f"number {len(path)} of the path, {path[-1]}: there is no such event")
        if not isinstance(edge.outcome, Done):
            return None
        after = edge.outcome.state
        row = self.space.rules[edge.rule][1]
        changed = self.space.changed(before, after)
        output = edge.outcome.output
        step: Json = {
            **self._call(edge.rule, edge.args),
            "changed": changed,
            "output": None if output is None else encode(output, row.function.output),
        }
        if not self._flights.channels:
            return Point(after, edge, step)
        named = bind(row.function.params, edge.args)
        return Point(
            after, edge, step, self._flights.moves(before, row.name, named, after, changed)
        )

    def _args(self, rule: int, args: Args) -> dict[str, Json]:
        return self.space.shown_args(self.space.rules[rule][1].function, args)

    def _call(self, rule: int, args: Args) -> dict[str, Json]:
        row = self.space.rules[rule][1]
        return {"event": row.event, "transition": row.name, "args": self._args(rule, args)}

    def _edge(self, index: int, edge: Edge) -> dict[str, Json]:
        fault = edge.outcome if isinstance(edge.outcome, Fault) else None
        return {
            "index": index,
            **self._call(edge.rule, edge.args),
            "fault": None if fault is None else f"{fault.name}: {fault.what}",
            "cut": edge.cut,
        }

    def _refused(self, state: State, taken: set[int]) -> tuple[list[Json], bool]:
        """Each transition that no argument enables, with the clauses that refuse it."""
        out: list[Json] = []
        for index, (rule, row) in enumerate(self.space.rules):
            if index in taken:
                continue
            clauses: dict[str, Json] = {}
            met = set[str]()
            try:
                given = self.space.arguments(rule, state, planned=False)
                for args in itertools.islice(given, TRIED):
                    named = bind(row.function.params, args)
                    outcome = self.space.reference.step(state, row.name, named)
                    if isinstance(outcome, Refusal) and len(clauses) < CLAUSES:
                        reason = outcome.reason()
                        # Those of equal words that differ in values say nothing new.
                        if (words := reason.why or reason.clause) not in met:
                            met.add(words)
                            clauses[str(reason)] = self._args(index, args)
            except OutOfBudget:
                return out, False
            except ValueError as error:
                clauses[str(error)] = {}
            rows: list[Json] = [{"clause": clause, "args": a} for clause, a in clauses.items()]
            out.append({"event": row.event, "transition": row.name, "because": rows})
        return out, True

    def _properties(self, states: Sequence[State]) -> tuple[list[Json], bool]:
        """What each property says here, and whether there was time for all."""
        rows: list[Json] = []
        kinds: dict[str, str] = {"deadlock": "built-in"}
        kinds.update((j.name, str(j.kind)) for j in self.space.judged)
        space = self.space
        sought = space.of_kind("reachable", "terminal")
        of_states = [*space.invariants, *space.step_properties, *sought]
        here = {"deadlock", *(j.name for j in of_states)}
        for name, kind in kinds.items():
            if name not in here:
                rows.append({"name": name, "kind": kind, "now": "not of one state", "why": ""})
                continue
            try:
                now, why = self._now(name, kind, states)
            except OutOfBudget:
                return rows, False
            rows.append({"name": name, "kind": kind, "now": now, "why": why})
        return rows, True

    def _now(self, name: str, kind: str, states: Sequence[State]) -> tuple[str, str]:
        if kind in ("reachable", "terminal"):
            (j,) = (each for each in self.space.judged if each.name == name)
            given = self.space.arguments(j.rule, states[-1])
            here = any(self.space.is_true(j.row, states[-1], args) for args in given)
            return ("reached" if here else "not here"), ""
        why = judged(self.space, name, states)
        return ("holds here", "") if why is None else ("fails", why)

    def _lanes(self, state: State) -> Iterator[Json]:
        """A lane of each part and each member of a family."""
        whole = self.space.machine
        for i, v in enumerate(whole.variables):
            part = t.part_of(v.type)
            if part is None:
                continue
            row = whole.part(part.machine)
            fixed = [p.name for p in row.parameters]
            for name, member in members(v, state[i]):
                yield {"name": name, "state": shown(whole, member, row, fixed)}

    def _timers(self, state: State) -> dict[str, Json]:
        """The timers, and what is left of each: ticks, or whether it is armed."""
        machines = self.space.reference.machines
        found = timers(machines, self.space.machine.name, state)
        return {place: _left(value) for place, _, value in found}


def _left(value: Any) -> Json:
    if value is None or value is False:
        return "stopped"
    if value is True:
        return "armed: due at any time"
    return f"due in {value} tick{'s' if value > 1 else ''}" if value else "due"
