"""One machine in every engine: the same states, events and arguments, the same outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from lawful.checks.conform.exact_types import has_exact_type, state_has_exact_types
from lawful.checks.conform.instances import InstanceDriver, Outcome
from lawful.checks.conform.oracle import EntryPoint, answer_of
from lawful.checks.reference import Done, Reference, Refusal
from lawful.checks.reference.missing_values import NoValue
from lawful.checks.reference.states import PartState
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.named_elements import explored, named_elements
from lawful.spec.analysis.partiality import always_defined
from lawful.spec.analysis.walk import everything
from lawful.spec.codec import as_json
from lawful.spec.lower.steps import with_all_steps
from lawful.spec.resolve import Resolved, resolve
from lawful.spec.values import bounds
from lawful.spec.values.bounds import breach
from lawful.spec.values.time import is_tick
from lawful.spec.values.world import FrozenMap, decode, encode
from tests.agree.careless import forced, loosened, spoil
from tests.agree.hits import Hits
from tests.agree.judging import BEYOND_PYTHON, properties
from tests.agree.kinds import SIZES, Some
from tests.checks.reference.twin import Twin

# What a round of a loop may end with.
STOPPED = {"refused", "undefined", "asserts", "ambiguous", *BEYOND_PYTHON}
STATES = 5  # Random ones for each machine, and as many that are reached.


class Engines:
    """All engines of one machine; `differences` are what they disagreed about."""

    def __init__(self, cls: Any, rng: Random, hits: Hits) -> None:
        self.rng = rng
        self.hits = hits
        self.calls = 0
        self.resolved: Resolved = resolve(cls)
        self.machine = with_all_steps(self.resolved.machine)
        self.parts = {m.name: m for m in self.machine.parts}
        self.reference = Reference(self.machine, self.resolved.world)
        named, world = named_elements(self.machine), self.resolved.world
        known = world.elements((name, explored(name, SIZES[name], named)) for name in world.sorts)
        hits.add(
            "total", "machines that name an element", len(known.get("Node", ())) > SIZES["Node"]
        )
        self.reference.domains = bounds.Values(world, SIZES, known).of
        self.twin = Twin(cls, SIZES, self.machine)
        universe = {world.sorts[name]: row for name, row in known.items()}
        self.running = InstanceDriver(cls, self.resolved, self.machine, universe)
        self.some = Some(rng, world, known)
        try:
            self.declared: Any = self.reference.initial({})
        except NoValue:  # What a part assumes is false of how it is declared.
            self.declared = None
        self.differences: list[str] = []
        whole = (self.machine, *self.machine.parts)
        self.ghosts = any(v.ghost for m in whole for v in m.variables)
        self.loose = _order_shows(self.machine)
        self.strict = _asks_all(self.machine)

    # States.

    def state(self, name: str = "", now: int | None = None) -> Any:
        """Any state in its bounds; `now` is the tick of all its clocks."""
        m = self.parts.get(name, self.machine)
        now = self.rng.randint(0, 3) if now is None else now
        rows = [self._value(v.type, now) for v in m.variables]
        for i, v in enumerate(m.variables):
            if isinstance(v.type, t.Part) and not name:
                rows[i] = self._as_declared(v.type.machine, rows[i], i)
        return PartState([*rows, *(self.some.of(p.type) for p in m.parameters)])

    def _as_declared(self, name: str, part: Any, at: int) -> Any:
        """A part that is always there, with the parameters that its declaration gives it."""
        count = len(self.parts[name].variables)
        return PartState([*part[:count], *self.declared[at][count:]])

    def _value(self, kind: t.Type, now: int) -> Any:
        some = self.some
        match kind:
            case t.Clock():
                return now
            case t.Part(machine=name):
                return self.state(name, now)
            case t.Map(key=key, value=t.Part(machine=name), total=total):
                keys = some.every(key) if total else [some.of(key) for _ in range(some.few())]
                return FrozenMap({k: self.state(name, now) for k in keys})
            case _:
                return some.of(kind)

    def start(self) -> Any:
        """The state that the defaults, or an `@initial`, give; None where it is none."""
        state = self.declared
        if not all(self._assumed(p, state) for p in self.machine.of_kind("assume")):
            return None
        if not self.machine.initials:
            ok = self.reference.breach(self.machine.name, state) is None
            return state if ok else None
        function = self.rng.choice(self.machine.initials)
        args = self.args(function.params)
        named = dict(zip((n for n, _ in function.params), args, strict=True))
        outcome = self.reference.start(state, function, named)
        self.starts(state, function, args, outcome)
        return outcome.state if isinstance(outcome, Done) else None

    def _assumed(self, p: ir.Property, state: Any) -> bool:
        try:
            return bool(self.reference.call_named(p.function, state, {}))
        except NoValue:
            return False

    def starts(
        self, state: Any, function: ir.Function, args: tuple[Any, ...], outcome: Any
    ) -> None:
        """The runtime's `@initial` does the same, and Python's."""
        what, mine = f"start {function.name}{args}", _kind_of(outcome)
        done = (mine, outcome.state, None) if mine == "done" else (mine, None, None)
        self.python(what, done, self.twin.start(state, function, args), t.NOTHING)
        after = self.running.without_ghosts(done[1])
        self.judge(what, (mine, after, None), self.running.start({}, function, args), "runtime")

    def args(self, params: tuple[tuple[str, t.Type], ...]) -> tuple[Any, ...]:
        """Arguments in their bounds."""
        return tuple(self.some.of(kind) for _, kind in params)

    def states(self) -> Iterator[Any]:
        """Reached ones and any others."""
        now = self.start()
        for _ in range(STATES):
            yield self.state()
            if now is None:
                continue
            yield now
            row = self.rng.choice(self.machine.transitions)
            named = {n: self.some.of(kind) for n, kind in row.function.params}
            outcome = self.reference.step(now, row.name, named)
            now = outcome.state if isinstance(outcome, Done) else now

    # Comparison.

    def judge(self, what: str, mine: Any, theirs: Any, engine: str) -> bool:
        """Note a difference; whether there is none."""
        self.hits.add("total", "comparisons")
        self.hits.add("total", f"comparisons by {engine}")
        if mine == theirs:
            return True
        self.differences.append(f"{engine}: {what}: {theirs}, but the reference: {mine}")
        return False

    def run(self) -> list[str]:
        """Compare everything; the differences."""
        for state in self.states():
            self.hits.add("total", "states")
            properties(self, state)
            for row in self.machine.transitions:
                for _ in range(1 if not row.function.params else 2):
                    args = self.args(row.function.params)
                    if self.machine.is_of_ignores(row):
                        self.unanswered(state, row, args)
                    else:
                        self.transition(state, row, args)
            for event in self.machine.events:
                self.event(state, event, self.args(event.params))
            if self.differences:
                break
        return self.differences

    def expected(self, state: Any, row: ir.Transition, args: tuple[Any, ...]) -> Outcome:
        """What the reference says of one transition."""
        named = dict(zip((n for n, _ in row.function.params), args, strict=True))
        outcome = self.reference.step(state, row.name, named)
        if isinstance(outcome, Done):
            return "done", outcome.state, outcome.output
        return _kind_of(outcome), None, None

    def transition(self, state: Any, row: ir.Transition, args: tuple[Any, ...]) -> None:
        """One transition in all engines."""
        what = f"{row.name}{args} in {self.shown(state)}"
        mine = self.expected(state, row, args)
        self.hits.add("outcome", mine[0])
        if mine[0] == "done":
            whole = state_has_exact_types(mine[1], self.machine, self.parts)
            self.judge(
                what, (True, True), (whole, has_exact_type(mine[2], row.function.output)), "classes"
            )
        output = row.function.output
        self.python(what, mine, self.twin.step(state, row.name, args), output)
        if is_tick(row):
            self.tick(what, state, mine)
        elif row.name != row.event or self.simple(self.machine.event(row.event)):
            self.runtime(what, state, (row.name, args, row.function), mine)

    def tick(self, what: str, state: Any, mine: Outcome) -> None:
        """Time passes at run time. There nothing keeps it back, be it ever so urgent."""
        if mine[0] == "done":
            later = self.running.later(self.running.instance(state))
            self.judge(what, self.running.without_ghosts(mine[1]), later, "runtime")

    def simple(self, event: ir.Event) -> bool:
        """Whether the event is its one transition."""
        others = [row for row in self.machine.ignores if row.event == event.name]
        return len(self.machine.serving(event.name)) == 1 and not others

    def python(self, what: str, mine: Outcome, theirs: Outcome, output: t.Type) -> None:
        """Python's own outcome, but for what the language says otherwise."""
        kinds = {mine[0], theirs[0]}
        if mine[0] != theirs[0]:
            # Python stops at the first element that decides, the language asks all of them.
            if mine[0] == "undefined" and self.strict:
                self.hits.add("kept aside", "every element is asked")
                return
            # A loop without an order may be stopped by any of its rounds.
            if self.loose and kinds <= STOPPED:
                self.hits.add("kept aside", "any round stops")
                return
            if theirs[0] in BEYOND_PYTHON:
                self.hits.add("kept aside", BEYOND_PYTHON[theirs[0]])
                return
        same = theirs[0] != "done" or (
            state_has_exact_types(theirs[1], self.machine, self.parts)
            and has_exact_type(theirs[2], output)
        )
        self.judge(what, (*mine, True), (theirs[0], theirs[1], theirs[2], same), "Python")

    def runtime(
        self, what: str, state: Any, call: tuple[str, tuple[Any, ...], ir.Function], mine: Outcome
    ) -> None:
        """The compiled step, called by someone who keeps all that was given and got."""
        name, args, function = call
        running = self.running
        entry = running.instance(state)
        self.calls += 1
        viewed = self.viewed() if self.calls % 2 else []  # What somebody views is copied.
        views = {n: getattr(entry, n) for n in viewed}
        kept = {n: repr(view) for n, view in views.items()}
        kinds = [kind for _, kind in function.params]
        loose = tuple(loosened(a, kind) for a, kind in zip(args, kinds, strict=True))
        allowed = entry.lawful.may(name, *loose)
        theirs = running.take(entry, name, loose)
        for each in loose:
            spoil(each)
        if theirs[0] == "done":
            after = running.state(entry)
            self.judge(f"{what}, arguments spoiled", theirs[1], after, "runtime")
            exact = state_has_exact_types(after, self.machine, self.parts, ghosts=False)
            self.judge(what, True, exact and has_exact_type(theirs[2], function.output), "runtime")
        if self.ghosts and mine[0] in ("bounds", "undefined") and theirs[0] != mine[0]:
            self.hits.add("kept aside", "a ghost is erased")
            return
        after = running.without_ghosts(mine[1] or state)  # What stops changes nothing.
        self.judge(what, (mine[0], after, mine[2]), theirs, "runtime")
        self.judge(f"may {what}", mine[0] != "refused", allowed, "runtime")
        for view in (*views.values(), *(getattr(entry, n) for n in views), theirs[2]):
            forced(view)
        if theirs[0] == "done":
            self.judge(f"{what}, views forced", theirs[1], running.state(entry), "runtime")
        now = {n: repr(view) for n, view in views.items()}
        self.judge(f"views kept, {what}", kept, now, "runtime")

    def viewed(self) -> list[str]:
        """The variables that are read as views of containers."""
        return [
            v.name
            for v in self.machine.variables
            if not v.ghost and isinstance(v.type, t.Set | t.Seq | t.Map | t.Bag)
            if t.part_of(v.type) is None
        ]

    # Events.

    def unanswered(self, state: Any, row: ir.Transition, args: tuple[Any, ...]) -> None:
        """The step of an event's `ignore`s: undefined where the event is, by none of its
        transitions."""
        event = self.machine.event(row.event)
        tried = [self.expected(state, each, args)[0] for each in self.machine.serving(event.name)]
        alone = all(kind == "refused" for kind in tried)
        undefined = alone and self.chosen(state, event, args)[0] == "undefined"
        what = f"the ignores of {event.name}{args} in {self.shown(state)}"
        mine = self.expected(state, row, args)[0]
        self.hits.add("outcome", f"{mine} by ignores")
        self.judge(what, mine, "undefined" if undefined else "refused", "event")
        self.event(state, event, args)

    def event(self, state: Any, event: ir.Event, args: tuple[Any, ...]) -> None:
        """An event of several transitions, or one that may be ignored, at run time."""
        if event.choice or self.simple(event):
            return
        mine = self.chosen(state, event, args)
        self.hits.add("outcome", mine[0])
        function = ir.Function(event.place, event.name, event.params, event.output, ())
        what = f"event {event.name}{args} in {self.shown(state)}"
        self.runtime(what, state, (event.name, args, function), mine)

    def chosen(self, state: Any, event: ir.Event, args: tuple[Any, ...]) -> Outcome:
        """The one enabled transition, else what is ignored, else a refusal."""
        rows, tried = self.machine.serving(event.name), list[Any]()
        for row in rows:
            named = dict(zip((n for n, _ in row.function.params), args, strict=True))
            tried.append(self.reference.step(state, row.name, named))
        answer = answer_of(self.reference, EntryPoint(event, rows, False), state, args, tried)
        return answer.name or answer.kind, answer.state, answer.output

    def shown(self, state: Any) -> str:
        """A state for people."""
        names = [v.name for v in self.machine.variables] + [p.name for p in self.machine.parameters]
        return ", ".join(f"{n}={v!r}" for n, v in zip(names, state, strict=True))

    # JSON.

    def loads(self) -> ir.Machine:
        """The machine after a trip through JSON: it, and values of its types, are as before."""
        machine = self.resolved.machine  # Its step `tick` is none of the declaration.
        text = json.dumps(as_json.to_json(machine))
        loaded = as_json.from_json(json.loads(text))
        self.judge("IR through JSON", machine, loaded, "JSON")
        mine, theirs = as_json.fingerprints(machine), as_json.fingerprints(loaded)
        self.judge("fingerprints", mine, theirs, "JSON")
        for kind in {v.type: None for v in self.machine.variables}:
            if any(t.contains(kind, each) for each in (t.Part, t.Timer, t.Clock)):
                continue
            value = self.some.of(kind)
            if not t.contains(kind, t.Opaque):
                read = decode(
                    json.loads(json.dumps(encode(value, kind))), kind, self.resolved.world
                )
                self.judge(
                    f"a {kind} through JSON",
                    (value, True),
                    (read, has_exact_type(read, kind)),
                    "JSON",
                )
            self.judge(f"bounds of {kind}", None, breach(value, kind), "JSON")
        return loaded


def _kind_of(outcome: Any) -> str:
    if isinstance(outcome, Done):
        return "done"
    return "refused" if isinstance(outcome, Refusal) else str(outcome.name)


def _order_shows(machine: ir.Machine) -> bool:
    """Whether a loop goes through what has no order: which round stops it is not Python's."""
    loops = (n for n in everything((machine,)) if isinstance(n, ir.Loop))
    return any(not t.ordered(loop.over.type) for loop in loops)


def _asks_all(machine: ir.Machine) -> bool:
    """Whether a quantifier over what has no order may be undefined for an element."""
    for node in everything((machine,)):
        if isinstance(node, ir.Comp) and node.kind in ("all", "any"):
            unordered = not all(t.ordered(c.over.type) for c in node.clauses)
            inside = (
                node.element,
                *(c for clause in node.clauses for c in clause.conditions),
                *(clause.over for clause in node.clauses[1:]),
            )
            if unordered and not always_defined(*inside):
                return True
    return False
