"""Replay of journals: whether recorded events agree with the machine, with a verdict per instance.

    program = ReplayProgram((SenderEntry.lawful.ir,))
    result = replay(["journal.jsonl"], program)               # in this process
    result = replay(["traces/"], program, engine="spark")     # the same, on Spark

Both engines parse, fold and count with the same code and give the same result. They differ in how
they bring the rows of an instance into order.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lawful.runtime.instance import Machine
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json

from .. import html_tables
from .engine_choice import Engine, EngineChoice, Tell, chosen, remark, silent
from .explanation import STATES, explained
from .flaws.absent_values import absent_values
from .flaws.row_texts import ANOTHER
from .flaws.unmet_conditions import unmet_conditions
from .flaws.unplaced_rows import Place, What, places_of
from .in_process import tally_here
from .joint.joint_program import ALONE, JointProgram
from .joint.joint_tallies import tally_joint
from .latencies import quantiles
from .problems import COUNTS, ELSEWHERE, VERDICTS, Finding, FindingKind
from .program import ReplayProgram
from .sources import ReplayError, Sources, copies
from .storing import only_store, program_of_store, tally_of_store
from .tally import NAMED, STRICT, Demands, Findings, Tallies, Tally

Explanations = dict[tuple[str, str, int], dict[str, Json]]  # By machine, instance and `seq`.
SEARCHED = 4 * STATES


@dataclass(frozen=True)
class ReplayResult:
    """The result of a replay, from which reports and the exit code are made."""

    program: ReplayProgram | JointProgram
    engine: str
    tallies: Tallies
    seconds: float
    demands: Demands = STRICT
    remark: str = ""  # Why another engine would have suited better.
    files: tuple[str, ...] = ()  # The files of lines, where there are several.
    unplaced: Mapping[What, Place] = field(default_factory=dict[What, Place])

    @property
    def total(self) -> Tally:
        """The counts of all machines of the program, and of instances whose machine is unknown."""
        out = Tally(self.program.every)
        for name, tally in sorted(self.tallies.machines.items()):
            if name in ("", *self.program.steppers):
                out.merge(self._apart(name, tally))
        return out

    @property
    def _joint(self) -> bool:
        """Whether machines may have instances of one name, because each has its own mapping."""
        return isinstance(self.program, JointProgram)

    def _apart(self, machine: str, tally: Tally) -> Tally:
        """The tally with names of instances that no other machine has."""
        if not self._joint:
            return tally
        named = {f"{machine}.{name}": verdict for name, verdict in tally.named.items()}
        return dataclasses.replace(tally, named=named)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many instances have each verdict."""
        counts = self.total.verdicts
        return {name: counts[name] for name in VERDICTS}

    @property
    def rejected(self) -> int:
        """The number of rows that belong to no instance: unreadable, or without a name."""
        return self.tallies.rejected.totals.total()

    @property
    def deviates(self) -> bool:
        """Whether the recorded events of some instance deviate from its machine."""
        return self.verdicts["deviates"] > 0

    @property
    def conclusive(self) -> bool:
        """Whether every row that was read could be replayed and compared."""
        verdicts = self.verdicts
        return not (verdicts["inconclusive"] or verdicts["quarantined"] or self.rejected)

    @cached_property
    def explanations(self) -> Explanations:
        """The nearest possible event and the way to the recorded one.

        Of the first deviation of each kind. All ways together are looked for in `SEARCHED` states.
        """
        out: Explanations = {}
        left = SEARCHED
        for name in self.program.steppers:
            rows = self.tallies.machines.get(name, Tally()).found.rows
            for kind in sorted(rows):
                instance, finding = rows[kind][0]
                if finding.verdict == "deviates":
                    told, program = _finding(instance, finding, {}), self.program.of(name)
                    made, searched = explained(program, name, told, min(STATES, left))
                    out[name, instance, finding.index] = made
                    left -= searched
        return out

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the log as a whole is no basis of a verdict, as sentences; empty where it is one."""
        total, names = self.total, self.program.steppers
        found = self.demands.failures(total.events, total.counts)
        if not self._joint or self.demands.allow_empty or not total.counts["judged"]:
            return found
        idle = [n for n in names if not self.tallies.of(n).counts["judged"]]
        return (*found, *(f"no event of {name} was judged" for name in idle))

    @property
    def exit_code(self) -> int:
        """0 where all instances agree, 2 where one deviates, 3 where some could not be judged or
        the log as a whole is no basis of a verdict."""
        return 2 if self.deviates else 0 if self.conclusive and not self.failures else 3

    def _repr_html_(self) -> str:
        """Verdicts and the first problem of each kind, which notebooks show."""
        total, kinds = self.total, self.total.found.rows
        facts = f"{total.instances:,} instances, {total.events:,} events, {self.engine} engine"
        counts = [(name, f"{count:,}") for name, count in self.verdicts.items()]
        firsts = (kinds[kind][0] for kind in sorted(kinds))
        found = [
            (instance, str(each.index), each.event or "", each.verdict, each.clause)
            for instance, each in firsts
        ]
        head = ("first of each kind: instance", "row", "event", "verdict", "clause")
        return "".join(
            (
                html_tables.paragraph(f"Replay of {', '.join(self.program.steppers)}", strong=True),
                html_tables.paragraph(f"{facts}, {self.rejected:,} rows rejected"),
                *(html_tables.paragraph(f"no verdict: {why}") for why in self.failures),
                html_tables.table(("verdict", "instances"), counts),
                html_tables.table(head, found) if found else "",
            )
        )

    def to_json(self) -> dict[str, Json]:
        """The result as `lawful replay` writes it; top-level counts are over all machines."""
        steppers = self.program.steppers
        machines: list[Json] = [self._machine(name) for name in steppers]
        unknown = self.tallies.machines.get("", Tally())
        others: dict[str, Json] = {
            name: {"instances": tally.instances, "rows": tally.rows}
            for name, tally in sorted(self.tallies.machines.items())
            if name and name not in steppers
        }
        return {
            "version": 1,
            "command": "replay",
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            "remark": self.remark,
            "failures": list(self.failures),
            **self._counts(self.total, list(steppers)),
            "coverage": self._coverage(list(steppers)),
            "rejected": _rejected(self.tallies.rejected),
            "other_machines": others,
            "unknown_machine": unknown.instances,
            "machines": machines,
        }

    def _machine(self, name: str) -> dict[str, Json]:
        tally = self.tallies.machines.get(name, Tally())
        head: dict[str, Json] = {
            "machine": name,
            "fingerprint": self.program.steppers[name].fingerprint,
            "versions": list(self.program.versions[name]),
        }
        counts = self._counts(tally, [name])
        waits: dict[str, Json] = {**quantiles(tally.latencies)}
        return {**head, **counts, "coverage": self._coverage([name]), "latencies": waits}

    def _counts(self, tally: Tally, machines: list[str]) -> dict[str, Json]:
        """The counts of a tally, with the findings of these machines."""
        tally.trim()
        verdicts: dict[str, Json] = {name: tally.verdicts[name] for name in VERDICTS}
        named: dict[str, Json] = {name: tally.named[name] for name in sorted(tally.named)}
        return {
            "instances": tally.instances,
            "events": tally.events,
            "rows": tally.rows,
            "verdicts": verdicts,
            "counts": {name: tally.counts[name] for name in COUNTS},
            "deviations": self._findings(tally, machines, deviations=True),
            "not_judged": self._findings(tally, machines, deviations=False),
            "totals": [_total(kind, tally.found) for kind in sorted(tally.found.totals)],
            "by_instance": named,
            "by_instance_complete": tally.every or tally.instances <= NAMED,
        }

    def _findings(self, tally: Tally, machines: list[str], deviations: bool) -> list[Json]:
        if self._joint:
            parts = [(name, self.tallies.of(name).found) for name in machines]
        else:
            parts = [(name, tally.found) for name in machines[:1]]
        rows = [
            (name, instance, finding)
            for name, found in parts
            for kind in sorted(found.totals)
            if (kind[0] == "deviates") == deviations
            for instance, finding in found.rows.get(kind, ())
        ]
        rows.sort(key=lambda row: (row[1], row[2].index))
        return [self._explained(*row) for row in rows]

    def _explained(self, machine: str, instance: str, finding: Finding) -> Json:
        told = self.told(machine, instance, finding)
        names = (machine,) if self._joint else self.program.steppers
        for name in names:
            told |= self.explanations.get((name, instance, finding.index), {})
        return told

    def told(self, machine: str, instance: str, finding: Finding) -> dict[str, Json]:
        """A finding of an instance as JSON, with the file of its row where there are several, and
        with the machine where each has its own mapping."""
        whose: dict[str, Json] = {"machine": machine} if self._joint else {}
        place = self._file(machine, finding.index)
        known = self.unplaced.get((machine if self._joint else "", instance, finding.clause))
        if finding.index == ELSEWHERE and known is not None:
            place = {"file": known[0], "number": known[1]}
        out = whose | _finding(instance, finding, place)
        around = finding.details.get("around")
        if self.files and is_object(around):
            out["around"] = {
                side: [self._placed(machine, row) for row in rows] for side, rows in around.items()
            }
        return out

    def _placed(self, machine: str, row: dict[str, Json]) -> Json:
        """A row around a finding with its file, which may be another than that of the finding."""
        seq = row["seq"]
        assert isinstance(seq, int)
        return row | self._file(machine, seq)

    def _file(self, machine: str, seq: int) -> dict[str, Json]:
        """The `file` of a row, where its number says it and there are several files."""
        if not self.files:
            return {}
        place = self.program.of(machine).record_place(seq)
        return {} if place is None else {"file": self.files[place[0]]}

    def _coverage(self, names: list[str]) -> dict[str, Json]:
        """Counts by name, zeros included; of several machines by `Machine.name`."""
        transitions: dict[str, Json] = {}
        states: dict[str, Json] = {}
        for name in names:
            prefix = f"{name}." if len(names) > 1 else ""
            tally = self.tallies.machines.get(name, Tally())
            for stepper in self.program.versions[name].values():
                transitions.update({prefix + t: tally.transitions[t] for t in stepper.rows})
                states.update({prefix + s: tally.states[s] for s in stepper.form.control_states})
        return {"transitions": transitions, "states": states}


def _total(kind: FindingKind, found: Findings) -> Json:
    verdict, what, event, where = kind
    out: dict[str, Json] = {"verdict": verdict, "kind": what}
    if verdict == "quarantined":
        out["clause"] = where
    else:
        out.update({"event": event or None, "state": where})
    return {**out, "total": found.totals[kind], "count": found.counts[kind]}


def _finding(instance: str, finding: Finding, more: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "instance": instance,
        "index": finding.index,
        "kind": finding.kind,
        "event": finding.event,
        "control": finding.control,
        "state": dict(finding.state),
        "clause": finding.clause,
        "legal": list(finding.legal),
        "count": finding.count,
        **finding.details,
        **more,
    }


def _rejected(found: Findings) -> Json:
    totals: list[Json] = [
        {
            "reason": kind[0],
            "total": total,
            "first": [text for text, _ in found.rows.get(kind, ())],
            "places": [
                {"file": each.details.get("file"), "number": each.index or None}
                for _, each in found.rows.get(kind, ())
            ],
        }
        for kind, total in sorted(found.totals.items())
    ]
    return {"rows": found.totals.total(), "reasons": totals}


def replay(
    paths: Iterable[str | Path],
    program: ReplayProgram | JointProgram,
    engine: EngineChoice = "local",
    master: str | None = None,
    demands: Demands = STRICT,
    *,
    tell: Tell = silent,
) -> ReplayResult:
    """Replay the journals. Raises ReplayError where they are unreadable or have no row to replay.

    The engine `auto` is Spark for remote files and for more than 64 MB of lines; it is this process
    for less, and where Spark cannot be started. `master` is the master URL of Spark; by default,
    all cores of this computer. A path may be a folder with a trace store, alone. `tell` is called
    with a text while rows are read. With a `joint_program` each of several machines judges the
    log by its own mapping.
    """
    begun = time.perf_counter()
    given = [*paths]
    store = only_store(given)
    if store is not None:
        if isinstance(program, JointProgram):
            raise ReplayError(ALONE.format("a trace store"))
        used, tallies = tally_of_store(store, program, engine, master)
        return ReplayResult(program, used, tallies, time.perf_counter() - begun, demands)
    files = program.sources(given)
    used = chosen(files, master) if engine == "auto" else engine
    if used == "spark":
        from .spark.tallying import tally

        tell("on Spark")
        tallies = tally(files, program, master)
    elif isinstance(program, JointProgram):
        tallies = tally_joint(files, program, tell)
    else:
        tallies = tally_here(files, program, tell)
    _check_some(tallies, program)
    whys = [
        remark(used, files, engine, master),
        _copied(files, program),
        absent_values(files, program),
        unmet_conditions(files, program),
    ]
    distinct = files.distinct
    several = distinct if len(distinct) > 1 else ()
    unplaced = places_of(tallies, files, program)
    why = "; ".join(filter(None, whys))
    seconds = time.perf_counter() - begun
    return ReplayResult(program, used, tallies, seconds, demands, why, several, unplaced)


def replay_store(
    folder: str | Path,
    machines: type[Machine] | ReplayProgram,
    engine: EngineChoice = "auto",
    master: str | None = None,
    demands: Demands = STRICT,
) -> ReplayResult:
    """Replay a trace store that `write_store` wrote; a class is replayed with the store's mapping.

    The machine may be another version of the one that the store was written for, if it reads the
    same columns of the same events. The engine `auto` is this process up to 10 million rows, if no
    master is given. Raises ReplayError where there is no store, or the columns are others.
    """
    program = program_of_store(folder, machines)
    return replay([folder], program, engine, master, demands)


def _copied(files: Sources, program: ReplayProgram | JointProgram) -> str:
    """Which files look like copies, where rows have no other number than their place in them."""
    mapping = program.mappings[0] if isinstance(program, JointProgram) else program.mapping
    how = None if mapping is None else mapping.preparation
    found = copies(files.lines) if how is not None and how.order == "file" else None
    if found is None:
        return ""
    one, other = found
    return f"{one} and {other} have the same content; each row counts, so leave out a copy"


def _hint(program: ReplayProgram | JointProgram) -> str:
    """What may be wrong where no row is readable."""
    mapping = program.mappings[0] if isinstance(program, JointProgram) else program.mapping
    if mapping is None:
        return f"; {ANOTHER}"
    how = mapping.preparation
    if how is None or how.format != "csv":
        return ""
    return f"; cells are separated by {how.delimiter!r}: `delimiter` may be another one"


def _left_out(program: ReplayProgram | JointProgram) -> str:
    """Which keys of the mapping leave out records."""
    mapping = program.mappings[0] if isinstance(program, JointProgram) else program.mapping
    how = None if mapping is None else mapping.preparation
    keys = {
        "elsewhere": mapping is not None and mapping.elsewhere,
        "when": how is not None and how.when,
        "pass_unmatched": how is not None and how.pass_unmatched,
    }
    told = " and ".join(key for key, found in keys.items() if found)
    return f" but those that the mapping leaves out by {told}" if told else ""


def _check_some(tallies: Tallies, program: ReplayProgram | JointProgram) -> None:
    """ReplayError where there is no row of the machines of the program: that is no verdict."""
    if not any(tally.rows for tally in tallies.machines.values()):
        reasons = ", ".join(kind[0] for kind in sorted(tallies.rejected.totals))
        if not reasons:
            raise ReplayError(f"the {program.form} has no row{_left_out(program)}")
        texts = [rows[0][0] for _, rows in sorted(tallies.rejected.rows.items()) if rows]
        example = f", for example {texts[0]}" if texts else ""
        hint = _hint(program)
        raise ReplayError(f"no row of the {program.form} is readable: {reasons}{example}{hint}")
    if not tallies.machines.keys() & {"", *program.steppers}:
        found = ", ".join(sorted(tallies.machines))
        asked = ", ".join(program.steppers)
        raise ReplayError(f"no row of {asked} in the {program.form}, only of {found}")


__all__ = ["Engine", "EngineChoice", "ReplayError", "ReplayProgram", "ReplayResult", "replay"]
