"""The programs of the services say which of their words they cannot use, and keep what is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lawful.machines.message_scheduler.service import program as scheduler
from lawful.machines.message_scheduler.service.program import main as run_scheduler
from lawful.machines.object_diffusion.service.program import main as run_diffusion
from lawful.machines.queue_cluster.service.program import main as run_cluster
from lawful.machines.read_only_windows.service.program import main as run_windows
from lawful.machines.unicast.service.program import main as run_unicast
from lawful.runtime.journal import read

Program = Callable[[Sequence[str]], int]

PORT = "expected a port from 0 to 65535"
OTHER_PORT = "expected a port from 1 to 65535"
ADDRESS = "expected NAME=PORT, a port from 1 to 65535"
HELD = "expected 0 to 1000000"
PROBABILITY = "expected a probability from 0 to 1"
COUNT = "expected 0 or more"
SECONDS = "expected seconds above 0"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the program, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("program", "words", "text"),
    [
        (run_scheduler, "peer A --port 99999", PORT),
        (run_scheduler, "peer A --channels 0", "expected 1 or more"),
        (run_scheduler, "peer A --delay -1", "'-1': expected seconds, 0 or more"),
        (run_scheduler, "peer A --late 2", PROBABILITY),
        (run_scheduler, "fetch A", ADDRESS),
        (run_scheduler, "fetch =7001", ADDRESS),
        (run_scheduler, "fetch A=99999", ADDRESS),
        (run_scheduler, "fetch A=1 A=2", "A is there twice: at port 1 and at port 2"),
        (run_scheduler, "fetch A=1 --objects -3", HELD),
        (run_scheduler, "peer A --channels 65536", "'H' format requires 0 <= number <= 65535"),
        (run_scheduler, "fetch A=1 --timeout 0", SECONDS),
        (run_scheduler, "fetch A=1 --timeout 5000", "<= 3600.0 seconds, not 5000.0"),
        (run_scheduler, "fetch A=1 --seconds nan", SECONDS),
        (run_scheduler, "demo --faults 2", PROBABILITY),
        (run_diffusion, "peer A --port 99999", PORT),
        (run_diffusion, "peer A --objects 1000001", HELD),
        (run_diffusion, "node A=99999 --pool p", ADDRESS),
        (run_diffusion, "node A=1 A=2 --pool p", "A is there twice"),
        (run_diffusion, "demo --peers 0", "invalid choice: 0"),
        (run_diffusion, "demo --faults 2", PROBABILITY),
        (run_cluster, "bus --port 99999", PORT),
        (run_cluster, "broker A --bus 0", OTHER_PORT),
        (run_cluster, "broker A --bus 1 --slice -1", SECONDS),
        (run_cluster, "publish q --to 99999", OTHER_PORT),
        (run_cluster, "publish q --to 1 --messages -1", COUNT),
        (run_cluster, "consume q --to 1 --credit 0", "expected 1 or more"),
        (run_windows, "serve --port 99999", PORT),
        (run_windows, "serve --file no/folder", "unable to open database file"),
        (run_windows, "demo --readers -1", COUNT),
        (run_windows, "demo --seconds 0", SECONDS),
        (run_unicast, "--loss 2", PROBABILITY),
        (run_unicast, "member A --port -1", PORT),
        (run_unicast, "member A --peer B", ADDRESS),
        (run_unicast, "member A --peer B=1 --peer B=2", "B is there twice"),
    ],
)
def test_words_out_of_their_range_are_named(
    program: Program,
    words: str,
    text: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert program(words.split()) == 5
    said = capsys.readouterr()
    assert text in said.out + said.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("program", [run_scheduler, run_diffusion, run_cluster, run_unicast])
def test_a_name_that_nobody_can_say_is_refused(
    program: Program, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words: dict[Program, list[str]] = {
        run_cluster: ["broker", "", "--bus=1"],
        run_unicast: ["member", ""],
    }
    assert program(words.get(program, ["peer", ""])) == 5
    assert "1 to 2" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (run_scheduler, "fetch A=1 --journal notes.txt"),
        (run_diffusion, "node A=1 --pool p --journal notes.txt"),
        (run_cluster, "broker A --bus 1 --journal notes.txt"),
        (run_windows, "serve --journal notes.txt"),
        (run_unicast, "member A --journal notes.txt"),
    ],
)
def test_a_file_that_is_no_journal_stays_as_it_is(
    program: Program,
    words: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "notes.txt").write_text("Dear diary,\nnothing.\n")
    assert program(words.split()) == 5
    assert "notes.txt:1: " in capsys.readouterr().out
    assert (folder / "notes.txt").read_text() == "Dear diary,\nnothing.\n"


def test_a_second_run_continues_the_journal_of_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "events.jsonl"
    words = ["fetch", "A=1", "--objects", "0", "--seconds", "0.01", "--journal", str(journal)]
    for _ in range(2):
        assert run_scheduler(words) == scheduler.FAILED  # Nobody listens at port 1.
    rows = list(read(journal))
    assert [row["outcome"] for row in rows if row["event"] is None] == ["made", "attached"]
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert capsys.readouterr().out.count("objects: 0 of 0") == 2
