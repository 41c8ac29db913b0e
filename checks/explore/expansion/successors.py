"""The generated module of a machine within its scope: `expand`, which makes all steps of a state.

`expand(w, store, at, out, info, room)` reads the packed state whose words begin at `store[at]`,
judges it, takes every step that is admitted in it, and writes the packed states that it leads to
into `out`, with the numbers of their rules behind them. It gives their number, or -1 where `out`
has no room for more. What else it found is in `info`, cleared before; `Notes` says where.

`labelled`, it gives in place of the rule's number that plus `RULES` times the number of the
arguments. Where the cell `following` is not 0, it also gives -1 minus that for a step that is cut,
with no state, and notes the values of liveness properties.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from typing import NamedTuple

from lawful.spec import ir
from lawful.spec.analysis.headers import own_source
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Flat, Rule
from lawful.spec.values.world import World
from lawful.spec.verdicts import LIVENESS

from ...reference.properties import PropertyOf
from ..codegen.body import Body
from ..codegen.codes import code
from ..codegen.functions import plain, states
from ..codegen.loops import long
from ..codegen.module import Module
from ..codegen.prelude import ESCAPE
from ..codegen.text import BOUNDS, BROKEN, LONG, REFUSED, STATUS, Program, Value
from ..layout.defaults import Defaulted
from ..layout.entries import Entries
from ..layout.forms import FORM, Form, tight
from ..layout.layouts import (
    NotGenerated,
    card,
    elements,
    rounds,
    width,
)
from ..layout.packing import Slot, slots
from ..space import Space
from .arguments import argument
from .footprint import Span, changes, meets
from .notes import Notes
from .packed_state import PackedState, written
from .properties import Judging, params
from .variable_bounds import bounds_of

CUT = 7  # The status of a step that leaves the scope.
LONG_TESTS = 200  # Characters of tests of bounds that are written once for all steps.
MOST_PAIRS = 1 << 16  # Arguments of an event that several transitions serve.
RULES = 1 << 16  # More than a machine has rules.
MOST_LABELS = 1 << 40  # Of a rule with its arguments.


class Text(NamedTuple):
    """The steps, of how many words a state is, of how many cells `info`, how many of those are
    added up, which cell has the rounds that are left, and whether rules come with arguments."""

    steps: str
    words: int
    notes: int
    noted: int = 0
    rounds: int = 0
    labelled: bool = False


class Stepping:
    """Writes the module; `source` is its text, `expand` the name of its entry."""

    def __init__(
        self, flat: Flat, world: World, space: Space, labelled: bool = False, form: Form = FORM
    ) -> None:
        self.flat = flat
        self.space = space
        self.labelled = labelled
        if len(flat.rules) >= RULES:
            raise NotGenerated("so many transitions")
        self.machine = flat.machine
        self.codec = Defaulted(flat, world, space.reference, form)
        self.whole = self.codec.machine(self.machine.name)
        self.size = width(self.whole)
        self.slots: tuple[Slot, ...] = slots(self.whole)
        self.words = self.slots[-1].word + 1 if self.slots else 1
        self.program = Program(self.codec, self.size + 1, space.preparation.look, self.size)
        self.original = self.program.frame(self.size)
        self.state = PackedState(self.program, self.slots, self.original)
        self.settles: dict[tuple[Span, ...], str] = {}
        self.tests: dict[str, str] = {}
        self.module = Module(self.codec, space.reference, self.program)
        self.judged = [*space.invariants, *space.step_properties, *space.partial]
        self.seen = [(j, self._values(j)) for j in space.reachables]
        self.marks = [(j, self._values(j)) for j in space.of_kind("recoverable")]
        self.lives = [
            (j, self._values(j))
            for j in (space.of_kind(*LIVENESS) if labelled else ())
            if all(hop.key is None for hop in j.path)
        ]
        self.notes = self._notes()
        self.following = self.program.frame(1)
        self.judging = Judging(self.module, self.notes, self.original)
        self._write()

    def _notes(self) -> Notes:
        lives = sum(count for _, count in self.lives)
        if lives >= LONG:
            raise NotGenerated("liveness properties of so many values")
        return Notes(
            len(self.flat.rules),
            self._cuts(),
            tuple(j.name for j in self.judged),
            sum(count for _, count in self.seen),
            sum(count for _, count in self.marks),
            lives,
        )

    def _cuts(self) -> tuple[str, ...]:
        names = [row.name for row in bounds_of(self.program, self.codec, self.whole)]
        names += [c.name for c in self.machine.of_kind("constraint")]
        return tuple(dict.fromkeys(names))

    def _values(self, j: PropertyOf) -> int:
        """How many values the parameters of a property have."""
        count = 1
        for plan, (_, declared) in zip(j.rule.plans, params(j.row), strict=True):
            count *= elements(self.codec.layout(declared, plan.type))
        return count

    @property
    def text(self) -> Text:
        """The text from which machine code is made."""
        sizes = (self.words, self.notes.size, self.notes["mark"], self.program.rounds)
        return Text(self.program.source, *sizes, self.labelled)

    # The module.

    def _write(self) -> None:
        f = Body(self.program, module=self.module, machine=self.machine, me="0")
        f.lines.append("def expand(w, store, at, out, info, room):")
        self.state.unpack(f)
        f.line(f"w[{self.size}] = 0")
        f.line(f"w[{self.program.written}] = 0")
        f.line(f"copy(w, {self.original}, 0, {self.size})")
        for number, j in enumerate(self.judged):
            if j.kind == "invariant":
                f.line(f"{self.judging.judge(j, number)}(w, info)")
        self.judging.witnesses(f, [*self.seen, *self.marks])
        f.line("n = 0")
        shared = self._shared()
        for number, rule in enumerate(self.flat.rules):
            taker = self._rule(number, rule, shared.get(number))
            f.line(f"n = {taker}(w, out, info, n, room)")
            f.line("if n < 0: return n")
        self._rest(f)
        if self.lives:  # Last, so that the rounds of their loops are missed by no step.
            with f.block(f"if w[{self.following}] != 0:"):
                self.judging.lives(f, self.lives)
        f.line("return n")
        self.program.add(f.lines)

    def _rest(self, f: Body) -> None:
        """A state without a step is a deadlock, unless it may rest."""
        if self.machine.deadlock_ok:
            return
        with f.block(f"if info[{self.notes['admitted']}] == 0:"):
            f.line("rests = 0")
            for j in self.space.of_kind("terminal"):
                f.line("true = 1")
                self.judging.each_false(f, j, "true = 0")
                f.line("if true: rests = 1")
            f.line(f"if not rests: info[{self.notes['deadlock']}] = 1")

    # Rules.

    def _shared(self) -> dict[int, tuple[int, int]]:
        """For rules of an event that several serve: where the arguments taken are noted, and how
        many cells the first of them has to clear."""
        found: dict[int, tuple[int, int]] = {}
        for event in self.machine.events:
            serving = self.machine.serving(event.name)
            numbers = [i for i, r in enumerate(self.space.rules) if r[1] in serving]
            if len(numbers) < 2 or event.choice:
                continue
            count = 1
            for plan, (_, declared) in zip(
                self.flat.rules[numbers[0]].plans, event.params, strict=True
            ):
                count *= elements(self.codec.layout(declared, plan.type))
            if count > MOST_PAIRS:
                raise NotGenerated("an event of several transitions with so many arguments")
            at = self.program.frame(count)
            found.update((n, (at, count if n == numbers[0] else 0)) for n in numbers)
        return found

    def _rule(self, number: int, rule: Rule, shared: tuple[int, int] | None) -> str:
        """A function that takes one transition for all its arguments."""
        row = self.machine.transition(rule.name)
        spans = changes(self.module, self.machine, row)
        settle = self._settle(spans)
        name = f"rule_{plain(rule.name)}_{number}"
        f = self.judging.function(name, "w, out, info, n, room")
        # Where a plan has no value, or cannot be gone through, the reference engine is asked.
        f.stopped = f"info[{self.notes['escaped']}] = 1; return n"
        if shared is not None and shared[1]:
            f.line(f"clear(w, {shared[0]}, {shared[1]})")
        self._source(f, row)
        with ExitStack() as stack:
            values: list[Value] = []
            pairs = zip(rule.plans, row.function.params, strict=True)
            layouts = [
                tight(self.codec.layout(declared, plan.type)) for plan, (_, declared) in pairs
            ]
            for i, (plan, (param, _)) in enumerate(
                zip(rule.plans, row.function.params, strict=True)
            ):
                value = argument(f, stack, plan, layouts[i])
                if long(layouts[i:]) and not long(layouts[i + 1 :]):
                    f.metered()
                f.env[param] = value
                values.append(value)
            values = [f.passed(v) for v in values]
            made = self.module.transition(self.machine, row, tuple(v.layout for v in values), True)
            status = f.temporary()
            call = f"{made.name}({', '.join(('w', '0', *(v.text for v in values)))})"
            f.line(f"{status} = {call}")
            with f.block(f"if {status} == {REFUSED}:"):
                if not refuses_unchanged(row):
                    self.state.put_back(f, spans)
            with f.block("else:"):
                if shared is not None:
                    self._noted(f, shared[0], values)
                label = self._label(f, number, values) if self.labelled else number
                f.line(f"n = {settle}(w, out, info, n, room, {status}, {label})")
                f.line("if n < 0: return n")
        f.line("return n")
        self.program.add(f.lines)
        return name

    def _source(self, f: Body, row: ir.Transition) -> None:
        """The source read once, where no argument decides whose it is."""
        source = own_source(row)
        if source is None or row.control is None:
            return
        now = f.value(row.control).text
        numbers = states(row.control.type, source[1])
        f.line(f"if {' and '.join(f'{now} != {n}' for n in numbers) or 'True'}: return n")

    def _label(self, f: Body, rule: int, values: Sequence[Value]) -> str:
        """The number of a rule with its arguments."""
        if math.prod(rounds(value.layout) for value in values) > MOST_LABELS:
            raise NotGenerated("the numbers of so many arguments")
        return f.hold(f"{rule} + {RULES} * {self._number(f, values)}")

    def _number(self, f: Body, values: Sequence[Value]) -> str:
        """The number of arguments among all."""
        number = "0"
        for value in values:
            number = f.hold(f"{number} * {card(value.layout)} + {code(f, value)}")
        return number

    def _noted(self, f: Body, at: int, values: Sequence[Value]) -> None:
        place = f.hold(f"{at} + {self._number(f, values)}")
        ambiguous = self.notes["fault"] + STATUS.index("ambiguous")
        f.line(f"if w[{place}] != 0: info[{ambiguous}] = 1")
        f.line(f"w[{place}] = 1")

    # Settling a step.

    def _settle(self, spans: tuple[Span, ...]) -> str:
        """The code after a step that was not refused and changed no other cells."""
        if spans in self.settles:
            return self.settles[spans]
        if not self.settles:
            self.steps = [
                self.judging.judge(j, n)
                for n, j in enumerate(self.judged)
                if j.kind == "step_property"
            ]
        number = len(self.settles)
        name = self.settles[spans] = f"settle_{number}"
        check = self._check(f"check_{number}", spans)
        f = self.judging.function(name, "w, out, info, n, room, status, rule")
        put = self.notes
        which = f"(rule & {RULES - 1})" if self.labelled else "rule"
        f.line(f"info[{put['admitted']}] += 1")
        f.line(f"info[{put['enabled']} + {which}] += 1")
        f.line(f"if status == 0: status = {check}(w, info)")
        with f.block("if status == 0:"):
            for judge in self.steps:
                f.line(f"{judge}(w, info)")
            self._pack(f, spans)
            f.line(f"out[room * {self.words} + n] = rule")
            f.line("n += 1")
        with f.block(f"elif status == {CUT}:"):
            f.line(f"info[{put['cut']}] = 1")
            if self.labelled:
                with f.block(f"if w[{self.following}] != 0:"):
                    f.line(f"if n < room: out[room * {self.words} + n] = -1 - rule")
                    f.line("n = n + 1 if n < room else -1")
        with f.block(f"elif status == {ESCAPE}:"):
            f.line(f"info[{put['escaped']}] = 1")
        with f.block("else:"):
            f.line(f"info[{put['fault']} + status] = 1")
        self.state.put_back(f, spans)
        f.line("return n")
        self.program.add(f.lines)
        return name

    def _pack(self, f: Body, spans: tuple[Span, ...]) -> None:
        """The state that the step leads to, written to `out`."""
        self.state.pack(f, spans)

    def _check(self, name: str, spans: tuple[Span, ...]) -> str:
        """Whether the state after a step keeps the bounds of its types, then those of the scope."""
        f = self.judging.function(name, "w, info")
        out = f"w[{self.size}]"
        rows = [
            row for row in bounds_of(self.program, self.codec, self.whole) if meets(row.span, spans)
        ]
        for of, bounds in groupby(rows, lambda row: row.of):
            declared = [self._any(row.broken, of) for row in bounds if row.broken]
            if declared:
                with self._entries(f, of):
                    f.line(f"if {' or '.join(declared)}: return {BOUNDS}")
        f.line(f"if {out} == {BROKEN}: return {BOUNDS}")
        for of, bounds in groupby(rows, lambda row: row.of):
            tested = [row for row in bounds if row.outside]
            if tested:
                with self._entries(f, of):
                    for row in tested:
                        with f.block(f"if {self._any(row.outside, of)}:"):
                            self._cut(f, row.name)
        for j in self.space.of_kind("constraint"):
            with ExitStack() as stack:
                bound, _ = self.judging.bound(f, stack, j)
                status, value = self.judging.asked(f, j, self.machine, "0", bound)
                f.line(f"if {status} != 0: return {status}")
                with f.block(f"if not {value}:"):
                    self._cut(f, j.name)
        self.judging.close(f)
        return name

    @contextmanager
    def _entries(self, f: Body, of: Entries | None) -> Generator[None]:
        """A loop over the entries of a map that the step wrote; the others are as they were in the
        state before, which is within its bounds."""
        if of is None:
            yield
            return
        with written(f, of) as (_, at):
            f.line(f"at = {at}")
            yield

    def _any(self, tests: Sequence[str], of: Entries | None) -> str:
        """Whether any of these is true; many tests stand in a function, once for all steps."""
        text = " or ".join(tests)
        if len(text) < LONG_TESTS:
            return text
        given = "w" if of is None else "w, at"
        if text not in self.tests:
            name = self.tests[text] = f"test_{len(self.tests)}"
            f = self.judging.function(name, given)
            f.line(f"if {text}: return 1")
            self.judging.close(f)
        return f"{self.tests[text]}({given}) != 0"

    def _cut(self, f: Body, name: str) -> None:
        f.line(f"info[{self.notes['cut_by'] + self.notes.cuts.index(name)}] += 1")
        f.line(f"return {CUT}")


def stepping(space: Space, labelled: bool = False, form: Form = FORM) -> Stepping:
    """The steps of a space: labelled where somebody asks for their arguments, as liveness does, and
    these have numbers.

    Raises `NotGenerated`, and `OutOfBudget` where the budget of preparation ends before they are
    written.
    """
    if labelled or space.of_kind(*LIVENESS):
        with suppress(NotGenerated):
            return Stepping(space.flat, space.world, space, labelled=True, form=form)
    return Stepping(space.flat, space.world, space, form=form)


def refuses_unchanged(row: ir.Transition) -> bool:
    """Whether a refusal comes before anything was changed."""
    if row.timer is not None:
        return False
    changed = False
    for stmt in row.function.body:
        inside = list(everything((stmt,)))
        if any(isinstance(node, CALLS) for node in inside):
            return False
        changes = any(_changes(node) for node in inside)
        if any(isinstance(node, GUARDS) for node in inside) and (
            changed or (changes and isinstance(stmt, ir.Branch | ir.Loop))
        ):
            return False
        changed = changed or changes
    return True


def _changes(node: ir.Node) -> bool:
    match node:
        case ir.Assign(target=ir.Local()):
            return False
        case ir.Assign() | ir.Update():
            return True
        case _:
            return False


CALLS = (ir.Step, ir.Do, ir.Base)
GUARDS = (ir.Require, ir.Refuse, ir.Needed)


__all__ = ["RULES", "Stepping", "Text", "stepping"]
