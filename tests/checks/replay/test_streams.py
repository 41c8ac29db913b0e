"""A stream gives the verdicts of a batch, in any order of arrival, and after a restart."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, ReplayProgram, replay, replay_stream
from lawful.checks.replay.fold import fold
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.row_step import Stepper
from lawful.checks.replay.rows import Row
from lawful.checks.replay.spark import streaming
from lawful.checks.replay.spark.packed_streams import is_packed
from lawful.checks.replay.spark.streaming import PROVIDER, ROCKS_DB
from tests.checks.replay.answers import until_done
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import PROGRAM, Bell, Recorder, of, rows, worker, written
from tests.checks.replay.test_deadlines import MAPPING, Order, line
from tests.checks.replay.test_stream_buckets import MAPPING as OF_WINDOW
from tests.checks.replay.test_stream_buckets import Window, told
from tests.checks.replay.test_trouble import older_bell

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]


def test_a_stream_in_any_order_with_a_restart(session: Any, tmp_path: Path) -> None:
    wrong = worker("y")
    of(wrong, "y", 2)["output"] = 9
    lines: list[Any] = [*rows(), *wrong, *worker("z")]
    random.Random(5).shuffle(lines)
    lines.append({"no": "instance"})
    cuts = [len(lines) // 3, 2 * len(lines) // 3, len(lines)]
    folder = tmp_path / "in"
    folder.mkdir()
    verdicts: dict[str, str] = {}
    findings: dict[str, set[tuple[Any, ...]]] = {}
    rejected: list[str] = []

    def keep(batch: Any, _number: int) -> None:
        for row in batch.collect():
            if row.record == "rejected":
                rejected.append(row.reason)
            elif row.record == "instance":
                verdicts[row.instance], findings[row.instance] = row.verdict, set()
        for row in batch.where("record = 'finding'").collect():
            findings[row.instance].add((row.kind, row.seq, row.clause))

    with pytest.raises(ReplayError, match="a stream needs the setting"):
        replay_stream(session.readStream.text(str(folder)), PROGRAM)
    session.conf.set(PROVIDER, ROCKS_DB)
    begun = 0
    try:
        for number, cut in enumerate(cuts):
            written(folder / f"{number}.jsonl", lines[begun:cut])
            begun = cut
            found = replay_stream(session.readStream.text(str(folder)), PROGRAM, buckets=4)
            writer = found.writeStream.outputMode("update").trigger(availableNow=True)
            # Each file is a run of its own: it goes on from the checkpoint of the one before.
            query: Any = writer.option("checkpointLocation", str(tmp_path / "kept")).foreachBatch(
                keep
            )
            until_done(query)
    finally:
        session.conf.unset(PROVIDER)
    whole = replay([folder], PROGRAM)
    tallies = whole.tallies.machines.values()
    assert verdicts == {k: v for tally in tallies for k, v in tally.named.items()}
    assert rejected == ["no instance: instance is null or missing, not a text"]
    answer: Any = whole.to_json()
    told: dict[str, set[tuple[Any, ...]]] = {name: set() for name in verdicts}
    for each in [*answer["deviations"], *answer["not_judged"]]:
        told[each["instance"]].add((each["kind"], each["index"], each["clause"]))
    assert findings == told
    assert json.dumps(sorted(findings["y"])).count("output is 9") == 1


DELAY = 50


class Kept:
    """What a stream says of each instance, as a sink that keeps the last word has it."""

    def __init__(self) -> None:
        self.verdicts: dict[str, tuple[str, int]] = {}
        self.findings: dict[str, set[tuple[Any, ...]]] = {}
        self.batches: list[set[str]] = []

    def keep(self, batch: Any, _number: int) -> None:
        """Keep the records of a micro-batch."""
        told = batch.collect()
        for row in (each for each in told if each.record == "instance"):
            self.verdicts[row.instance] = row.verdict, row.late
            self.findings[row.instance] = set()
        for row in (each for each in told if each.record == "finding"):
            self.findings[row.instance].add((row.kind, row.seq, row.clause))
        self.batches.append({row.instance for row in told})


def test_rows_within_the_watermark_and_deadlines_without_a_row(
    session: Any, tmp_path: Path
) -> None:
    chance = random.Random(7)
    lines: list[dict[str, Any]] = []
    for number in range(30):
        at = float(chance.randrange(0, 600))
        for what in ("add", "pay", "send")[: chance.choice([2, 3, 3])]:
            lines.append(line(what, at, f"o{number}"))
            at += chance.randrange(1, 70)
    lines.sort(key=lambda each: each["at"] + chance.randrange(0, DELAY))
    quiet = line("add", 2000.0, "other")  # It moves the watermark beyond all deadlines.
    late = line("add", 1.0, "o0")
    kept, folder = Kept(), tmp_path / "in"
    of_orders = ReplayProgram((Order.lawful.ir,), mapping=MAPPING)
    before: dict[str, set[tuple[Any, ...]]] = {}
    folder.mkdir()
    with pytest.raises(ReplayError, match="a watermark needs a mapping with `time`"):
        _started(session, folder, PROGRAM, kept, tmp_path)
    for number, part in enumerate([lines[:40], lines[40:], [quiet], [late]]):
        written(folder / f"{number}.jsonl", part)
        _started(session, folder, of_orders, kept, tmp_path)
        if number == 2:
            before = dict(kept.findings)
    program = replace(of_orders, until=2000.0 - DELAY)
    its = program_rows([*lines, quiet], program)
    whole = {name: fold(program, name, found) for name, found in its.items()}
    told = {
        name: {(each.kind, each.index, each.clause) for each in found.findings}
        for name, found in whole.items()
    }
    assert before == told
    assert {name: verdict for name, (verdict, _) in kept.verdicts.items()} == {
        name: found.verdict for name, found in whole.items()
    }
    # In the third run only a row of `other` came, and with it deadlines of others passed.
    assert len(kept.batches) > 4
    assert {each[0] for found in told.values() for each in found} == {"deadline"}
    assert kept.verdicts["o0"][1] == 1


def test_each_version_judges_its_rows_in_a_stream(session: Any, tmp_path: Path) -> None:
    """Rows of two versions, in any order of arrival, with a restart between any two of them."""
    old = older_bell()
    lines: list[dict[str, Any]] = []
    for name in ("a", "b", "c"):
        before, after = (Recorder(name, Stepper(m.lawful.ir)) for m in (old, Bell))
        for each in (before, after):
            each.take("ring")
            each.take("ring")
        after.rows[0] |= {"outcome": "attached", "changed": {"rung": 4}}
        for number, row in enumerate(after.rows[1:], 5):
            row |= {"output": number, "changed": {"rung": number}}
        rows_of = [*before.rows, *after.rows]
        lines += [row | {"seq": n, "time": n} for n, row in enumerate(rows_of)]
    of(lines, "b", 2)["output"] = 3  # A row of the older version,
    of(lines, "c", 5)["output"] = 9  # and one of the newer.
    random.Random(3).shuffle(lines)
    program = ReplayProgram((Bell.lawful.ir,), older=(old.lawful.ir,))
    kept, folder = Kept(), tmp_path / "in"
    folder.mkdir()
    session.conf.set(PROVIDER, ROCKS_DB)
    try:
        for number in range(3):
            written(folder / f"{number}.jsonl", lines[number::3])
            found = replay_stream(session.readStream.text(str(folder)), program, buckets=2)
            writer = found.writeStream.outputMode("update").trigger(availableNow=True)
            until_done(
                writer.option("checkpointLocation", str(tmp_path / "kept")).foreachBatch(kept.keep)
            )
    finally:
        session.conf.unset(PROVIDER)
    whole = replay([folder], program)
    verdicts = {"a": "fits", "b": "deviates", "c": "deviates"}
    assert whole.to_json()["by_instance"] == verdicts
    assert {name: verdict for name, (verdict, _) in kept.verdicts.items()} == verdicts
    answer: Any = whole.to_json()
    told: dict[str, set[tuple[Any, ...]]] = {name: set() for name in verdicts}
    for each in answer["deviations"]:
        told[each["instance"]].add((each["kind"], each["index"], each["clause"]))
    assert kept.findings == told
    assert [len(found) for _, found in sorted(told.items())] == [0, 1, 1]


def test_a_stream_says_what_no_row_tells(session: Any, tmp_path: Path) -> None:
    rows_of = [line("add", 1.0, "o1"), line("pay", 2.0, "o1"), line("add", 3.0, "o2")]
    rows_of[2]["phase"] = "OPEN"
    mapping = replace(MAPPING, observed={"state": "$.phase"})
    written(tmp_path / "0.jsonl", rows_of)
    for name, count in (("$.phase", 1), ("$.fase", 0)):
        mapping = replace(mapping, observed={"state": name})
        counts: Counter[str] = Counter()

        def keep(batch: Any, _number: int, counts: Counter[str] = counts) -> None:
            for row in batch.where("record = 'told'").collect():
                counts[row.name] += row["count"]

        session.conf.set(PROVIDER, ROCKS_DB)
        try:
            frame = session.readStream.text(str(tmp_path / "*.jsonl"))
            found = replay_stream(frame, Order, mapping, buckets=2)
            writer = found.writeStream.outputMode("update").trigger(availableNow=True)
            at = str(tmp_path / f"kept{count}")
            until_done(writer.option("checkpointLocation", at).foreachBatch(keep))
        finally:
            session.conf.unset(PROVIDER)
        assert counts == {f"{name} (observed.state)": count}


def test_packed_instances_go_on_after_a_restart(session: Any, tmp_path: Path) -> None:
    """Most rows come in order; some wait for others, come again, or deviate, in a later run."""
    mapping = mapping_of({**OF_WINDOW, "dense": True})
    program = ReplayProgram((Window.lawful.ir,), mapping=mapping)
    assert is_packed(program)
    parts: list[list[Any]] = [[], [], []]
    for number in range(12):
        rows_of = [{**row} for row in told(f"w{number}", wrong=3 if number == 4 else None)]
        for n, row in enumerate(rows_of):
            row["n"] = n
        for part, (begin, end) in zip(parts, ((0, 3), (3, 6), (6, 8)), strict=True):
            part.extend(rows_of[begin:end])
    early, again = next(r for r in parts[1] if (r["i"], r["n"]) == ("w1", 4)), dict(parts[0][6])
    parts[1].remove(early)
    parts[2] += [early, again, {"no": "instance"}]
    kept, folder = Kept(), tmp_path / "in"
    folder.mkdir()
    session.conf.set(PROVIDER, ROCKS_DB)
    try:
        for number, part in enumerate(parts):
            written(folder / f"{number}.jsonl", part)
            found = replay_stream(session.readStream.text(str(folder)), program, buckets=3)
            writer = found.writeStream.outputMode("update").trigger(availableNow=True)
            at = str(tmp_path / "kept")
            until_done(writer.option("checkpointLocation", at).foreachBatch(kept.keep))
            if number == 1:
                assert kept.verdicts["w1"] == ("quarantined", 0)
    finally:
        session.conf.unset(PROVIDER)
    answer: Any = replay([folder], program).to_json()
    assert {name: verdict for name, (verdict, _) in kept.verdicts.items()} == answer["by_instance"]
    (wrong,) = answer["deviations"]
    clause = (wrong["kind"], wrong["index"], wrong["clause"])
    assert {name: each for name, each in kept.findings.items() if each} == {"w4": {clause}}
    assert Counter(answer["by_instance"].values()) == {"fits": 11, "deviates": 1}


def packs(_program: ReplayProgram) -> bool:
    """In place of `is_packed`."""
    return True


def keeps_texts(_program: ReplayProgram) -> bool:
    """In place of `is_packed`."""
    return False


@pytest.mark.parametrize(("packed", "now"), [(True, 1000), (False, 1)])
def test_another_number_of_buckets_is_refused(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool, now: int
) -> None:
    """Packed instances, even where all are in buckets of which the checkpoint has nothing; texts,
    where a bucket of the checkpoint gets rows."""
    program = ReplayProgram((Window.lawful.ir,), mapping=mapping_of(OF_WINDOW))
    monkeypatch.setattr(streaming, "is_packed", packs if packed else keeps_texts)
    kept, folder = Kept(), tmp_path / "in"
    folder.mkdir()
    session.conf.set(PROVIDER, ROCKS_DB)
    try:
        for number, buckets in enumerate((2, now)):
            cut = slice(4 * number, 4 * number + 4)
            rows_of = [{**row} for name in "abcd" for row in told(name)[cut]]
            written(folder / f"{number}.jsonl", rows_of)
            found = replay_stream(session.readStream.text(str(folder)), program, buckets=buckets)
            writer = found.writeStream.outputMode("update").trigger(availableNow=True)
            writer = writer.option("checkpointLocation", str(tmp_path / "kept"))
            if buckets == 2:
                until_done(writer.foreachBatch(kept.keep))
                continue
            with pytest.raises(Exception, match=f"is of a stream with buckets = 2, not {now}"):
                until_done(writer.foreachBatch(kept.keep))
    finally:
        session.conf.unset(PROVIDER)
    assert kept.batches == [{*"abcd"}]


def test_spark_refuses_to_pack_instances_that_were_texts(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`docs/replay.md` names the error."""
    program = ReplayProgram((Window.lawful.ir,), mapping=mapping_of(OF_WINDOW))
    folder = tmp_path / "in"
    folder.mkdir()
    session.conf.set(PROVIDER, ROCKS_DB)
    try:
        for number, packed in enumerate((False, True)):
            monkeypatch.setattr(streaming, "is_packed", packs if packed else keeps_texts)
            cut = slice(4 * number, 4 * number + 4)
            written(folder / f"{number}.jsonl", [{**row} for row in told("a")[cut]])
            found = replay_stream(session.readStream.text(str(folder)), program, buckets=2)
            writer = found.writeStream.outputMode("update").trigger(availableNow=True)
            writer = writer.option("checkpointLocation", str(tmp_path / "kept")).format("noop")
            if not packed:
                until_done(writer)
                continue
            with pytest.raises(Exception, match="STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"):
                until_done(writer)
    finally:
        session.conf.unset(PROVIDER)


def program_rows(lines: list[dict[str, Any]], program: ReplayProgram) -> dict[str, list[Row]]:
    """The rows of each instance."""
    out: dict[str, list[Row]] = {}
    for each in lines:
        (data,) = MAPPING.prepared(each, 0)
        row = program.row_of(data, "")
        assert isinstance(row, Row)
        out.setdefault(row.instance, []).append(row)
    return out


def _started(
    session: Any, folder: Path, program: ReplayProgram, kept: Kept, tmp_path: Path
) -> None:
    """One run over the files that are new; it goes on from the checkpoint of the run before."""
    session.conf.set(PROVIDER, ROCKS_DB)
    try:
        text = session.readStream.text(str(folder))
        found = replay_stream(text, program, buckets=4, watermark=f"{DELAY} seconds")
        writer = found.writeStream.outputMode("update").trigger(availableNow=True)
        query: Any = writer.option("checkpointLocation", str(tmp_path / "kept")).foreachBatch(
            kept.keep
        )
        until_done(query)
    finally:
        session.conf.unset(PROVIDER)
