"""`lawful run`: the programs of the systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.arguments.programs import SYSTEMS
from lawful.cli import main
from tests.root import ROOT


def test_the_systems_are_those_that_have_a_program() -> None:
    programs = (ROOT / "machines").glob("*/service/program.py")
    assert sorted(each.parent.parent.name for each in programs) == list(SYSTEMS)


def test_a_system_without_a_service_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["run", "object_difusion"])
    assert stopped.value.code == 5
    told = capsys.readouterr().err
    assert "invalid choice: 'object_difusion'" in told
    assert told.endswith("; the nearest is object_diffusion\n")


def test_a_line_without_a_system_asks_for_that_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run"])
    told = capsys.readouterr().err.splitlines()
    assert told[-1] == "lawful run: the following arguments are required: SYSTEM"


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
