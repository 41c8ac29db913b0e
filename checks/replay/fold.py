"""The fold over the rows of one instance: replays them in order and ends with a verdict.

A row that deviates, or that cannot be replayed, does not end the replay: it goes on from the state
that the row tells, or that is assumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from lawful.runtime.elements import NO_ELEMENTS
from lawful.spec.ir import Json

from ..reference import Done
from ..reference.states import State
from .deviations import Deviation, Inconclusive, Malformed, Several, UnknownEvent
from .latencies import interval
from .mapping import SKIPPED
from .problems import (
    ELSEWHERE,
    OF_NUMBER,
    Finding,
    InstanceVerdict,
    Neighbours,
    Problems,
    decisive,
    doubted,
    misses_a_row,
    row_claims,
)
from .program import ReplayProgram
from .resuming import Resumed, after_deviation, at_time, placed, told
from .row_step import Stepper
from .rows import WHOLE, Row, Seconds, combined, content
from .stays.stay import AFTER_ROW, Stay
from .unseen.possible_states import PossibleStates

MOST_WAYS = 16  # States in which an instance may be at once; with more its verdict is inconclusive.
Way = tuple[State, str | None]  # A state after a row, and the transition that was taken.


class Fold:
    """Replays the rows of one instance, in the order of their sequence numbers.

    A row is judged when the next number comes, because another row may have its number.
    """

    def __init__(self, program: ReplayProgram, instance: str) -> None:
        self.program = program
        self.instance = instance
        self.machine = ""
        self.first: tuple[int, str] | None = None
        self.stepper: Stepper | None = None
        self.state: State | None = None
        self.others: list[State] = []  # In which the instance may be instead.
        self.needs: list[int] = []  # Unseen things that each state needs; see `unseen`.
        self.lost: int | None = None  # The row since which the state is not certain.
        self.universe = NO_ELEMENTS
        self.stay = Stay(program.deadlines)
        self.origin: Seconds | None = None
        self.time: Seconds | None = None
        self.before: Seconds | None = None  # The time of the row before.
        self.next = program.first
        self.held: Row | None = None
        self.unlike: list[str] = []  # What other rows with the number of the held one say.
        self.late = False  # A row came after its number was judged: give all rows again, in order.
        self.stopped = False
        self.rows = 0
        self.events: int = 0
        self.judged = 0
        self.transitions: Counter[str] = Counter()
        self.states: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.latencies: Counter[str] = Counter()
        self.near = Neighbours(self.place)
        self.problems = Problems(program.every)

    def place(self, seq: int) -> dict[str, Json]:
        """What a finding says of where a row is."""
        return self.program.place(seq)

    # Sequence numbers.

    def take(self, row: Row) -> None:
        """Take the next row."""
        self.rows += 1
        self.events += row.event is not None
        if row.machine:
            self.first = min(self.first or (row.seq, row.machine), (row.seq, row.machine))
        held = self.held
        if row.seq >= self.next:
            if held is not None:
                self._judge_held(held)
            if row.seq > self.next and self.program.dense:
                self._jump(row)
            self.held = row
            self.next = row.seq + 1
        elif row.seq < 0:
            self._without_place(row)
        elif held is not None and row.seq == held.seq:
            self._again(held, row)
        else:
            self._judged_before(row)

    def _judged_before(self, row: Row) -> None:
        """A row came after its number was judged."""
        self.late = True

    def _without_place(self, row: Row) -> None:
        """Nobody knows which rows come after it, so it does not stop the instance either."""
        if self._passed_over(row):
            return
        made = Finding("quarantined", ELSEWHERE, row.flaw, verdict="quarantined")
        if not self.problems.known(made.key):
            self.problems.add(made)

    def _passed_over(self, row: Row) -> bool:
        """Count a row with a flaw of an event that the machine does not have, where such events are
        passed over: nothing of it matters, its place neither."""
        name, versions = row.event or row.named, self.program.versions.get(row.machine, {})
        if not (self.program.pass_unknown and name and versions):
            return False
        if any(name in each.events or name in each.rows for each in versions.values()):
            return False
        self.counts["unknown_events"] += 1
        self.events += row.event is None
        return True

    def _again(self, held: Row, row: Row) -> None:
        """Fold a row that says the same as one with its number, or remember what it says."""
        told = content(row)
        if told == content(held) or told in self.unlike:
            self.counts["duplicates"] += 1
            self.events -= row.event is not None
            return
        both = combined(held, row) if self.program.combine else None
        if both is None:
            self.unlike.append(told)
        else:
            self.held = both
            self.events -= 1

    def _jump(self, row: Row) -> None:
        """Numbers are missing before this row, unless it may be the first with any number."""
        if self.next == self.program.first and row.outcome in WHOLE and row.outcome != "made":
            return
        self.counts["gaps"] += 1
        details: dict[str, Json] = {"missing": [self.next, row.seq - 1]}
        self._quarantine(self.next, "a sequence number is missing", OF_NUMBER, details)
        self._lose(self.next)

    def judge_last(self) -> None:
        """Judge the last row: no other row has its number."""
        if self.held is not None:
            self._judge_held(self.held)

    def _judge_held(self, row: Row) -> None:
        self.held = None
        self.near.take(row)
        if self.unlike:
            self.unlike = []
            self.counts["regressions"] += 1
            self._quarantine(row.seq, self.program.tie, OF_NUMBER)
            self._lose(row.seq)
        elif not self.stopped:
            try:
                self._judge(row)
            except Exception as error:
                # A defect of lawful in one instance must not end the replay of all others.
                what = f"a fault of lawful: {error.__class__.__name__}: {error}"
                self._inconclusive(row, what, None)
                self._lose(row.seq)

    # The verdict.

    def end(self) -> InstanceVerdict:
        """The verdict, after the last row."""
        self.judge_last()
        if self.program.until is not None:
            self.passes(self.program.until)
        machine = self.first[1] if self.first is not None else ""
        verdict = self._ended()
        findings = self._certain(self.problems.kept())
        finding = decisive(findings)
        if finding is not None:
            verdict = finding.verdict
            self.counts.pop("hinges", None)
        if machine and machine not in self.program.steppers:
            verdict, finding, findings = "other", None, ()
        return InstanceVerdict(
            self.instance,
            machine,
            verdict,
            finding,
            self.rows,
            self.events,
            dict(self.transitions),
            dict(self.states),
            findings,
            {**self.counts, **({"judged": self.judged} if self.judged else {})},
            latencies=dict(self.latencies),
        )

    def _certain(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The findings, none of which is a deviation that a row without a place would explain.

        Where numbers count without a gap, the gap tells where the row is missing.
        """
        if self.program.dense or not misses_a_row(findings):
            return findings
        if deviations := self.counts.pop("deviations", 0):
            self.counts["uncertain"] += deviations
        return doubted(findings, self.program.every)

    def _ended(self) -> str:
        """The verdict if there is no problem."""
        stepper = self.stepper
        if stepper is None or self.state is None:
            return "other" if self.program.mapping is None else "empty"
        if not self.judged and self.program.mapping is not None:
            return "empty"
        stepper.universe = self.universe
        try:
            held = self._held(self.state)
            view = self.program.view(stepper)
            states = held if view is None else view.possible(held)
            ends = {state: stepper.ended(state) for state in states}
            self.counts.pop("hinges", None)
            if view is not None and (min(states.values()) or len({*ends.values()}) > 1):
                self.counts["hinges"] = 1
            return "fits" if any(ends.values()) else "open"
        except Inconclusive as error:
            if not self.problems.found:
                end = Row(self.instance, self.next)
                self._inconclusive(end, str(error), self.state)
            return "inconclusive"

    # One row.

    def _judge(self, row: Row) -> None:
        if row.flaw:
            if not self._passed_over(row):
                self._unusable(row, Malformed(row.flaw))
            return
        # An instance that was attached again may have another clock.
        before = None if row.outcome == "attached" else self.time
        if row.time is not None and before is not None and row.time < before:
            self.counts["regressions"] += 1
            self._quarantine(row.seq, "time goes back")
        self.before, self.time = before, row.time
        if self.machine == "":
            self.machine = row.machine
        if self.machine != row.machine:
            what = f"rows of two machines: those before are of {self.machine}"
            self._unusable(row, Malformed(what, row.machine))
            return
        stepper = self.stepper
        if self.program.any_version and row.fingerprint and row.machine in self.program.steppers:
            row = replace(row, fingerprint=self.program.steppers[row.machine].fingerprint)
        if stepper is None or row.fingerprint != stepper.fingerprint:
            stepper = self._version(row)
        if row.time is not None:
            self.passes(row.time)
        if stepper is not None:
            self._replay(stepper, row)
            known = None if self.lost is not None or self.others else self.state
            self.stay.goes_on("" if known is None else stepper.control(known), row)

    def _version(self, row: Row) -> Stepper | None:
        """The stepper of the version that wrote the row; another one begins with a whole row."""
        known = self.program.versions.get(row.machine)
        if known is None:
            return None
        present = self.stepper or self.program.steppers[row.machine]
        found = known.get(row.fingerprint, present)
        if found is not self.stepper and (self.stepper is None or row.outcome in WHOLE):
            self.stepper, self.state, self.others = found, None, []
        return self.stepper

    def _replay(self, stepper: Stepper, row: Row) -> None:
        state = self.state
        if state is None and self.lost is not None and row.outcome not in WHOLE:
            return  # There is no state yet, and a finding says why.
        try:
            state = self._before(stepper, row)
            if row.sampled:
                self._sampled(row, state)
            view = self.program.view(stepper)
            if view is not None and state is not None and row.outcome != SKIPPED:
                after, taken = self._from_possible(view, state, row)
            elif self.others:
                after, taken = self._from_all(stepper, state, row)
            else:
                after, taken = stepper.follow(state, row)
        except Several as several:
            self._settle(stepper, row, [(way.state, way.transition) for way in several.ways])
        except UnknownEvent as error:
            self._unknown(row, error)
        except Malformed as error:
            self._unusable(row, error)
            if row.fingerprint == stepper.fingerprint:
                again = None if row.outcome in WHOLE else state
                self._go_on_from(told(stepper, again, row), row)
        except Inconclusive as error:
            self._inconclusive(row, str(error), state)
            self._go_on_from(told(stepper, state, row), row)
        except Deviation as error:
            self._deviates(stepper, state, row, error)
        else:
            self._went(stepper, row, after, taken)

    def _before(self, stepper: Stepper, row: Row) -> State | None:
        """The state before the row; None where the row itself has the whole state."""
        state = self.state
        if state is None or row.outcome == "attached":
            state = self._begin(stepper, row)
        elif self.lost is not None:
            if row.outcome in WHOLE:
                state = self._begin(stepper, row)
            else:
                self._go_on_from(placed(stepper, state, row), row)
                state = self.state
        if self.origin is None:
            self.origin = row.time
        stepper.universe, stepper.origin = self.universe, self.origin
        return state

    def _sampled(self, row: Row, state: State | None) -> None:
        """Rows of this instance may be missing, so no state of it is certain."""
        self.counts["sampled"] += 1
        if not self.program.trust_samples and self.counts["sampled"] == 1:
            self._inconclusive(row, f"{row.sampled}, so rows may be missing", state)
            self._lose(row.seq)

    def _begin(self, stepper: Stepper, row: Row) -> State | None:
        """Prepare for a whole row; of a foreign trace the mapping supplies a row `made`."""
        self.universe = stepper.universe_of(row)
        mapping = self.program.mapping
        if mapping is None:
            return None
        stepper.universe = self.universe
        self.state, _ = stepper.follow(None, mapping.made(row, stepper.fingerprint))
        view = self.program.view(stepper)
        if view is not None:
            self._hold(view.begun(self.state))
        self.states[stepper.control(self.state)] += 1
        return self.state

    def _went(self, stepper: Stepper, row: Row, after: State, taken: str | None) -> None:
        self.state, self.universe = after, stepper.universe
        if row.outcome in WHOLE:
            self.lost = None
        elif row.outcome != SKIPPED:
            self.judged += 1
        if taken is not None:
            self.transitions[taken] += 1
            if self.before is not None and row.time is not None:
                self.latencies[interval(taken, self.before, row.time)] += 1
        self.states[stepper.control(after)] += 1

    def _go_on_from(self, resumed: Resumed | None, row: Row) -> None:
        """Go on from a state of which the row tells; None where the state is not known any more."""
        if resumed is not None:
            self.state, self.others = resumed.state, []
            if resumed.whole:
                self.lost = None
        if resumed is None or not resumed.certain:
            self._lose(row.seq)

    # Several states.

    def _held(self, state: State) -> dict[State, int]:
        """The states in which the instance may be, with the unseen things that they need."""
        states = (state, *self.others)
        needs = self.needs if len(self.needs) == len(states) else [0] * len(states)
        return dict(zip(states, needs, strict=True))

    def _hold(self, held: Mapping[State, int]) -> None:
        self.state, *self.others = held
        self.needs = [*held.values()]

    def _from_possible(self, view: PossibleStates, state: State, row: Row) -> Way:
        """What follows from each state in which the instance may be, as far as rows tell."""
        held, names = view.after(self._held(state), row)
        self._hold(held)
        self.counts["ambiguous"] += len(names) > 1
        return next(iter(held)), next(iter(names)) or None if len(names) == 1 else None

    def _from_all(self, stepper: Stepper, state: State | None, row: Row) -> Way:
        """What follows from each state in which the instance may be. Raises Several where that is
        more than one state, and Deviation where no state fits the row."""
        ways: list[Done] = []
        first: Deviation | None = None
        for each in (state, *self.others):
            try:
                after, taken = stepper.follow(each, row)
                ways.append(Done(after, None, taken or ""))
            except Several as several:
                ways.extend(several.ways)
            except Deviation as error:
                first = first or error
        if first is not None and not ways:
            raise first
        raise Several(ways)

    def _settle(self, stepper: Stepper, row: Row, ways: Sequence[Way]) -> None:
        """Go on in all states to which the row may have led."""
        states: list[State] = []
        for state, _ in ways:
            if state not in states:
                states.append(state)
        names = {taken for _, taken in ways}
        self.counts["ambiguous"] += len(names) > 1
        if len(states) > MOST_WAYS:
            what = f"the instance may be in more than {MOST_WAYS} states"
            self._inconclusive(row, what, self.state)
            self._lose(row.seq)
            del states[1:]
        self.others = states[1:]
        self._went(stepper, row, states[0], names.pop() or None if len(names) == 1 else None)

    # Problems.

    def settle(self, now: Seconds) -> None:
        """No row before this time comes any more, so deadlines before it have passed."""
        held = self.held
        if not self.program.deadlines:
            return
        if held is not None and (held.time is None or held.time < now):
            self._judge_held(held)
        self.passes(now)

    def passes(self, now: Seconds) -> None:
        """Time passes, up to now: a deadline may pass after the last row that was judged."""
        if self.stepper is None or self.state is None or self.lost is not None or self.stopped:
            return
        self.stepper.universe = self.universe
        found = self.stay.passed(now, self.stepper, self.state)
        if found is None:
            return
        self.counts["deviations"] += 1
        if not self.problems.known(found.key):
            fixed = self.stepper.form.fixed(self.state, self.universe)
            self.problems.add(
                replace(found, details={**self.place(found.index), **fixed}), AFTER_ROW
            )
        self._stop()

    def _deviates(self, stepper: Stepper, state: State | None, row: Row, error: Deviation) -> None:
        self.judged += row.event is not None
        clause, verdict = error.clause, "deviates" if self.lost is None else "inconclusive"
        self.counts["deviations" if self.lost is None else "uncertain"] += 1
        if self.lost is not None:
            clause += (
                f" (in a state that is not certain since {self.program.named_place(self.lost)})"
            )
        found = Finding(error.kind, row.seq, clause, row.event, verdict=verdict)
        self._add(replace(found, details=error.details), row, state)
        if self.program.view(stepper) is not None:
            self._lose(row.seq)  # Which of the possible states was left, the row does not tell.
            return
        self.others = []
        self._go_on_from(after_deviation(stepper, self.program.after, state, row, error), row)

    def _unknown(self, row: Row, error: UnknownEvent) -> None:
        self.counts["unknown_events"] += 1
        if not self.program.pass_unknown:
            self._unusable(row, error)

    def _unusable(self, row: Row, error: Malformed) -> None:
        """The row cannot be replayed, so what follows it is not certain."""
        self._quarantine(row.seq, str(error), details=error.details)
        self._lose(row.seq)

    def _quarantine(
        self, index: int, reason: str, rank: int = 0, details: Mapping[str, Json] | None = None
    ) -> None:
        told = self.place(index) | {**(details or {})}
        made = Finding("quarantined", index, reason, details=told, verdict="quarantined")
        if not self.problems.known(made.key):
            self.problems.add(made, rank)
        self._stop()

    def _lose(self, index: int) -> None:
        """From here on the state is not certain, until a row tells all of it."""
        if self.lost is None:
            self.lost = index

    def _stop(self) -> None:
        self.stopped = self.program.after == "stop"

    def _inconclusive(self, row: Row, clause: str, state: State | None) -> None:
        made = Finding("inconclusive", row.seq, clause, row.event, verdict="inconclusive")
        self._add(made, row, state)

    def _add(self, made: Finding, row: Row, state: State | None) -> None:
        """Count a problem of a row, and explain it if it is the first of its kind."""
        stepper = self.stepper
        if stepper is not None and state is not None:
            state = at_time(stepper, state, row)
            made = replace(made, control=stepper.control(state))
        if not self.problems.known(made.key):
            more = {**made.details, **self.place(row.seq)}
            more |= {"row": row_claims(row), "around": self.near.around(row)}
            if stepper is not None and state is not None:
                made = replace(made, state=stepper.shown(state), legal=stepper.legal(state))
                more.update(stepper.form.fixed(state, self.universe))
                if len(self.program.versions[stepper.machine.name]) > 1:
                    more["fingerprint"] = stepper.fingerprint
            self.problems.add(replace(made, details=more))
        self._stop()


MakeFold = Callable[[ReplayProgram, str], Fold]


def fold(
    program: ReplayProgram, instance: str, rows: Iterable[Row], made_by: MakeFold = Fold
) -> InstanceVerdict:
    """The verdict on one instance, whose rows are given in any order."""
    made = made_by(program, instance)
    for row in sorted(rows, key=lambda row: row.seq):
        made.take(row)
    return made.end()
