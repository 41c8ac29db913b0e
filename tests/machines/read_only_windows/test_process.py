"""A node as a process, and what may happen to one: signals, a full disk, and clients that do harm.

Every moment comes from a printed seed or from what has been answered; nobody sleeps.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lawful.machines.read_only_windows.service.front import LONGEST_BODY
from lawful.machines.read_only_windows.service.http_server import MOST_CONNECTIONS
from lawful.machines.read_only_windows.service.load_clients import Load, Seen, judge, loaded
from lawful.machines.services import LOOPBACK
from tests.root import PATIENCE

pytestmark = pytest.mark.nightly
SHORT = ("--read-only-transaction-num-threads=3", "--read-write-window-time=50")
WRITERS = 4


@dataclass
class Node:
    """A process, and how to ask it."""

    process: subprocess.Popen[str]
    port: int

    def ask(self, path: str, content: object = None, timeout: float = PATIENCE) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=timeout)
        with contextlib.closing(connection):
            body = None if content is None else json.dumps(content)
            connection.request("GET" if body is None else "POST", f"/v1/chain/{path}", body)
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def write(self, *steps: object) -> tuple[int, Any]:
        return self.ask("send_transaction2", {"steps": steps})

    def values(self, keys: Iterable[str]) -> list[Any]:
        """What the keys have."""
        given = list(keys)
        found: list[Any] = []
        for at in range(0, len(given), 200):
            status, content = self.ask("get_table", {"keys": given[at : at + 200]})
            assert status == 200
            found += content["values"]
        return found

    def end(self) -> tuple[int, str]:
        """End it as its user would; the exit code, and what it says last."""
        self.process.terminate()
        said, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said.splitlines()[-1]


@contextlib.contextmanager
def running(*words: str, limit: int | None = None) -> Generator[Node, None, None]:
    """A node; none of its files may have more bytes than `limit`."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "lawful", "run", "read_only_windows", "serve", *SHORT, *words]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=limited,  # noqa: PLW1509  # It takes no lock.
    )
    try:
        assert process.stdout is not None
        yield Node(process, int(process.stdout.readline().split()[-1]))
    finally:
        process.kill()
        process.communicate()


EARLY = """
import signal, sys
from lawful.cli import main
from lawful.machines.read_only_windows.service import http_server

class Early(http_server._Server):
    def run(self, sockets=None):
        signal.raise_signal(signal.{number})
        super().run(sockets)

http_server._Server = Early
sys.exit(main(["run", "read_only_windows", "serve"]))
"""


