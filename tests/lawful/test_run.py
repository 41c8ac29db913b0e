"""`lawful run`: the programs of the systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.cli import main


def test_a_system_without_a_service_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nothing"]) == 5
    systems = "message_scheduler, object_diffusion, queue_cluster, read_only_windows, unicast"
    assert capsys.readouterr().err == f"no service is called 'nothing'; there are {systems}\n"


def test_a_program_has_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["run", "unicast", "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("usage: lawful run unicast")


def test_run_has_no_answer_in_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["run", "--json", str(tmp_path / "x"), "unicast"]) == 5
    assert "run has no answer in JSON" in capsys.readouterr().err


def test_unicast_runs_through_its_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "unicast", "--messages", "20", "--loss", "0.1", "--seconds", "600"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "A>B: 20 of 20 delivered, 0 twice, 0 out of order, 0 foreign"


@pytest.mark.nightly
def test_a_demo_finds_all_objects(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--peers", "1", "--objects", "20", "--seconds", "600", "--timeout", "60"]
    journal = tmp_path / "events.jsonl"
    assert main(["run", "message_scheduler", "demo", *words, "--journal", str(journal)]) == 0
    said = capsys.readouterr().out
    assert "objects: 20 of 20" in said
    machine = "lawful.machines.message_scheduler.declaration"
    assert main(["replay", str(journal), machine, "--engine", "local"]) == 0
    assert "1 fits" in capsys.readouterr().out
