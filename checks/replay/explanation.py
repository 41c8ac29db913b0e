"""What would have helped at a deviation: the nearest event that is possible instead, and the
shortest way to a state in which the recorded event is possible.

Both try events with arguments that the rows around, the state, the parameters and the declaration
have, and whole numbers beside them; so one may exist where none is found. In the nearest event each
number is then moved towards the recorded one for as long as the event is possible. The search for
the way is bounded by a number of states.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from lawful.runtime.elements import NO_ELEMENTS, Elements
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.codec.as_json import is_list, is_object, is_tuple
from lawful.spec.ir import Json
from lawful.spec.values import bounds
from lawful.spec.values.time import TICK, clock_of
from lawful.spec.values.world import decode

from ..reference import Done
from ..reference.states import State
from ..reference.time import at_tick
from .deviations import Deviation, Inconclusive, Malformed
from .difference import same
from .program import ReplayProgram
from .row_step import Stepper
from .rows import Row

STATES = 100  # States in which the search looks for a way.
FORMS = 12  # Values of one type that are tried.
CALLS = 48  # Calls of one event that are tried in one state.
CALLS_ON_THE_WAY = 6
ELSEWHERE = 1000.0  # The distance of another event is larger than that of other arguments.
NOT_POSSIBLE = ("refused", "fault", "argument", "ignored")

Call = tuple[str, dict[str, Any]]


def explained(
    program: ReplayProgram, machine: str, finding: Mapping[str, Any], states: int = STATES
) -> tuple[dict[str, Json], int]:
    """`nearest` and `path` of a deviation in its JSON form, as `lawful replay` writes it.

    `nearest`: the event, transition and arguments that are possible in this state and most like
    the recorded ones, or None. `path`: the events after which the recorded one is possible, or
    None. `searched`: in how many states it was looked for, at most `states`; this number is
    returned beside them. Empty where the event is possible, or where the finding has no state.
    """
    row = finding.get("row")
    event, told = finding.get("event"), finding.get("state")
    if finding.get("kind") not in NOT_POSSIBLE or not is_object(told) or not is_object(row):
        return {}, 0
    known = program.versions[machine]
    stepper = known.get(str(finding.get("fingerprint")), program.steppers[machine])
    if event in stepper.rows and event not in stepper.events:
        event = stepper.rows[str(event)].event  # A foreign row may name the transition.
    if event not in stepper.events or (stepper.form.kept and not told):
        return {}, 0
    try:
        stepper.universe = _elements(stepper, finding.get("universe", {}))
        parameters = Row("", 0, args=finding.get("parameters", {}))
        state = stepper.reader.state(told, stepper.made(parameters))
    except (Malformed, Inconclusive, Deviation):
        return {}, 0
    tried = Tried(stepper, Pool.of(stepper, finding), (event, dict(row["args"])))
    path, searched = tried.path(state, states)
    stepper.universe = NO_ELEMENTS
    return {"nearest": tried.nearest(state), "path": path, "searched": searched}, searched


def _elements(stepper: Stepper, universe: Mapping[str, Any]) -> Elements:
    sorts = stepper.world.sorts
    return Elements({name: tuple(map(sorts[name], row)) for name, row in universe.items()})


@dataclass(frozen=True)
class Pool:
    """The values from which arguments are made, in JSON form: seen in the rows and the state."""

    calls: tuple[Call, ...]
    numbers: tuple[int, ...]
    constants: tuple[int, ...]
    texts: tuple[str, ...]
    universe: Mapping[str, Any]

    @classmethod
    def of(cls, stepper: Stepper, finding: Mapping[str, Any]) -> Pool:
        """The values around a deviation, the constants of the declaration, 0 and 1."""
        around = finding.get("around", {})
        rows = [*around.get("before", ()), *around.get("after", ())]
        calls = tuple((r["event"], r["args"]) for r in rows if r["event"] in stepper.events)
        seen = list(_leaves([finding["row"]["args"], finding["state"], calls]))
        seen += _leaves(finding.get("parameters", {}))
        numbers = [each for each in seen if type(each) is int]
        beside = [n + d for n in numbers for d in (1, -1)]
        texts = [each for each in seen if isinstance(each, str)]
        unique = tuple(dict.fromkeys([*numbers, 0, 1, *beside]))
        constants = tuple(dict.fromkeys(_constants(stepper.machine)))
        universe = finding.get("universe", {})
        return cls(calls, unique, constants, tuple(dict.fromkeys(texts)), universe)

    def forms(self, kind: t.Type, like: Any) -> list[Any]:
        """Some JSON forms of values of a type, those most like `like` first; then constants."""
        found = itertools.islice(self._forms(kind, like), 4 * FORMS)
        near = sorted(found, key=lambda each: distance(each, like))[:FORMS]
        constants = self.constants[:FORMS] if isinstance(kind, t.Int) else ()
        return [*near, *(each for each in constants if each not in near)]

    def _forms(self, kind: t.Type, like: Any) -> Iterator[Any]:
        match kind:
            case t.Bool():
                yield from (False, True)
            case t.Enum(members=members):
                yield from members
            case t.Sort(name=name):
                yield from self.universe.get(name, self.texts)
            case t.Int():
                yield from self.numbers
            case t.Text():
                yield from self.texts
            case t.Nothing():
                yield None
            case t.Union(options=options):
                for each in options:
                    yield from self._forms(each, like)
            case t.Record(name=name, fields=fields):
                old = like if is_object(like) and like.get("$") == name else {}
                for made in self.records(fields, old):
                    yield {"$": name, **made}
            case _:
                if like is not None:
                    yield like

    def records(
        self, fields: Iterable[tuple[str, t.Type]], like: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Values for several names: those of `like` but for one, then any."""
        each = {name: self.forms(kind, like.get(name)) for name, kind in fields}
        if like.keys() >= each.keys():
            yield {name: like[name] for name in each}
            for name, forms in each.items():
                for form in forms:
                    if not same(form, like[name]):
                        yield {**{k: like[k] for k in each}, name: form}
        for row in itertools.islice(itertools.product(*each.values()), FORMS):
            yield dict(zip(each, row, strict=True))


