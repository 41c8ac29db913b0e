"""Endpoints as processes of their own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from lawful.machines.unicast.service.member import CONNECTIONS, Reception, next_epoch
from tests.root import PATIENCE


def start(*words: str) -> tuple[subprocess.Popen[str], int]:
    """A member that listens, and its port."""
    command = [sys.executable, "-m", "lawful", "run", "unicast", "member", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline().split()[-1])


@pytest.mark.nightly
def test_members_find_each_other_again_after_a_kill(tmp_path: Path) -> None:
    """B is killed before anything was sent to it, and starts again at its port."""
    b, port = start("B", "--peer", "A=1", "--epoch", str(tmp_path / "b"))
    b.kill()
    b.communicate()
    seconds = ("--seconds", str(PATIENCE))
    words = ("--peer", f"B={port}", "--messages", "50", "--expected", "20", "--loss", "0.1")
    a, at = start("A", *words, *seconds)
    words = ("--port", str(port), "--peer", f"A={at}", "--messages", "20", *seconds)
    b, _ = start("B", *words, "--epoch", str(tmp_path / "b"))
    said, _ = a.communicate()
    b.terminate()
    heard, _ = b.communicate()
    assert (a.returncode, b.returncode) == (0, 0)
    assert said.splitlines() == [
        "from B: 20 different",
        "to B: 50 acknowledged, 0 in doubt",
        "dropped: nothing",
    ]
    assert "from A: 50 different" in heard.splitlines()


def test_an_epoch_grows_when_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 5_000_000)
    assert next_epoch(None) == next_epoch(tmp_path / "epoch") == 5_000
    monkeypatch.setattr(time, "time_ns", lambda: 1_000)
    assert next_epoch(tmp_path / "epoch") == 5_000 + CONNECTIONS
    (tmp_path / "epoch").write_text("nonsense")
    with pytest.raises(ValueError, match="nonsense"):
        next_epoch(tmp_path / "epoch")
    assert (tmp_path / "epoch").read_text() == "nonsense"


def test_what_comes_is_counted_by_life() -> None:
    reception = Reception()
    for payload in (b"B.1/0", b"B.1/1", b"B.1/1", b"B.2/0", b"C.1/0", b"\xff"):
        reception.hear("B", payload)
    assert reception.counts == {"B": {"different": 3, "again or out of order": 1, "foreign": 2}}
