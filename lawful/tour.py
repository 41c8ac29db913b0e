"""The tour (`make tour`): run, check, prove, test, draw and replay one system, reliable unicast.

The final table contains only results of this run. The exit code is 0 if all of them are as
expected.
"""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawful.checks.explore import CheckResult, explore
from lawful.checks.prove import prove
from lawful.checks.replay import Engine, ReplayError, ReplayProgram, ReplayResult, replay
from lawful.checks.report import proofs
from lawful.checks.report.lines import counterexample, table
from lawful.diagrams.render import render
from lawful.machines.unicast import as_seed, declaration, system
from lawful.machines.unicast.service.relay import Faults
from lawful.machines.unicast.service.run import ExchangeReport, exchange
from lawful.runtime.instance import Machine
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

from .progress import progress
from .testing import Mismatch, conformance

OUT = Path("out/tour")
MESSAGES = 1_000
FAULTS = Faults(loss=0.10, duplicate=0.05, reorder=0.10)
SEED = 2013
PATIENCE = 120.0  # Seconds after which the exchange fails; it usually takes a few.
ENTRIES: tuple[type[Machine], ...] = (
    declaration.SenderEntryFixed,
    declaration.ReceiverEntryFixed,
)
AS_WRITTEN: tuple[type[Machine], ...] = (
    as_seed.SenderEntryAsSeed,
    as_seed.ReceiverEntryAsSeed,
)


@dataclass
class Findings:
    """What the tour established: rows of (what, result, whether it is as expected)."""

    rows: list[tuple[str, str, bool]] = field(default_factory=list[tuple[str, str, bool]])
    paths: list[tuple[str, Path]] = field(default_factory=list[tuple[str, Path]])

    def add(self, what: str, result: str, good: bool) -> None:
        """Add one result."""
        self.rows.append((what, result, good))

    @property
    def good(self) -> bool:
        """Whether everything is as expected."""
        return all(good for _, _, good in self.rows)


def main() -> int:
    """Take the tour; the return value is the exit code."""
    began = time.perf_counter()
    OUT.mkdir(parents=True, exist_ok=True)
    found = Findings()
    journal = _run(found)
    _check(found)
    _prove(found)
    _test(found)
    _draw(found)
    _replay(found, journal)
    _say("What was established")
    wrong = {True: "", False: "NOT AS EXPECTED"}
    rows = [(what, result, wrong[good]) for what, result, good in found.rows]
    print("\n".join(table(rows)))
    print()
    print("\n".join(table([(what, str(path)) for what, path in found.paths])))
    print(f"\n{time.perf_counter() - began:.0f} seconds")
    return 0 if found.good else 1


def _say(title: str) -> None:
    print(f"\n{title}\n{'-' * len(title)}", flush=True)


# The service.


def _run(found: Findings) -> Path:
    _say("Run: reliable unicast over UDP, through a network that fails")
    journal = OUT / "journal.jsonl"
    with progress("delivered", quiet=False) as tell:
        done = asyncio.run(_exchange(journal, lambda n, of: tell(f"{n:,} of {of:,}")))
    for name, way in done.directions.items():
        print(
            f"  {name}  {way.delivered:,} of {way.sent:,} delivered, "
            f"{way.duplicates} twice, {way.out_of_order} out of order"
        )
    network = _network(done)
    print(f"  the network: {network}")
    print(f"  {done.seconds:.1f} s, {done.journal_rows:,} rows in the journal")
    found.add(
        f"service, {MESSAGES:,} messages each way",
        "exactly once, in order" if done.exactly_once_in_order else "LOST, TWICE OR OUT OF ORDER",
        done.exactly_once_in_order,
    )
    found.add("the network meanwhile", network, True)
    found.paths.append(("journal", journal))
    return journal


async def _exchange(journal: Path, tell: Callable[[int, int], None]) -> ExchangeReport:
    async with asyncio.timeout(PATIENCE):
        return await exchange(MESSAGES, FAULTS, SEED, journal, tell)


def _network(done: ExchangeReport) -> str:
    n = done.relay
    return (
        f"{n.received:,} datagrams, {n.dropped:,} lost, "
        f"{n.duplicated:,} doubled, {n.reordered:,} out of order"
    )


# Exploration.


def _check(found: Findings) -> None:
    _say("Check: the design as written, and as it has to be")
    results = [
        _explored(cls) for cls in (*AS_WRITTEN, *ENTRIES, system.LinkAsSeed, system.LinkFixed)
    ]
    for result in results:
        found.add(f"check {result.machine}", _outcome(result), result.as_expected)
    as_written = next(r for r in results if r.machine == system.LinkAsSeed.__name__)
    for name in ("no_loss", "no_duplicate"):
        p = next(p for p in as_written.properties if p.name == name)
        print()
        print("\n".join(f"  {line}" for line in counterexample(p)))


def _explored(cls: type[Machine]) -> CheckResult:
    resolved = resolve(cls)
    flat = lower(resolved.machine, resolved.scopes["scope"])
    with progress(f"checking {cls.__name__}", quiet=False) as tell:
        result = explore(
            flat,
            resolved.world,
            resolved.expects,
            progress=lambda p: tell(f"{p.distinct:,} states, depth {p.depth}"),
        )
    print(f"  {cls.__name__:<20} {result.seconds:5.1f} s  {_outcome(result)}", flush=True)
    return result


def _outcome(result: CheckResult) -> str:
    bad = [p.name for p in result.properties if not p.verdict.good]
    said = f"{', '.join(bad)} violated" if bad else result.verdict.value
    expected = " (as expected)" if bad and result.as_expected else ""
    return f"{said}{expected}; {result.distinct:,} states, depth {result.depth}"