def _constants(machine: ir.Machine) -> Iterator[int]:
    """The whole numbers that transitions and helpers name."""
    for node in everything((*machine.transitions, *machine.functions)):
        if isinstance(node, ir.Const) and type(node.value) is int:
            yield node.value


def _leaves(data: Any) -> Iterator[Any]:
    if is_object(data):
        for key, value in data.items():
            yield from _leaves(value) if key != "$" else ()
    elif is_list(data) or is_tuple(data):
        for each in data:
            yield from _leaves(each)
    else:
        yield data


def distance(one: Any, other: Any) -> float:
    """How unlike two JSON forms are: 0 for the same; less for numbers that are near."""
    if same(one, other):
        return 0.0
    if type(one) is type(other) is int:
        return 2.0 - 1.0 / abs(one - other)
    if is_object(one) and is_object(other) and one.keys() == other.keys():
        return sum(distance(one[key], other[key]) for key in one)
    return 3.0


@dataclass(frozen=True, slots=True)
class Decoded:
    """A call with its arguments as values."""

    call: Call
    values: tuple[Any, ...]


class Tried:
    """Tries calls in states, to come nearer to the recorded one."""

    def __init__(self, stepper: Stepper, pool: Pool, wanted: Call) -> None:
        self.stepper = stepper
        self.pool = pool
        self.wanted = wanted
        self.known = {e.name: list(self._decoded(e)) for e in stepper.machine.events}

    def nearest(self, state: State) -> Json:
        """The possible call that is most like the recorded one; None where none is found."""
        found = [
            (self._unlike(call), number, call, done.transition)
            for number, (call, done) in enumerate(self._possible(state, CALLS))
            if call[0] != TICK  # No row tells it.
        ]
        if not found:
            return None
        _, _, (event, args), transition = min(found, key=lambda each: each[:2])
        if event == self.wanted[0]:
            args, transition = self._closer(state, dict(args), transition)
        return {"event": event, "transition": transition, "args": args}

    def _closer(
        self, state: State, args: dict[str, Any], transition: str
    ) -> tuple[dict[str, Any], str]:
        """The arguments of a possible call with each number as near to the recorded one as a
        bisection finds; where what is possible has gaps, a nearer one may exist."""
        event = next(e for e in self.stepper.machine.events if e.name == self.wanted[0])
        for name, goal in self.wanted[1].items():
            if type(goal) is not int or type(args.get(name)) is not int:
                continue
            near, far = args[name], goal
            tried = far  # First the recorded number itself, then halves of what is between.
            while tried != near:
                call = (event.name, {**args, name: tried})
                done = [d for each in self._values(event, call) for d in self._done(state, each)]
                if done:
                    near, args, transition = tried, call[1], done[0].transition
                else:
                    far = tried
                tried = near + (far - near) // 2 if abs(far - near) > 1 else near
        return args, transition

    def _unlike(self, call: Call) -> float:
        event, args = call
        if event == self.wanted[0]:
            return distance(args, self.wanted[1])
        return ELSEWHERE - SequenceMatcher(None, event, self.wanted[0]).ratio()

    def path(self, state: State, most: int) -> tuple[Json, int]:
        """The shortest list of events after which the recorded one is possible, and how many
        states were looked at."""
        ways: dict[State, list[Json]] = {state: []}
        waiting = deque([state])
        looked = 0
        wanted = [each for each in self.known[self.wanted[0]] if each.call is self.wanted]
        while wanted and waiting and looked < most:
            looked += 1
            here = waiting.popleft()
            if looked > 1 and any(self._done(here, each) for each in wanted):
                return ways[here], looked
            for (event, args), done in self._possible(here, CALLS_ON_THE_WAY):
                if done.state not in ways:
                    ways[done.state] = [*ways[here], {"event": event, "args": args}]
                    waiting.append(done.state)
        return None, looked

    def _possible(self, state: State, calls: int) -> Iterator[tuple[Call, Done]]:
        """Calls that are possible in a state, and what they do."""
        for known in self.known.values():
            for each in known[:calls]:
                yield from ((each.call, done) for done in self._done(state, each))
        clock = clock_of(self.stepper.machine)
        if clock is not None:
            name = self.stepper.machine.name
            now = state[self.stepper.reference.layout[name][clock.name]]
            later = at_tick(self.stepper.reference.machines, name, state, now + 1)
            yield (TICK, {}), Done(later, None, TICK)

    def _decoded(self, event: ir.Event) -> Iterator[Decoded]:
        """The calls of an event whose arguments are values of their types."""
        params = dict(event.params)
        for call in itertools.islice(self._calls(event), CALLS):
            if call[1].keys() == params.keys():
                yield from self._values(event, call)

    def _values(self, event: ir.Event, call: Call) -> Iterator[Decoded]:
        """The call with its arguments as values; nothing where they are none of their types."""
        try:
            given = [
                (decode(call[1][name], kind, self.stepper.world), kind)
                for name, kind in event.params
            ]
        except ValueError:
            return
        if not any(bounds.breach(value, kind) for value, kind in given):
            yield Decoded(call, tuple(value for value, _ in given))

    def _calls(self, event: ir.Event) -> Iterator[Call]:
        """Calls of an event: as recorded here and around, and with other arguments."""
        calls = (self.wanted, *self.pool.calls)
        seen = [call for call in calls if call[0] == event.name]
        yield from seen
        like = seen[0][1] if seen else self.wanted[1]
        known = [args for _, args in seen]
        for args in self.pool.records(event.params, like):
            if args not in known:
                known.append(args)
                yield event.name, args

    def _done(self, state: State, each: Decoded) -> list[Done]:
        out: list[Done] = []
        for row in self.stepper.serving[each.call[0]]:
            names = [name for name, _ in row.function.params]
            given = dict(zip(names, each.values, strict=True))
            try:
                outcome = self.stepper.reference.step(state, row.name, given)
            except Inconclusive:
                continue  # It needs the elements of a sort, which nobody told.
            if isinstance(outcome, Done):
                out.append(outcome)
        return out
