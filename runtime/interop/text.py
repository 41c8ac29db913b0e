"""From `transitions`: an existing `transitions.Machine` as the text of a declaration.

Among the rows for one trigger and state, transitions takes the first whose conditions are true. So
a later row requires that the conditions of earlier ones are false. Rows that differ only in their
source become one transition.
"""

from __future__ import annotations

import dataclasses
import itertools
import linecache
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve

from ..instance import Machine
from .declaration_head import BOUNDS, HEAD, NAMES, RESERVED, imports_of
from .features import accepted_ends, calls, features, tags
from .flaws import MACHINE_CALLS, STATE_CALLS, flaws
from .names import IdentifierTable, identifier
from .nested import every_state, flattened, inside, is_nested
from .options import of_machine, of_state
from .reading import Reading
from .retries import retry_of
from .row_text import WIDTH, docstring, guarded_body, head, plain, said
from .timeouts import timeout_of
from .transition_rows import Input, TransitionRow, known

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Imported:
    """The text of a declaration, and what was found to be wrong in the machine.

    `events`: the event of each trigger. `inputs`: the parameters of each event. `states`: the
    member of `Place` of each state, by its name. `ways`: the transition that each row became, by
    the trigger, the state and the row's number among theirs; None of one that can never be taken.
    """

    text: str
    problems: tuple[str, ...]
    events: Mapping[str, str] = field(repr=False)
    inputs: Mapping[str, tuple[Input, ...]] = field(repr=False)
    states: Mapping[str, str] = field(repr=False)
    ways: Mapping[tuple[str, str, int], str | None] = field(repr=False)

    @property
    def sources(self) -> dict[str, Any]:
        """The source of each parameter: a condition, or the name of a condition or attribute."""
        return {each.name: each.source for inputs in self.inputs.values() for each in inputs}

    def load(self) -> type[Machine]:
        """The declaration as a class. What it does is found in its text, as if it were a file."""
        made: type[Machine] = executed(self.text)["Imported"]
        return made


def executed(text: str) -> dict[str, Any]:
    """The names that a module with this text defines; tracebacks and `inspect` find its source."""
    number = next(_numbers)
    file, names = f"<imported {number}>", {"__name__": f"lawful_imported_{number}"}
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    made: dict[str, Any] = dict(names)
    exec(compile(text, file, "exec"), made)
    weakref.finalize(made["Imported"], linecache.cache.pop, file, None)
    return made


def from_transitions(machine: Any, *, automatic: bool = False) -> Imported:
    """The declaration of a `transitions.Machine`, with its problems: mistakes in the machine
    (see `flaws`), and behaviour that the declaration does not contain (see `features`).

    The declaration keeps states, triggers, their rows in order, `ignore_invalid_triggers` and final
    states. A name that no declaration can have is replaced, and a problem says so. Conditions are
    read if the language can express them; otherwise they, and all callbacks, are opaque, identified
    by name. The automatic triggers `to_STATE` are left out unless `automatic` is true. Nested
    states become flat ones (see `nested`).

    Errors: TypeError for what is no such machine; ValueError for parallel states, and for a machine
    without an initial state.
    """
    if not hasattr(machine, "states") or not hasattr(machine, "events"):
        raise TypeError(f"from_transitions takes a machine of transitions, not {machine!r}")
    if is_nested(machine):
        machine = flattened(machine)
    if machine.initial not in machine.states:
        raise ValueError("it has no initial state, from which a declaration could begin")
    writer = DeclarationWriter(machine, automatic=automatic)
    problems = *writer.renamed(), *features(machine), *flaws(machine, writer.rows)
    return writer.imported(problems)


def _is_readable(reading: Reading) -> bool:
    """Whether the language has the expression, as a guard."""
    if RESERVED & reading.enums.keys():
        return False
    params = "".join(f", {name}: {kind.name}" for name, kind in reading.attributes.items())
    text = HEAD.format(
        names=", ".join(NAMES),
        imports=imports_of(reading.enums),
        states="    A = 'a'",
        doc="One guard.",
        bounds="",
        initial="A",
        timers="",
    )
    text += f"\n    @transition()\n    def read(self{params}) -> None:\n"
    text += f"        require({reading.text({name: name for name in reading.attributes})})\n"
    try:
        resolve(executed(text)["Imported"])
    except (DeclarationError, SyntaxError):
        return False
    return True