# Proofs.


def _prove(found: Findings) -> None:
    _say("Prove: both entries, by induction, for all integers")
    for cls in ENTRIES:
        resolved = resolve(cls)
        with progress(f"proving {cls.__name__}", quiet=False) as tell:
            result = prove(resolved.machine, sizes={}, progress=tell)
        print(proofs.text(result, resolved.expects))
        print()
        asked = [p for p in result.properties if p.method != "none"]
        verdicts = sorted({p.verdict.value for p in asked})
        covers = sorted({p.covers for p in asked})
        said = f"{len(asked)} properties {', '.join(verdicts)}; {'; '.join(covers)}"
        good = proofs.exit_code(result, resolved.expects) == 0
        found.add(f"prove {result.machine}", said, good)


# Tests.


def _test(found: Findings) -> None:
    _say("Test: an implementation beside its declaration, with Hypothesis")
    for cls in ENTRIES:
        wrong = _mismatch(cls)
        result = "runs of random events agree" if wrong is None else "DISAGREES"
        found.add(f"test {cls.__name__}", result, wrong is None)
        print(f"  {cls.__name__:<20} {result if wrong is None else wrong}", flush=True)
    wrong = _mismatch(declaration.SenderEntryFixed, _deaf)
    result = "noticed" if wrong is not None else "NOT NOTICED"
    found.add("test a sender that drops acks", result, wrong is not None)
    print(f"\n  a sender that drops acks: {result}\n")
    print(textwrap.indent(str(wrong), "  "))


def _mismatch(cls: type[Machine], perform: Callable[..., Any] | None = None) -> Mismatch | None:
    """What differs from the declaration where `perform` does each event; None if nothing does."""
    case = conformance(cls, lambda clock: cls(clock=clock), perform=perform)
    try:
        case().runTest()
    except Mismatch as mismatch:
        return mismatch
    return None


def _deaf(entry: Any, event: str, args: tuple[Any, ...]) -> Any:
    """Perform any event but `ack`."""
    return None if event == "ack" else getattr(entry, event)(*args)


# Pictures.


def _draw(found: Findings) -> None:
    _say("Draw: control states, guards, outputs")
    for cls in ENTRIES:
        for form in ("svg", "png"):
            drawn = render(resolve(cls).machine, OUT / f"{cls.__name__}.{form}", form)
            print(f"  {drawn.path}{f'  ({drawn.note})' if drawn.note else ''}")
            found.paths.append(("picture", drawn.path))


# Replay.


def _replay(found: Findings, journal: Path) -> None:
    _say("Replay: the journal against the machines, on Spark")
    program = ReplayProgram(tuple(resolve(cls).machine for cls in ENTRIES))
    engine = _engine()
    table = _as_parquet(journal) if engine == "spark" else journal
    clean = _replayed([journal], program, engine)
    found.add(f"replay of the journal ({engine})", _verdicts(clean), clean.exit_code == 0)
    if table != journal:
        again = _replayed([table], program, engine)
        found.add("replay of the same as Parquet", _verdicts(again), again.exit_code == 0)
        found.paths.append(("journal as Parquet", table))
    tampered = _tampered(journal)
    caught = _replayed([tampered], program, engine)
    found.add("replay of a tampered journal", _verdicts(caught), caught.exit_code == 2)
    empty = OUT / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    found.add("replay of an empty journal", *_refused(empty, program, engine))
    from lawful.checks.report.replays import html

    for name, result in (("replay", clean), ("tampered", caught)):
        page = OUT / f"{name}.html"
        page.write_text(html(result), encoding="utf-8")
        found.paths.append((f"report ({name})", page))


def _engine() -> Engine:
    from lawful.checks.replay.spark.session import why_no_spark

    missing = why_no_spark()
    if missing:
        print(f"  {missing}; replaying without Spark")
        return "local"
    return "spark"


def _as_parquet(journal: Path) -> Path:
    from lawful.checks.replay.parquet import to_parquet

    table = OUT / "journal.parquet"
    to_parquet([journal], table)
    return table


def _replayed(paths: list[Path], program: ReplayProgram, engine: Engine) -> ReplayResult:
    with progress("replaying", quiet=False):
        result = replay(paths, program, engine)
    print(f"  {paths[0].name}: {_verdicts(result)}, {result.seconds:.1f} s")
    return result


def _verdicts(result: ReplayResult) -> str:
    counts = ", ".join(f"{n} {name}" for name, n in result.verdicts.items() if n)
    return f"{result.total.events:,} events of {result.total.instances} instances: {counts}"


def _tampered(journal: Path) -> Path:
    """A copy of the journal in which one acknowledgement acknowledges one message too many. Its row
    has no checksum, by which a replay would reject it before the machine is asked."""
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    acks = [i for i, line in enumerate(lines) if '"event":"ack"' in line and '"done"' in line]
    at = acks[len(acks) // 2]
    row = json.loads(lines[at])
    row["args"]["m"]["seqno"] += 1
    del row["sum"]
    lines[at] = json.dumps(row, separators=(",", ":")) + "\n"
    out = OUT / "tampered.jsonl"
    out.write_text("".join(lines), encoding="utf-8")
    return out


def _refused(path: Path, program: ReplayProgram, engine: Engine) -> tuple[str, bool]:
    try:
        result = replay([path], program, engine)
    except ReplayError as error:
        print(f"  {path.name}: {error}")
        return f"an error: {error}", True
    return _verdicts(result), False


if __name__ == "__main__":
    sys.exit(main())
