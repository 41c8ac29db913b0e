"""CI cases and traces of `replay`: each verdict, and the first instances of each kind of problem.

The case of a verdict has the count of all instances. Instances that could not be judged are
skipped. For the trace that leads to a deviation the rows of that instance are replayed again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lawful.spec import ir
from lawful.spec.errors import Place
from lawful.spec.ir import Json
from lawful.spec.text.reasons import text

from ..replay.in_process import sorted_rows
from ..replay.problems import PASSED, VERDICTS
from ..replay.program import ReplayProgram
from ..replay.rows import Row
from ..replay.unseen.tied_fold import TiedFold
from ..replay.validation import ReplayResult
from ..verdict import Trace, TraceStep
from .ci import Case, Suite
from .replays import clause, headline


def suites(result: ReplayResult) -> list[Suite]:
    """A suite for each machine, and one for rows and instances of no machine."""
    answer: Any = result.to_json()
    machines = {m.name: m for m in result.program.machines}
    out = [
        Suite(row["machine"], result.seconds, tuple(_cases(machines[row["machine"]], row)))
        for row in answer["machines"]
    ]
    rest = tuple(_of_no_machine(answer))
    return [*out, Suite(result.program.form, result.seconds, rest)] if rest else out


def _cases(machine: ir.Machine, row: Mapping[str, Any]) -> Iterator[Case]:
    for verdict in VERDICTS:
        count = row["verdicts"][verdict]
        message = f"{count} of {row['instances']} instances: {verdict}"
        if not count or verdict in PASSED:
            yield Case(verdict, verdict, "passed", message)
        elif verdict == "deviates":
            yield Case(verdict, verdict, "failed", message, verdict, (message,), machine.place)
        else:
            yield Case(verdict, verdict, "skipped", message, verdict, (message,), machine.place)
    for finding in row["deviations"]:
        yield _finding(machine, finding, "deviates")
    for finding in row["not_judged"]:
        yield _finding(machine, finding, finding["kind"])


def _finding(machine: ir.Machine, finding: Mapping[str, Any], verdict: str) -> Case:
    name = headline(finding)
    message = f"{name}: {clause(finding)}"
    lines = [message, *(f"  {k} = {text(value)}" for k, value in finding["state"].items())]
    if finding["legal"]:
        lines.append(f"  possible events: {', '.join(finding['legal'])}")
    row = finding.get("row")
    if row is not None:
        lines.append(f"  the row: {json.dumps(row)}")
    place = _place(machine, finding)
    failed = verdict == "deviates"
    rest = message, finding["kind"], tuple(lines), place
    return Case(name, verdict, "failed" if failed else "skipped", *rest)


def _place(machine: ir.Machine, finding: Mapping[str, Any]) -> Place:
    """The place of the row's transition, or of one that serves its event, or of the machine."""
    named = finding.get("row", {}).get("transition")
    rows = [row for row in machine.transitions if row.name == named]
    rows += machine.serving(str(finding["event"]))
    return rows[0].place if rows else machine.place


def _of_no_machine(answer: Mapping[str, Any]) -> Iterator[Case]:
    for each in answer["rejected"]["reasons"]:
        message = f"{each['total']} rows rejected: {each['reason']}"
        lines = (message, *(f"  {row}" for row in each["first"]))
        yield Case(str(each["reason"]), "rejected", "skipped", message, "rejected", lines)
    if answer["unknown_machine"]:
        message = f"{answer['unknown_machine']} instances of an unknown machine"
        yield Case("unknown machine", "quarantined", "skipped", message, "quarantined", (message,))


# Traces.


class _Recording(TiedFold):
    """A fold that records the states and steps of the machine."""

    def __init__(self, program: ReplayProgram, instance: str) -> None:
        super().__init__(program, instance)
        self.kept: list[Mapping[str, Json]] = []
        self.steps: list[TraceStep] = []

    def _judge(self, row: Row) -> None:
        """Judge the next row; record its step, and the state after it, up to the deviation."""
        over = self.counts["deviations"] > 0
        super()._judge(row)
        if self.stepper is None or over:
            return
        wrong = self.counts["deviations"] > 0
        if wrong and not self.kept:
            self.kept.append(self.problems.found[-1][1].state)
        elif not wrong and self.state is not None:
            self.kept.append(self.stepper.shown(self.state))
        if len(self.kept) > 1 or (self.kept and wrong):
            event = row.event or ""
            self.steps.append(TraceStep(event, event, dict(row.args), {}))

    @property
    def trace(self) -> Trace | None:
        """The trace with the deviating event as its last; None without a state before it."""
        self.end()
        return Trace(tuple(self.kept), tuple(self.steps)) if self.kept and self.kept[0] else None


def traces(
    paths: Iterable[str | Path], result: ReplayResult
) -> Iterator[tuple[ir.Machine, str, str, Trace]]:
    """For each deviation that is shown: machine, instance, description and trace."""
    answer: Any = result.to_json()
    machines = {m.name: m for m in result.program.machines}
    rows = [(m["machine"], each) for m in answer["machines"] for each in m["deviations"]]
    folds = {
        name: _recorded(
            paths, result.program.of(name), {each["instance"] for of, each in rows if of == name}
        )
        for name in {name for name, _ in rows}
    }
    for name, finding in rows:
        trace = folds[name][finding["instance"]].trace
        if trace is not None:
            about = f"{headline(finding)}: {clause(finding)}"
            yield machines[name], finding["instance"], about, trace


def _recorded(
    paths: Iterable[str | Path], program: ReplayProgram, instances: Collection[str]
) -> dict[str, _Recording]:
    folds = {name: _Recording(program, name) for name in instances}
    for name, rows in sorted_rows(program.sources(paths), program, instances).items():
        for row in rows:
            folds[name].take(row)
    return folds
