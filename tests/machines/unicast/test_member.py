"""Endpoints as processes of their own."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lawful.machines.services import LOOPBACK
from lawful.machines.unicast.declaration import Conn
from lawful.machines.unicast.service import Unicast, member
from lawful.machines.unicast.service.member import (
    CONNECTIONS,
    Member,
    Reception,
    next_epoch,
    serve,
)
from lawful.machines.unicast.service.program import main
from lawful.machines.unicast.service.relay import Faults
from lawful.machines.unicast.service.settings import Config, Options
from lawful.runtime.instance import Machine
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
    with pytest.raises(ValueError, match="epoch: expected the number of a life, found 'nonsense'"):
        next_epoch(tmp_path / "epoch")
    assert (tmp_path / "epoch").read_text() == "nonsense"


def test_an_epoch_that_leaves_no_connection_ids_is_refused(tmp_path: Path) -> None:
    """Datagrams have 64 bits for the id of a connection."""
    with pytest.raises(ValueError, match=f"an epoch is from 0 to {2**63}, not {2**63 + 1}"):
        Options(epoch=2**63 + 1)
    with pytest.raises(ValueError, match="an epoch is from 0 to"):
        Options(epoch=-1)
    (tmp_path / "epoch").write_text(str(2**63))
    found = f"epoch: expected at most {2**63 - CONNECTIONS}, found {2**63}"
    with pytest.raises(ValueError, match=found):
        next_epoch(tmp_path / "epoch")
    assert (tmp_path / "epoch").read_text() == str(2**63)


def test_an_epoch_is_kept_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that never ends would be read for ever, and a pipe waited for."""
    monkeypatch.chdir(tmp_path)  # The names of sockets are short.
    with socket.socket(socket.AF_UNIX) as other:
        other.bind("other")
        with pytest.raises(ValueError, match="other: expected a file that keeps what is written"):
            next_epoch(Path("other"))
    assert [each.name for each in tmp_path.iterdir()] == ["other"]


def test_what_was_in_doubt_at_the_end_is_not_acknowledged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody listens at port 1: both messages are told to be in doubt when the member ends."""
    assert main(["member", "A", "--peer=B=1", "--messages=2", "--seconds=0.2"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "B does not answer: 2 messages in doubt",
        "from B: nothing",
        "to B: 0 acknowledged, 2 in doubt",
        "dropped: nothing",
    ]


class Full:
    """A journal on a full disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def attach(self, entry: Machine, instance: str) -> Callable[[], None]:
        return entry.lawful.observe(self._row)

    def close(self) -> None:
        return

    def _row(self, _: object) -> None:
        raise OSError("no space left")


def test_a_member_says_why_its_endpoint_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(member, "Journal", Full)
    words = ["member", "A", "--peer=B=1", "--messages=9", f"--journal={tmp_path / 'events'}"]
    assert main(words) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["lawful run unicast: the endpoint A failed: no space left"]


def test_a_secret_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an empty one nothing would be sealed, without a word."""
    (tmp_path / "key").write_bytes(b"")
    assert main(["member", "A", f"--key={tmp_path / 'key'}", "--seconds=1"]) == 5
    text = f"{tmp_path / 'key'}: expected a secret of 16 bytes or more, found 0"
    assert capsys.readouterr().out == f"lawful run unicast: {text}\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--peer=A=7002"], "--peer A=7002: A is this member; name another one"),
        (["--peer=A=1", "--peer=B=1"], "--peer A=1: A is this member; name another one"),
        (["--peer=B=7001"], "--peer B=7001: A is at port 7001; each member has its own"),
        (
            ["--peer=B=7002", "--peer=C=7002"],
            "--peer C=7002: B is at port 7002; each member has its own",
        ),
        (["--peer=B=7002", "--peer=B=7003"], "B is there twice: at port 7002 and at port 7003"),
    ],
)
def test_each_peer_is_another_member_at_a_port_of_its_own(
    capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    assert main(["member", "A", "--port=7001", *words, "--seconds=1"]) == 5
    assert capsys.readouterr().out == f"lawful run unicast: {why}\n"


def test_what_comes_is_counted_by_life() -> None:
    reception = Reception()
    for payload in (b"B.1/0", b"B.1/1", b"B.1/1", b"B.2/0", b"C.1/0", b"\xff"):
        reception.hear("B", payload)
    assert reception.counts == {"B": {"different": 3, "again or out of order": 1, "foreign": 2}}


class Seen(Unicast):
    """Endpoints that a test looks at."""

    every: list[Unicast] = []

    def __init__(self, name: str, config: Config, options: Options) -> None:
        super().__init__(name, config, options)
        self.every.append(self)


def test_what_was_acknowledged_counts_after_its_connection_is_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(member, "Unicast", Seen)
    monkeypatch.setattr(member, "BRISK", replace(member.BRISK, conn_close_timeout=0.01))

    async def live() -> bool:
        async with await Unicast.open("A") as free:
            port = free.address[1]
        async with await Unicast.open("B") as b:
            b.connect("A", (LOOPBACK, port))
            a = Member("A", port, {"B": b.address[1]}, 3, 1, PATIENCE, Faults(), 0)
            life = asyncio.create_task(serve(a))
            came = b.receive()
            places = [(await anext(came))[1].partition(b"/")[2] for _ in range(3)]
            assert places == [b"0", b"1", b"2"]
            (seen,) = Seen.every
            await seen.flushed("B")
            seen.close("B")
            await seen.until(lambda: seen.entries("B")[0].state == Conn.CLOSED)
            await b.send("A", b"B.1/0")
            return await life

    assert asyncio.run(live())
    assert capsys.readouterr().out.splitlines()[1:] == [
        "from B: 1 different",
        "to B: 3 acknowledged, 0 in doubt",
        "dropped: nothing",
    ]


class Interrupted(Unicast):
    """After its first message, which is acknowledged, a signal comes."""

    async def send(self, peer: str, payload: bytes, *, ordered: bool = True) -> int:
        await super().send(peer, payload, ordered=ordered)
        await self.flushed(peer)
        signal.raise_signal(signal.SIGTERM)
        await asyncio.Event().wait()
        raise AssertionError("it goes on after its end")


def test_a_member_that_has_more_to_say_was_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """It expects nothing, and all that it has sent is acknowledged."""

    async def live() -> bool:
        async with await Unicast.open("A") as free:
            port = free.address[1]
        async with await Unicast.open("B") as b:
            b.connect("A", (LOOPBACK, port))
            monkeypatch.setattr(member, "Unicast", Interrupted)
            peers = {"B": b.address[1]}
            return await serve(Member("A", port, peers, 3, None, PATIENCE, Faults(), 0))

    assert not asyncio.run(live())
