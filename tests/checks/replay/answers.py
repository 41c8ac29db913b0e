"""What a replay answers, in one form for all ways to replay, and these ways.

A trace is a list of parts, each a list of lines. A way that takes increments takes them by parts;
all others take the lines of all parts at once.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawful.checks.replay import (
    ReplayProgram,
    replay_frame,
    replay_increment,
    replay_store,
    replay_stream,
    write_store,
)
from lawful.checks.replay.columnar.layout import layout_of, layout_of_prepared
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.in_process import tally_rows
from lawful.checks.replay.problems import COUNTS
from lawful.checks.replay.sources import sources
from lawful.checks.replay.spark.partitions import COVERED, FINDING, OF_INSTANCE, REJECTED, found
from lawful.checks.replay.spark.record_frames import TOLD
from lawful.checks.replay.spark.streaming import PROVIDER, ROCKS_DB
from lawful.checks.replay.tally import Tallies

Parts = Sequence[Sequence[str]]
SUMS = ("rows", "events", *COUNTS)
SHOWN = ("count", "seq", "kind", "event", "control", "clause", "state", "legal", "details")
BUCKETS = 3
STARTS = 5  # Of a stream whose workers come too late.


@dataclass(frozen=True)
class Answer:
    """Verdicts by instance, sums over all instances, all findings, coverage, rejected rows."""

    verdicts: Mapping[str, str]
    sums: Mapping[str, int]
    findings: Sequence[str]
    covered: Mapping[tuple[str, str, str], int]
    rejected: Mapping[tuple[str, str], int]


def of_tallies(tallies: Tallies, rejected: Counter[tuple[str, str]] | None = None) -> Answer:
    """The answer in tallies that keep everything."""
    verdicts: dict[str, str] = {}
    sums: Counter[str] = Counter()
    findings: list[str] = []
    covered: Counter[tuple[str, str, str]] = Counter()
    for machine, tally in tallies.machines.items():
        assert len(tally.named) == tally.instances
        verdicts |= tally.named
        sums.update(rows=tally.rows, events=tally.events, **tally.counts)
        for name, finding in itertools.chain(*tally.found.rows.values()):
            findings.append(_finding(name, found(finding)))
        for kind, counts in (("transition", tally.transitions), ("state", tally.states)):
            covered.update({(machine, kind, name): n for name, n in counts.items() if name})
    lost = rejections(tallies) if rejected is None else rejected
    return Answer(verdicts, +sums, sorted(findings), +covered, lost)


def rejections(tallies: Tallies) -> Counter[tuple[str, str]]:
    """The rejected rows in tallies that keep everything: how often each reason with each text."""
    rows = tallies.rejected.rows.items()
    return Counter((kind[0], text) for kind, each in rows for text, _ in each)


def of_records(records: Iterable[Mapping[str, Any]]) -> Answer:
    """The answer in records, each instance once."""
    verdicts: dict[str, str] = {}
    sums: Counter[str] = Counter()
    findings: list[str] = []
    covered: Counter[tuple[str, str, str]] = Counter()
    rejected: Counter[tuple[str, str]] = Counter()
    for row in records:
        match row["record"]:
            case kind if kind == OF_INSTANCE:
                assert row["instance"] not in verdicts
                verdicts[row["instance"]] = row["verdict"]
                sums.update({name: row[name] for name in SUMS})
            case kind if kind == FINDING:
                findings.append(_finding(row["instance"], row))
            case kind if kind == COVERED:
                covered[row["machine"], row["kind"], row["name"]] += row["count"]
            case kind if kind == TOLD:
                pass  # Of a stream; a replay of all rows says it in its remark.
            case kind:
                assert kind == REJECTED
                rejected[row["reason"], row["text"]] += 1
    return Answer(verdicts, +sums, sorted(findings), +covered, rejected)


def _finding(instance: str, row: Mapping[str, Any]) -> str:
    shown = {name: row[name] for name in SHOWN}
    return json.dumps({"instance": instance, "verdict": row["verdict"], **shown}, sort_keys=True)


def whole(program: ReplayProgram) -> ReplayProgram:
    """The program, keeping every problem."""
    return dataclasses.replace(program, every=True)


# In this process.


def row_by_row(program: ReplayProgram, parts: Parts, folder: Path) -> Answer:
    """The engine that the others are compared with."""
    return of_tallies(tally_rows(sources([_file(parts, folder)]), whole(program)))


def by_columns(program: ReplayProgram, parts: Parts, folder: Path) -> Answer:
    """Typed columns, where the program has them."""
    layout = layout_of_prepared(whole(program))
    if layout is None:
        return row_by_row(program, parts, folder)
    return of_tallies(tally_columns(sources([_file(parts, folder)]), whole(program), layout))


def by_store(program: ReplayProgram, parts: Parts, folder: Path) -> Answer:
    """A trace store, where the program has one."""
    if layout_of(whole(program)) is None:
        return row_by_row(program, parts, folder)
    store = folder / "store"
    write_store([_file(parts, folder)], whole(program), store, buckets=2)
    return of_tallies(replay_store(store, whole(program), "local").tallies)


def by_increments(program: ReplayProgram, parts: Parts, folder: Path) -> Answer:
    """Each part goes on from the states that the one before it left."""
    states: Mapping[str, str] = {}
    rejected: Counter[tuple[str, str]] = Counter()
    tallies = Tallies(every=True)
    for part in parts:
        if any(map(str.strip, part)):
            increment = replay_increment([_file([part], folder)], whole(program), states)
            states, tallies = increment.states, increment.tallies
            rejected += rejections(tallies)
    return of_tallies(tallies, rejected)


def _file(parts: Parts, folder: Path) -> Path:
    path = folder / "trace.jsonl"
    path.write_bytes(b"".join(f"{line}\n".encode() for part in parts for line in part))
    return path


# On Spark.


def on_spark(session: Any) -> Callable[[ReplayProgram, Parts, Path], Answer]:
    """All lines as one data frame."""

    def way(program: ReplayProgram, parts: Parts, _folder: Path) -> Answer:
        frame = _frame(session, [line for part in parts for line in part])
        return of_records(_collected(replay_frame(frame, whole(program)).records))

    return way


def increments_on_spark(session: Any) -> Callable[[ReplayProgram, Parts, Path], Answer]:
    """A data frame for each part, which goes on from a table of states."""

    def way(program: ReplayProgram, parts: Parts, _folder: Path) -> Answer:
        resumable = dataclasses.replace(whole(program), resumable=True)
        table, records, rejected = None, list[Mapping[str, Any]](), list[Mapping[str, Any]]()
        for part in parts:
            replayed = replay_frame(_frame(session, part), resumable, states=table)
            records = _collected(replayed.records)
            rejected += [row for row in records if row["record"] == REJECTED]
            kept = [(r["instance"], r["snapshot"]) for r in records if r["snapshot"] is not None]
            table = session.createDataFrame(kept, "instance string, state string")
        return of_records([*(r for r in records if r["record"] != REJECTED), *rejected])

    return way


def as_stream(
    session: Any, watermark: str | None = None
) -> Callable[[ReplayProgram, Parts, Path], Answer]:
    """A micro-batch for each part, each in a run of its own that begins at the checkpoint. A stream
    does not tell what was covered."""

    def way(program: ReplayProgram, parts: Parts, folder: Path) -> Answer:
        source, kept = folder / "in", folder / "kept"
        source.mkdir()
        of_instance: dict[str, list[Mapping[str, Any]]] = {}
        rejected: list[Mapping[str, Any]] = []

        def keep(batch: Any, _number: int) -> None:
            new: dict[str, list[Mapping[str, Any]]] = {}
            for row in _collected(batch):
                its = rejected if row["instance"] is None else new.setdefault(row["instance"], [])
                its.append(row)
            of_instance.update(new)

        session.conf.set(PROVIDER, ROCKS_DB)
        try:
            for number, part in enumerate(parts):
                path = source / f"{number}.jsonl"
                path.write_bytes(b"".join(f"{line}\n".encode() for line in part))
                text = session.readStream.text(str(source))
                stream: Any = replay_stream(
                    text, whole(program), buckets=BUCKETS, watermark=watermark
                )
                writer = stream.writeStream.outputMode("update").trigger(availableNow=True)
                writer = writer.option("checkpointLocation", str(kept)).foreachBatch(keep)
                until_done(writer)
        finally:
            session.conf.unset(PROVIDER)
        return of_records([*itertools.chain(*of_instance.values()), *rejected])

    return way


def until_done(writer: Any) -> None:
    """Run a stream to the end of its input. Where Spark gave up waiting for a new Python worker,
    the stream goes on from its checkpoint.

    The worker of a stream imports pyspark from its archive, which takes seconds on a busy computer.
    Spark waits ten seconds for it, which no setting changes (SPARK-45245).
    """
    for left in reversed(range(STARTS)):
        try:
            writer.start().awaitTermination()
            break
        except Exception as error:
            if not left or "Python worker failed to connect back" not in str(error):
                raise


def _frame(session: Any, lines: Sequence[str]) -> Any:
    return session.createDataFrame([(line,) for line in lines], "value string")


def _collected(records: Any) -> list[Mapping[str, Any]]:
    return [row.asDict() for row in records.collect()]
