"""Trace stores: the verdicts of the traces, whoever wrote the store and whoever replays it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lawful import cli
from lawful.checks.replay import ReplayError, ReplayProgram, replay, replay_store, write_store
from lawful.checks.replay.columnar import kernel, trace_store
from lawful.checks.replay.in_process import tally_rows
from lawful.checks.replay.parquet import arrow
from lawful.checks.replay.preparation.preparation_table import Preparation
from lawful.checks.replay.sources import sources
from lawful.commands.exit_codes import ExitCode
from tests.checks.replay import test_columnar
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.test_columnar import MAPPING, PROGRAM, Order

pytest.importorskip("pyarrow")
pa = arrow()


def lines(folder: Path, seed: int, spoilt: float = 0.03) -> Path:
    path = folder / "trace.jsonl"
    path.write_bytes(test_columnar.text(test_columnar.trace(seed, spoilt)))
    return path


@pytest.mark.parametrize("seed", range(4))
def test_a_store_has_the_verdicts_of_its_traces(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "ROWS", 40)
    path = lines(tmp_path, seed)
    rows = tally_rows(sources([path]), PROGRAM)
    store = write_store([path], PROGRAM, tmp_path / "store", "local", buckets=3)
    assert len(store.buckets) == 3 and store.rows == len(path.read_bytes().splitlines())
    path.unlink()  # The store has all that the replay needs, but for the numbers of lines.
    found = replay_store(tmp_path / "store", PROGRAM, "local")
    assert found.tallies.machines == rows.machines
    assert found.tallies.rejected.totals == rows.rejected.totals


def test_rejected_rows_are_where_they_were(tmp_path: Path) -> None:
    path = lines(tmp_path, 5, 0)
    with path.open("ab") as file:
        file.write(b'{"nobody": 1}\n\n{"who": 7\n')
    write_store([path], PROGRAM, tmp_path / "store", "local")
    found = replay([tmp_path / "store"], PROGRAM)
    assert found.tallies.rejected == tally_rows(sources([path]), PROGRAM).rejected
    assert found.rejected == 2


def test_another_version_of_the_machine(tmp_path: Path) -> None:
    """What the version before ignored, this one refuses."""
    path = lines(tmp_path, 1, 0)
    write_store([path], PROGRAM, tmp_path / "store", "local")
    newer = ReplayProgram((replace(Order.lawful.ir, ignores=()),), mapping=MAPPING)
    found = replay_store(tmp_path / "store", newer)
    assert found.tallies == tally_rows(sources([path]), newer)
    assert found.verdicts["deviates"] > 0
    assert replay_store(tmp_path / "store", Order).verdicts["deviates"] == 0


def test_other_columns(tmp_path: Path) -> None:
    write_store([lines(tmp_path, 1)], PROGRAM, tmp_path / "store", "local")
    args: dict[str, Any] = {**MAPPING.args, "take_back": {"name": ["$.name"]}}
    for mapping in (replace(MAPPING, args=args), replace(MAPPING, dense=True)):
        other = ReplayProgram((Order.lawful.ir,), mapping=mapping)
        with pytest.raises(ReplayError, match="was written for other columns"):
            replay_store(tmp_path / "store", other)
    with pytest.raises(ReplayError, match="a store holds typed columns"):
        replay_store(tmp_path / "store", ReplayProgram((Order.lawful.ir,)))


def test_prepared_traces_have_no_store(tmp_path: Path) -> None:
    prepared = replace(MAPPING, preparation=Preparation(casts={"$.n": "int"}))
    other = ReplayProgram((Order.lawful.ir,), mapping=prepared)
    with pytest.raises(ReplayError) as told:
        write_store([lines(tmp_path, 1)], other, tmp_path / "store", "local")
    assert str(told.value) == (
        "a store holds rows as the files have them, and this mapping prepares them; replay the "
        "files without --store: with --keep and --resume the next replay reads the new rows alone"
    )
    assert not (tmp_path / "store").exists()


def test_a_damaged_store(tmp_path: Path) -> None:
    folder, path = tmp_path / "store", lines(tmp_path, 1)
    store = write_store([path], PROGRAM, folder, "local", buckets=2)
    with pytest.raises(ReplayError, match="is not empty"):
        write_store([path], PROGRAM, folder, "local")
    with pytest.raises(ReplayError, match="in a store already"):
        write_store([folder], PROGRAM, tmp_path / "other", "local")
    with pytest.raises(ReplayError, match="replayed alone"):
        replay([folder, path], PROGRAM)
    bucket = folder / store.buckets[0]
    whole = bucket.read_bytes()
    bucket.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReplayError, match="bucket-00000"):
        replay_store(folder, PROGRAM)
    pa.parquet.write_table(pa.table({"a": [1]}), bucket)
    with pytest.raises(ReplayError, match="other columns than the store says"):
        replay_store(folder, PROGRAM)
    bucket.write_bytes((folder / store.buckets[1]).read_bytes())
    with pytest.raises(ReplayError, match="is another bucket"):
        replay_store(folder, PROGRAM)
    bucket.unlink()
    with pytest.raises(ReplayError, match="a bucket of the store is missing"):
        replay_store(folder, PROGRAM)
    manifest = folder / trace_store.MANIFEST
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(told | {"buckets": ["../store/a.parquet"]}))
    with pytest.raises(ReplayError, match="a bucket outside of the store"):
        replay_store(folder, PROGRAM)
    manifest.write_text(json.dumps({"version": 1}))
    with pytest.raises(ReplayError, match="no store of traces"):
        replay_store(folder, PROGRAM)
    manifest.unlink()
    with pytest.raises(ReplayError, match="no store of traces"):
        replay_store(folder, PROGRAM)


def test_a_flipped_byte_changes_no_verdict(tmp_path: Path) -> None:
    """It is an error, or it is where nothing is read."""
    folder = tmp_path / "store"
    store = write_store([lines(tmp_path, 1)], PROGRAM, folder, "local", buckets=1)
    verdicts = replay_store(folder, PROGRAM).verdicts
    bucket = folder / store.buckets[0]
    whole, refused = bucket.read_bytes(), 0
    places = range(0, len(whole), max(1, len(whole) // 40))
    for place in places:
        spoilt = bytearray(whole)
        spoilt[place] ^= 255
        bucket.write_bytes(spoilt)
        try:
            assert replay_store(folder, PROGRAM).verdicts == verdicts, place
        except ReplayError:
            refused += 1
    assert refused > len(places) / 2


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, mapping = lines(tmp_path, 2, 0), tmp_path / "mapping.json"
    told: Any = MAPPING.to_json()
    mapping.write_text(json.dumps({k: v for k, v in told.items() if v not in (None, "")}))
    target, store = "tests.checks.replay.test_columnar:Order", str(tmp_path / "store")
    first = ["replay", str(path), target, "--mapping", str(mapping), "--store", store]
    assert cli.main([*first, "--json", "-", "--quiet"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert cli.main(["replay", store, target, "--json", "-", "--quiet"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert written["verdicts"] == again["verdicts"] and again["verdicts"]["fits"] > 0
    assert (
        cli.main(["replay", store, target, "--itf", str(tmp_path / "itf"), "--quiet"])
        == ExitCode.USAGE
    )
    assert cli.main(first) == ExitCode.USAGE


class TestOnSpark:
    pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]

    def test_both_engines_write_and_replay(self, session: Any, tmp_path: Path) -> None:
        path = lines(tmp_path, 7)
        rows = tally_rows(sources([path]), PROGRAM)
        for engine in ("spark", "local"):
            store = write_store([path], PROGRAM, tmp_path / engine, engine, buckets=3)
            assert store.rows == len(path.read_bytes().splitlines())
            for other in ("spark", "local"):
                found = replay_store(tmp_path / engine, PROGRAM, other)
                assert found.tallies.machines == rows.machines, (engine, other)
                assert found.tallies.rejected.totals == rows.rejected.totals