class DeclarationWriter:
    """The text of one machine. `whole`: conditions that can be read are, timeouts are timers, and
    errors are properties; else all of these stay with transitions."""

    def __init__(self, machine: Any, *, automatic: bool, whole: bool = True) -> None:
        self.machine = machine
        self.known = known(machine, _is_readable if whole else lambda found: False)
        self.rows = self.known.rows
        self.automatic = automatic
        members = IdentifierTable(["mro"])
        self.states = {n: members.of(n, identifier(n).upper()) for n in machine.states}
        self.names = IdentifierTable(RESERVED)
        triggers = dict.fromkeys(row.trigger for row in self.rows)
        self.events = {trigger: self.names.of(trigger, trigger) for trigger in triggers}
        self.ways: dict[tuple[str, str, int], str | None] = {}
        self.inputs: dict[str, tuple[Input, ...]] = {}
        self.every = every_state(machine)
        found = {n: timeout_of(machine, state) for n, state in self.every.items() if whole}
        self.timeouts = {name: each for name, each in found.items() if each is not None}
        self.ends = accepted_ends(machine) if whole else {}
        self.timers = {n: self.names.of(("timer", n), f"timer_of_{n}") for n in self.timeouts}
        limits = {n: retry_of(machine, n, state) for n, state in self.every.items() if whole}
        self.retries = {name: each for name, each in limits.items() if each is not None}
        self.tries = {n: self.names.of(("tries", n), f"tries_of_{n}") for n in self.retries}
        self.written = "".join(self._event(trigger) for trigger in triggers)
        self.written += "".join(self._timeout(name) for name in self.timeouts)

    def imported(self, problems: tuple[str, ...]) -> Imported:
        """All of it."""
        body = self.written + "".join(self._ignored()) + self._final() + self._scope()
        enums = {name: of for each in self.known.readings for name, of in each.enums.items()}
        timers = "".join(f"    {timer}: Timer = Timer()\n" for timer in self.timers.values())
        timers += "".join(
            f"    {tries}: Annotated[int, Interval(ge=0, le={self.retries[n].most + 1})] = 0\n"
            for n, tries in self.tries.items()
        )
        text = timers + body
        used = [n for n in NAMES if f"{n}(" in text or f"@{n}\n" in text or n in "Machine State"]
        top = HEAD.format(
            bounds=BOUNDS if self.tries else "",
            names=", ".join(used),
            imports=imports_of(enums),
            doc=docstring(list(self._doc())),
            initial=self.states[self.machine.initial or next(iter(self.states))],
            states="\n".join(f"    {m} = {name!r}" for name, m in self.states.items()),
            timers=timers,
        )
        return Imported(top + body, problems, self.events, self.inputs, self.states, self.ways)

    def renamed(self) -> Iterator[str]:
        """Triggers that have another name here."""
        for trigger, event in self.events.items():
            if trigger != event:
                yield f"{trigger} is called {event} here: no event can have its name"

    def _doc(self) -> Iterator[str]:
        """The class docstring: it names what the declaration does not contain."""
        machine, kind = self.machine, type(self.machine).__name__
        yield "The triggers of a transitions.Machine as events."
        rows: list[tuple[str, Sequence[Any]]] = [
            (f"{kind} of {identifier(name)}", getattr(state, kind))
            for name, state in self.every.items()
            for kind in STATE_CALLS
        ]
        for name, state in self.every.items():
            own = identifier(name)
            rows += [(f"{kind} of {own}", funcs) for kind, funcs in calls(state).items()]
            rows.append((f"tags of {own}", tags(state)))
            rows += [(f"{option} of {own}", [value]) for option, value in of_state(state)]
        rows += [(kind, getattr(machine, kind, [])) for kind in MACHINE_CALLS]
        rows += [(option, [value.removesuffix(": ")]) for option, value in of_machine(machine)]
        for where, funcs in rows:
            if funcs:
                yield f"{where}: {', '.join(plain(func) for func in funcs)}"
        if kind != "Machine":
            yield f"Its class is {kind}."
        if machine.auto_transitions and not self.automatic:
            yield "Its automatic triggers (to_STATE) are left out."
        if machine.has_queue:
            yield "Triggers that callbacks call are queued."

    def _event(self, trigger: str) -> str:
        """The transition that a trigger is; an event and several where its rows differ."""
        rows = [row for row in self.rows if row.trigger == trigger]
        event = self.events[trigger]
        groups = self._alike(rows)
        if not groups:
            del self.events[trigger]
            return ""
        read = {id(row) for ((_, first, earlier), *_) in groups for row in (first, *earlier)}
        asked = (clause for row in rows if id(row) in read for clause in row.clauses)
        inputs = {each.name: each for clause in asked for each in clause.inputs}
        self.inputs[event] = tuple(inputs.values())
        params = "".join(f", {each.name}: {each.type}" for each in inputs.values())
        pieces = [
            (alike, too_often) for alike in groups for too_often in self._ends_of(alike[0][1])
        ]
        text = "" if len(pieces) < 2 else f"\n    @event\n{head(event, params)} ...\n"
        for count, (alike, too_often) in enumerate(pieces, 1):
            name = event
            if len(pieces) > 1:
                name = self.names.of((trigger, count), f"{event.rstrip('_')}_{count}")
            for number, row, _ in () if too_often else alike:
                self.ways[trigger, row.source, number] = name
            serves = "" if name == event else f"event={event!r}"
            own = [row for _, row, _ in alike]
            fails = self._failing(own[0].source) if too_often else own[0]
            led = [dataclasses.replace(own[0], dest=fails.dest)] if too_often else own
            text += self._transition(serves, led)
            text += f"{head(name, params)}\n{guarded_body(said(own[0]), own[0], alike[0][2])}"
            text += self._limited(own[0], too_often)
            text += self._timing([fails] if too_often else own)
        return text

    def _ends_of(self, row: TransitionRow) -> tuple[bool, ...]:
        """Whether a transition of a row fails because its state was entered too often: of a row
        that enters such a state from itself one does, and one does not."""
        return (False, True) if self._retries(row) else (False,)

    def _retries(self, row: TransitionRow) -> bool:
        return row.dest == row.source and row.source in self.retries

    def _failing(self, name: str) -> TransitionRow:
        """The row that is taken where a state was entered too often."""
        both = self.retries[name].trigger, name
        return next(row for row in self.rows if (row.trigger, row.source) == both)

    def _limited(self, row: TransitionRow, too_often: bool) -> str:
        """The guard of a row that enters a state from itself."""
        if not self._retries(row):
            return ""
        test = f"self.{self.tries[row.source]} {'>' if too_often else '<='}"
        why = "it was entered too often" if too_often else "it may be entered again"
        return f'        require({test} {self.retries[row.source].most}, "{why}")\n'

    def _timing(self, rows: Sequence[TransitionRow], fired: str = "") -> str:
        """The lines of a transition that stop the timers of states left, but for the one that has
        fired, and start those of states entered."""
        entered = self._timed(rows[0].entered)
        left = dict.fromkeys(name for row in rows for name in self._timed(row.left))
        text = "".join(
            f"        self.{self.timers[n]}.stop()\n" for n in left if n not in {fired, *entered}
        )
        for name in rows[0].entered:
            if name in self.tries:
                change = "+= 1" if rows[0].source == name else "= 1"
                text += f"        self.{self.tries[name]} {change}\n"
        return text + self._started(entered)

    def _timed(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in self.timers)

    def _started(self, entered: Sequence[str]) -> str:
        return "".join(
            f"        self.{self.timers[name]}.start({self.timeouts[name].seconds!r})\n"
            for name in self._timed(entered)
        )

    def _timeout(self, name: str) -> str:
        """The end of a timeout: for each state in which it may end the rows that are tried, then
        what is left if none is taken."""
        places = inside(self.machine, name)
        tried = [(place, *each) for place in places for each in self._tried(name, place)]
        event = self.names.of(("timeout", name), f"timeout_of_{name}")
        every = [row for _, row, _ in tried if row is not None]
        inputs = {i.name: i for row in every for clause in row.clauses for i in clause.inputs}
        self.inputs[event] = tuple(inputs.values())
        params = "".join(f", {each.name}: {each.type}" for each in inputs.values())
        text = "" if len(tried) < 2 else f"\n    @event\n{head(event, params)} ...\n"
        funcs = calls(self.every[name]).get("on_timeout", [])
        called = f"on_timeout: {', '.join(map(plain, funcs)) or 'nothing'}"
        for count, (place, row, earlier) in enumerate(tried, 1):
            if row is not None and row.dest not in {None, *self.states}:
                continue
            where = [f"source=Place.{self.states[place]}", f"timer={self.timers[name]!r}"]
            own = event
            if len(tried) > 1:
                own = self.names.of(("timeout", name, count), f"{event}_{count}")
                where.insert(0, f"event={event!r}")
            if row is not None and row.dest is not None:
                where.append(f"target=Place.{self.states[row.dest]}")
            doc = f"{called}; {said(row)}" if row else f"{called}."
            text += f"\n    @transition({', '.join(where)})\n{head(own, params)}\n"
            text += guarded_body(doc, row, earlier)
            text += self._timing([row], fired=name) if row else ""
        return text

    def _tried(
        self, name: str, place: str
    ) -> Iterator[tuple[TransitionRow | None, list[TransitionRow]]]:
        """The rows that the end of a timeout tries, each with those before it, up to one that is
        taken in any case; None behind the others."""
        trigger, earlier = self.timeouts[name].trigger, list[TransitionRow]()
        for row in self.rows:
            if (row.trigger, row.source) == (trigger, place):
                yield row, list(earlier)
                if not row.clauses:
                    return
                earlier.append(row)
        yield None, earlier

    def _alike(
        self, rows: Sequence[TransitionRow]
    ) -> list[list[tuple[int, TransitionRow, list[TransitionRow]]]]:
        """The rows that are transitions, with their numbers and those before them: together those
        that differ in their source alone."""
        found: dict[str, list[tuple[int, TransitionRow, list[TransitionRow]]]] = {}
        live = list(self._live(rows))
        others = [each for each in live if each[1].dest != each[1].source]
        to_others = {self._key(each, each[1].dest) for each in others}
        for each in live:
            row, key = each[1], self._key(each, each[1].dest)
            timed = self._timed(row.entered)
            alone = timed or row.source in self.retries
            if row.dest == row.source and key not in to_others and not alone:
                key = self._key(each, "=")
            found.setdefault(key, []).append(each)
        return list(found.values())

    def _key(self, live: tuple[int, TransitionRow, list[TransitionRow]], dest: str | None) -> str:
        """Alike of rows that are one transition."""
        _, row, earlier = live
        timed, before = self._timed(row.entered), [each.clauses for each in earlier]
        own = self._retries(row)
        return repr((dest, row.clauses, row.calls, row.more, timed, own, before))

    def _live(
        self, rows: Sequence[TransitionRow]
    ) -> Iterator[tuple[int, TransitionRow, list[TransitionRow]]]:
        by_source: dict[str, list[TransitionRow]] = {}
        for row in rows:
            earlier = by_source.setdefault(row.source, [])
            number = len(earlier)
            self.ways[row.trigger, row.source, number] = None
            live = all(each.clauses for each in earlier) and (self.automatic or not row.automatic)
            if live and row.source in self.states and row.dest in {None, *self.states}:
                yield number, row, list(earlier)
            earlier.append(row)

    def _transition(self, serves: str, rows: Sequence[TransitionRow]) -> str:
        """The decorator; without a source where every state is one."""
        names, dest = list(dict.fromkeys(row.source for row in rows)), rows[0].dest
        same = all(row.dest == row.source for row in rows) and len(rows) > 1
        given = [serves] if serves else []
        if len(names) < len(self.states):
            given.append(f"source={self._places(names)}")
        if dest is not None and not same:
            given.append(f"target=Place.{self.states[dest]}")
        return f"\n    @transition({', '.join(given)})\n"

    def _places(self, names: Sequence[str]) -> str:
        """States as a source: several in lines of their own where they are too many for one."""
        each = [f"Place.{self.states[name]}" for name in names]
        if len(each) == 1:
            return each[0]
        line = ", ".join(each)
        lines = "".join(f"            {place},\n" for place in each)
        return f"({line})" if len(line) < WIDTH - 24 else f"(\n{lines}        )"

    def _ignored(self) -> Iterator[str]:
        """The `ignore` lines: events that have no effect in states that ignore invalid triggers."""
        quiet = [name for name in self.states if ignores(self.machine, name)]
        for trigger, event in self.events.items():
            rows = {row.source for row in self.rows if row.trigger == trigger}
            sources = [name for name in quiet if name not in rows]
            if sources:
                name = self.names.of(("ignored", trigger), f"ignored_{event}")
                yield f"\n    {name} = ignore(\n        {event!r},\n"
                yield f"        source={self._places(sources)},\n"
                yield '        because="ignore_invalid_triggers",\n    )\n'

    def _final(self) -> str:
        """The states at which a run may end, and those that it must not reach."""
        every = self.machine.states.items()
        final = [n for n, state in every if getattr(state, "final", False) or self.ends.get(n)]
        wrong = [name for name, accepted in self.ends.items() if not accepted]
        text = ""
        if final:
            places = " or ".join(f"self.state == Place.{self.states[name]}" for name in final)
            name = self.names.of("final", "final")
            text += f"\n    @terminal\n    def {name}(self) -> bool:\n        return {places}\n"
        if wrong:
            places = " and ".join(f"self.state != Place.{self.states[name]}" for name in wrong)
            name = self.names.of("no_error", "no_error")
            text += f"\n    @invariant\n    def {name}(self) -> bool:\n        return {places}\n"
        return text

    def _scope(self) -> str:
        """Values for what conditions read: those that they compare with, and their neighbours."""
        rows: list[str] = []
        for each in {i.name: i for of in self.inputs.values() for i in of}.values():
            of = [r.numbers for r in self.known.readings if each.source in r.attributes]
            numbers = [number for some in of for number in some] or [0]
            if each.type == "int":
                values = f"range({min(numbers) - 1}, {max(numbers) + 2})"
                rows.append(f"        {each.name!r}: {values},\n")
        return f"\n    scope = Scope({{\n{''.join(rows)}    }})\n" if rows else ""


def ignores(machine: Any, state: str) -> bool:
    """Whether a trigger without a row for this state is ignored there."""
    own = machine.states[state].ignore_invalid_triggers
    return bool(machine.ignore_invalid_triggers if own is None else own)
