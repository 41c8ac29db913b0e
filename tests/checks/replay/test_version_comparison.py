"""One trace under two versions of a machine: what is newly illegal, and newly legal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.replay import ReplayProgram, write_store
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.row_step import Stepper
from lawful.checks.replay.studies.version_comparison import compared
from lawful.checks.report import version_comparison
from lawful.cli import main
from tests.checks.replay.conftest import MISSING
from tests.checks.replay.journals import Bell, Recorder, written
from tests.checks.replay.test_trouble import older_bell

WINDOW = """
from lawful import Machine, Nat, require, transition


class Window(Machine):
    sent: Nat = 0
    acked: Nat = 0

    @transition()
    def send(self) -> None:
        require(self.sent - self.acked < {most}, "the window is full")
        self.sent += 1

    @transition()
    def ack(self, upto: Nat) -> None:
        require({ack}, "acknowledges too much")
        self.acked = upto
"""
MAPPING = {
    "instance": "$.c",
    "seq": "$.n",
    "event": "$.e",
    "args": {"ack": {"upto": "$.upto"}},
}


def project(folder: Path) -> dict[str, str]:
    """Two versions, a mapping and a trace: the newer window is smaller and takes any ack."""
    versions = {
        "old": WINDOW.format(most=3, ack="upto <= self.sent"),
        "new": WINDOW.format(most=2, ack="True"),
    }
    for name, text in versions.items():
        (folder / f"{name}_window.py").write_text(text, encoding="utf-8")
    (folder / "mapping.json").write_text(json.dumps(MAPPING), encoding="utf-8")
    told = [{"c": c, "n": n, "e": "send"} for c in ("a", "b") for n in range(3)]
    told += [{"c": "c", "n": 0, "e": "send"}, {"c": "d", "n": 0, "e": "ack", "upto": 9}]
    lines = "".join(json.dumps(each) + "\n" for each in told)
    (folder / "t.jsonl").write_text(lines, encoding="utf-8")
    return {name: f"{folder / name}_window.py:Window" for name in versions}


def test_the_command_tells_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    targets, out = project(tmp_path), tmp_path / "out.json"
    traces, mapping = str(tmp_path / "t.jsonl"), ["--mapping", str(tmp_path / "mapping.json")]
    options = ["--against", targets["old"], *mapping, "--json", str(out)]
    assert main(["replay", traces, targets["new"], *options]) == 2
    head, *told = capsys.readouterr().out.splitlines()
    assert head.startswith("Window ") and " -> Window " in head
    assert told == [
        "  1 instance: deviates -> fits",
        "  2 instances: fits -> deviates",
        "  1 instance: fits in both",
        "newly illegal: 2 events",
        "  2 rows of 2 instances, the first: instance a, row 2, event send: the machine refuses it:"
        " the window is full (2 < 2 is false)",
        "newly legal: 1 event",
        "  instance d, row 0, event ack: the machine refuses it: acknowledges too much (9 <= 0 is"
        " false)",
    ]
    answer: Any = json.loads(out.read_text(encoding="utf-8"))
    assert answer["verdicts"] == [
        {"old": "deviates", "new": "fits", "instances": 1},
        {"old": "fits", "new": "deviates", "instances": 2},
        {"old": "fits", "new": "fits", "instances": 1},
    ]
    (illegal,), (legal,) = answer["newly_illegal"], answer["newly_legal"]
    assert [illegal["rows"], illegal["instances"], illegal["first"]["index"]] == [2, 2, 2]
    assert [legal["first"]["instance"], legal["first"]["state"]] == ["d", {"acked": 0, "sent": 0}]
    # The other way round: newly legal alone is no violation.
    assert main(["replay", traces, targets["new"], "--against", targets["new"], *mapping]) == 0
    assert "newly illegal: 0 events" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["--store", "--resume", "--keep", "--pytest", "--report", "--metrics", "--itf"]
)
def test_what_is_of_one_version_is_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = project(tmp_path)
    mapping = ["--mapping", str(tmp_path / "mapping.json")]
    options = ["--against", targets["old"], *mapping, name, str(tmp_path / "out")]
    assert main(["replay", str(tmp_path / "t.jsonl"), targets["new"], *options]) == 5
    assert f"{name} is for a replay by one version" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


ORDERS: dict[str, tuple[dict[str, Any], str]] = {
    "time": (
        {"time": "$.n", "unit": "s", "preparation": {"order": "time"}},
        "row at 1970-01-01T00:00:02",
    ),
    "file": ({"preparation": {"order": "file"}}, "row 3 of {file}"),
}


@pytest.mark.parametrize("order", ORDERS)
def test_a_row_is_told_by_its_place(
    tmp_path: Path, order: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its time, or by its number in its file, where rows have no numbers of their own."""
    targets, (how, place) = project(tmp_path), ORDERS[order]
    told = {**MAPPING, "seq": None, **how}
    del told["seq"]
    (tmp_path / "mapping.json").write_text(json.dumps(told), encoding="utf-8")
    (tmp_path / "u.jsonl").write_text('{"c": "e", "n": 0, "e": "send"}\n', encoding="utf-8")
    traces = [str(tmp_path / name) for name in ("t.jsonl", "u.jsonl")]
    options = ["--against", targets["old"], "--mapping", str(tmp_path / "mapping.json")]
    assert main(["replay", *traces, targets["new"], *options]) == 2
    row = f"the first: instance a, {place.format(file=traces[0])}, event send: "
    assert row in capsys.readouterr().out


def bells(folder: Path) -> list[Path]:
    recorder = Recorder("b", Stepper(Bell.lawful.ir))
    for _ in range(3):
        recorder.take("ring")
    return [written(folder / "j.jsonl", recorder.rows)]


def test_rows_of_a_journal_are_judged_by_both(tmp_path: Path) -> None:
    program = ReplayProgram((Bell.lawful.ir,))
    found = compared(bells(tmp_path), program, (older_bell().lawful.ir,))
    assert found.moved == {("deviates", "fits"): 1} and found.exit_code == 0
    ((change,), ()) = found.legal, found.illegal
    assert (change.rows, change.instances, change.finding.index) == (3, 1, 1)
    back = compared(bells(tmp_path), ReplayProgram((older_bell().lawful.ir,)), (Bell.lawful.ir,))
    assert [each.rows for each in back.illegal] == [3] and back.exit_code == 2
    assert version_comparison.text(back).splitlines()[2] == "newly illegal: 3 events"


def test_versions_have_one_name(tmp_path: Path) -> None:
    class Gong(Machine):
        pass

    with pytest.raises(ValueError, match="the versions are of other machines: Gong"):
        compared(bells(tmp_path), ReplayProgram((Bell.lawful.ir,)), (Gong.lawful.ir,))


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.nightly
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.xdist_group("spark")
def test_stores_and_spark_tell_the_same(
    tmp_path: Path, session: Any, engine: Any, store: bool
) -> None:
    from lawful import targets

    names = project(tmp_path)
    old, new = (targets.machine(names[name]).lawful.ir for name in ("old", "new"))
    program = ReplayProgram((new,), mapping=mapping_of(MAPPING))
    plain = compared([tmp_path / "t.jsonl"], program, (old,))
    path = tmp_path / "t.jsonl"
    if store:
        write_store([path], program, tmp_path / "store", "local")
        path = tmp_path / "store"
    found = compared([path], program, (old,), engine)
    assert (found.illegal, found.legal, found.moved) == (plain.illegal, plain.legal, plain.moved)
    assert session is not None
