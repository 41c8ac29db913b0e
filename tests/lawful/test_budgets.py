"""The command line: budgets, what it tells on the way, and ends before the time."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.explore import check
from lawful.checks.explore.compiled import plain
from lawful.checks.explore.walkers import Walker
from lawful.cli import main
from lawful.progress import progress
from tests.lawful.test_cli import SENDER, SENDER_AS_SEED, SURPRISE, declared, run
from tests.lawful.test_stopping import WIDE


def test_out_of_memory_is_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run("check", SENDER_AS_SEED, "--max-memory", "1M", capsys=capsys)
    assert code == 3
    assert "stopped   by the limit on memory before everything was explored" in out
    target = declared(tmp_path, SURPRISE)
    assert run("check", target, "--max-memory", "900G", capsys=capsys)[0] == 1
    with pytest.raises(SystemExit) as usage:
        main(["check", SENDER, "--max-memory", "lots"])
    assert usage.value.code == 5
    assert "expected a size such as 500M or 2G" in capsys.readouterr().err


def test_asked_to_stop_it_says_so_and_goes_on_later(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = (
        "check",
        "tests.classics.two_phase",
        "--engine",
        "generated",
        "--resume",
        str(tmp_path),
    )
    whole = run(*asked[:4], capsys=capsys)[1]
    looked = iter(range(100_000))
    expanded = plain.Expanding.expanded

    def interrupted(*args: Any) -> Any:
        if next(looked) == 50:
            os.kill(os.getpid(), signal.SIGINT)
        return expanded(*args)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(plain, "SLICE", 1)
    monkeypatch.setattr(plain.Expanding, "expanded", interrupted)
    code, out, _ = run(*asked, capsys=capsys)
    assert code == 3
    assert "stopped   on request, before everything was explored" in out
    assert signal.getsignal(signal.SIGINT) is before
    code, out, _ = run(*asked, capsys=capsys)
    assert code == 0
    assert without_times(out) == without_times(whole)
    code, _, err = run(*asked, "--scope", "RM=2", capsys=capsys)
    assert code == 5
    assert "is within another scope" in err


def test_walks_that_are_stopped_tell_what_they_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("simulate", "tests.classics.jugs", "--steps", "50", "--runs")
    walk, done = Walker.walk, iter(range(100))

    def interrupted(*args: Any) -> Any:
        walk(*args)
        if next(done) == 9:
            os.kill(os.getpid(), signal.SIGINT)

    ten = run(*asked, "10", capsys=capsys)
    monkeypatch.setattr(Walker, "walk", interrupted)
    stopped = run(*asked, "100000", capsys=capsys)
    assert "violated" in ten[1]
    assert (stopped[0], without_times(stopped[1])) == (ten[0], without_times(ten[1]))


def test_a_property_that_is_not_there_is_named_before_anything_is_explored(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "explore", None)
    code, _, err = run("check", "tests.classics.jugs", "--only", "nothing", capsys=capsys)
    assert code == 5
    assert "Jugs has no property nothing; it has deadlock, bounds" in err


def without_times(text: str) -> str:
    return re.sub(r"[\d.]+ s ", "", text)


def test_progress_is_told_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    line = "title  one\n"
    for quiet, always, told in ((False, True, line), (True, True, ""), (False, False, "")):
        with progress("title", quiet, always) as tell:
            tell("one")
            tell("two")  # Too soon after it.
        assert capsys.readouterr().err == told


TWO = """from lawful import *

class First(Machine):
    scope = Scope(Nat=range(0, 400))
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n = (self.n + 1) % 400

class Second(First):
    scope = Scope(Nat=range(0, 400))
"""


@pytest.mark.parametrize("command", ["check", "simulate"])
def test_a_signal_ends_the_searches_of_all_machines(
    command: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of two machines is stopped, and the second is not begun."""
    walk, expanded, looked = Walker.walk, plain.Expanding.expanded, iter(range(100_000))

    def interrupts() -> None:
        if next(looked) == 9:
            os.kill(os.getpid(), signal.SIGTERM)

    def walked(*args: Any) -> Any:
        walk(*args)
        interrupts()

    def expands(*args: Any) -> Any:
        interrupts()
        return expanded(*args)

    monkeypatch.setattr(plain, "SLICE", 1)
    monkeypatch.setattr(plain.Expanding, "expanded", expands)
    monkeypatch.setattr(Walker, "walk", walked)
    code, out, _ = run(command, declared(tmp_path, TWO), "--json", "-", capsys=capsys)
    first, second = json.loads(out)["machines"]
    assert code == 3
    assert (first["machine"], second["machine"]) == ("First", "Second")
    assert first["generated"] > 1 and second["distinct"] <= 1
    assert not second["complete"]


COUNTING = """
from lawful import Machine, Nat, Scope, transition


class Counting(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n = (self.n + 1) % 5

    scope = Scope(Nat=range(0, 8))
"""


def test_coverage_of_a_search_that_ran_out_of_time_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Code that counts guards is made after the search, in a time of its own."""
    target = declared(tmp_path, WIDE)
    code, out, err = run("check", target, "--max-seconds", "0.01", "--coverage", capsys=capsys)
    assert code == 3, err
    assert "by the limit on seconds" in out and "variable  values" in out
    code, out, _ = run("lint", target, "--max-seconds", "0.01", capsys=capsys)
    assert "only the declaration was looked at" in out


def test_a_linter_that_did_not_see_everything_does_not_pass(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target, junit = declared(tmp_path, COUNTING), tmp_path / "junit.xml"
    row = ("--max-states", "2", "--junit", str(junit))
    code, out, _ = run("lint", target, *row, capsys=capsys)
    assert code == 3 and "only the declaration was looked at" in out
    assert 'skipped="1"' in junit.read_text()
    assert run("lint", target, capsys=capsys)[0] == 0