@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_a_signal_before_the_server_is_up_ends_the_node(number: str) -> None:
    words = [sys.executable, "-W", "error", "-c", EARLY.format(number=number)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[1:] == ["nothing"]


# Killed, stopped, out of space.


@pytest.mark.parametrize("seed", range(6))
def test_every_acknowledged_write_outlives_a_kill(seed: int, tmp_path: Path) -> None:
    """Each write counts, and puts a key of its own: both are there, or neither."""
    file = f"--file={tmp_path / 'state.db'}"
    acknowledged: list[str] = []
    sent: list[str] = []
    enough, kill_after = threading.Event(), random.Random(seed).randint(1, 120)

    def writes(node: Node, client: int) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            for number in range(1_000_000):
                key = f"{client} {number}"
                sent.append(key)
                status, _ = node.write({"add": ["n", 1]}, {"put": [key, number]})
                if status == 200:
                    acknowledged.append(key)
                if len(acknowledged) >= kill_after:
                    enough.set()

    with running(file) as node:
        threads = [threading.Thread(target=writes, args=(node, each)) for each in range(WRITERS)]
        for thread in threads:
            thread.start()
        assert enough.wait(PATIENCE)
        node.process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
        assert node.process.wait() == -signal.SIGKILL
    with running(file) as node:
        kept = {
            key for key, value in zip(sent, node.values(sent), strict=True) if value is not None
        }
        assert set(acknowledged) <= kept
        assert len(kept) <= len(acknowledged) + WRITERS
        assert node.values(["n"]) == [len(kept)]
        assert node.end()[0] == 0


def test_a_node_that_is_stopped_goes_on() -> None:
    """It answers what came meanwhile; what was executed for too long says so."""
    with running() as node, ThreadPoolExecutor(1) as pool:
        load = pool.submit(loaded, node.port, Load(readers=3, writers=2, seconds=4.0))
        for _ in range(3):
            node.process.send_signal(signal.SIGSTOP)
            with pytest.raises(TimeoutError):
                node.ask("get_info", timeout=0.5)
            node.process.send_signal(signal.SIGCONT)
            assert node.ask("get_info")[0] == 200
        judged = load.result()
        assert judged.problems == []
        assert {seen.status for seen in judged.seen} <= {200, 504}
        assert node.write({"add": ["n", 0]})[0] == 200
        assert node.end()[0] == 0


def test_a_full_disk_fails_a_write_and_nothing_else(tmp_path: Path) -> None:
    file = f"--file={tmp_path / 'state.db'}"
    with running(file, limit=60_000) as node:
        answers = [(200, {"outcome": ""})]
        while answers[-1][0] == 200:
            key = f"k{len(answers) - 1}"
            answers.append(node.write({"put": [key, "x" * 1_000]}, {"add": ["n", 1]}))
        status, content = answers[-1]
        kept = len(answers) - 2
        assert (status, content["outcome"]) == (422, "failed")
        keys = [f"k{number}" for number in range(kept + 1)]
        there = ["x" * 1_000] * kept + [None]
        assert kept > 10
        assert (node.values(keys), node.values(["n"])) == (there, [kept])
        assert node.end()[0] == 0
    with running(file) as node:
        assert (node.values(keys), node.values(["n"])) == (there, [kept])
        assert node.write({"put": [keys[-1], 1]}, {"add": ["n", 1]}) == (
            200,
            {"values": [kept + 1], "tries": 1},
        )


# Clients.


def raw(port: int, *pieces: bytes) -> bytes:
    """What comes back until the node closes the connection; empty if it resets it."""
    with socket.create_connection((LOOPBACK, port), timeout=PATIENCE) as connection:
        answer = b""
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
            while found := connection.recv(65_536):
                answer += found
        return answer


def head(path: str, length: int | None) -> bytes:
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return f"POST /v1/chain/{path} HTTP/1.1\r\nHost: a\r\n{size}\r\n\r\n".encode()


WRITE = "send_transaction2"
LONG = json.dumps({"steps": [{"work": 100}, {"add": ["hung up", 1]}]}).encode()
TOO_LONG = b"x" * (LONGEST_BODY + 1)
HARM: dict[str, tuple[bytes, Callable[[bytes], bool]]] = {
    "garbage": (b"\x00\xff\r\n\r\n", lambda said: said.startswith(b"HTTP/1.1 400")),
    "oversized": (
        head(WRITE, len(TOO_LONG)) + TOO_LONG,
        lambda said: said.startswith(b"HTTP/1.1 413"),
    ),
    "oversized in chunks": (
        head(WRITE, None) + b"%x\r\n%s\r\n" % (len(TOO_LONG), TOO_LONG),
        lambda said: said.startswith(b"HTTP/1.1 413"),
    ),
    "a slow body": (head(WRITE, 50) + b"{", lambda said: said.startswith(b"HTTP/1.1 408")),
    "a slow head": (head(WRITE, 50)[:20], lambda said: said == b""),
    "silent": (b"", lambda said: said == b""),
}


def deaf(port: int) -> int:
    """Ask for more than the connection holds, and read nothing until the node has closed it."""
    keys = json.dumps({"keys": ["long"] * 200}).encode()
    with socket.create_connection((LOOPBACK, port), timeout=PATIENCE) as connection:
        asked = 0
        with contextlib.suppress(ConnectionError):
            while True:
                connection.sendall(head("get_table", len(keys)) + keys)
                asked += 1
        return asked


def test_a_full_disk_of_the_journal_ends_the_node(tmp_path: Path) -> None:
    """With a message and the exit code 1, and nobody waits any more."""
    with running(f"--journal={tmp_path / 'events.jsonl'}", limit=40_000) as node:
        with contextlib.suppress(ConnectionError, http.client.HTTPException):
            while node.write({"add": ["n", 1]})[0] == 200:
                pass
        said, _ = node.process.communicate(timeout=PATIENCE)
    assert node.process.returncode == 1
    assert "the state is broken: OSError: [Errno 27] File too large" in said


def test_clients_that_do_harm_harm_themselves_alone() -> None:
    seen: list[Seen] = []
    with running() as node, ThreadPoolExecutor(len(HARM) + 2) as pool:
        assert node.write({"put": ["long", "x" * 1_000]})[0] == 200
        reads_nothing = pool.submit(deaf, node.port)
        good = pool.submit(loaded, node.port, Load(readers=2, writers=1, seconds=2.0))
        answers = {name: pool.submit(raw, node.port, sent) for name, (sent, _) in HARM.items()}
        for length in [len(LONG), len(LONG) - 7] * 10:
            with socket.create_connection((LOOPBACK, node.port)) as connection:
                connection.sendall(head(WRITE, len(LONG)) + LONG[:length])
        found = {name: answer.result() for name, answer in answers.items()}
        assert [name for name, said in found.items() if not HARM[name][1](said)] == [], found
        judged = good.result()
        seen += judged.seen
        assert (judged.problems, {each.status for each in seen}) == ([], {200})
        info = node.ask("get_info")[1]
        assert (info["queued"], info["executing"], info["held"]) == (0, 0, 0)
        counted = {name: info["http"][name] for name in ("oversized", "slow", "gone", "garbage")}
        assert counted == {"oversized": 2, "slow": 1, "gone": 10, "garbage": 1}
        assert reads_nothing.result() > 0
        assert node.ask("get_info")[1]["http"]["unread"] == 1
        assert 0 <= (node.values(["hung up"])[0] or 0) <= 10
        code, said = node.end()
    assert code == 0
    assert "oversized 2" in said
    assert judge(seen) == []


def test_one_connection_too_many_is_refused_and_the_others_go_on() -> None:
    with running() as node, contextlib.ExitStack() as stack:
        kept = http.client.HTTPConnection(LOOPBACK, node.port, timeout=PATIENCE)
        stack.callback(kept.close)
        kept.request("GET", "/v1/chain/get_info")
        assert json.loads(kept.getresponse().read())["http"] == {}
        for _ in range(MOST_CONNECTIONS - 1):
            stack.enter_context(socket.create_connection((LOOPBACK, node.port), PATIENCE))
        for _ in range(2):
            assert node.ask("get_info") == (503, {"error": "too many connections"})
        kept.request("GET", "/v1/chain/get_info")
        counts = json.loads(kept.getresponse().read())["http"]
        assert counts == {"200": 1, "503": 2, "overloaded": 2}


def test_a_node_ends_though_clients_stay() -> None:
    """Who waits is answered; who sends nothing is not waited for."""
    with running("--max-write-time=60000") as node, ThreadPoolExecutor(1) as pool:
        silent = socket.create_connection((LOOPBACK, node.port))
        waits = pool.submit(node.write, {"work": 60_000})
        while node.ask("get_info")[1]["counts"].get("write") != 1:
            pass
        assert node.end()[0] == 0
        assert waits.result() == (
            503,
            {"error": "the node shuts down", "outcome": "abandoned"},
        )
        silent.close()


def test_a_port_in_use_is_refused() -> None:
    with running() as node:
        words = [sys.executable, "-m", "lawful", "run", "read_only_windows", "serve"]
        again = subprocess.run(
            [*words, f"--port={node.port}"], capture_output=True, text=True, check=False
        )
    assert again.returncode == 5
    assert "Address already in use" in again.stdout
