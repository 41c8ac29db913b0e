"""`lawful run queue_cluster` in processes of its own, and in this one."""

from __future__ import annotations

import asyncio
import io
import signal
import sys

import pytest

from lawful.machines.queue_cluster.messages import Node
from lawful.machines.queue_cluster.service import Client
from lawful.machines.queue_cluster.service.frames import VERSION, Answer, Welcome
from lawful.machines.queue_cluster.service.program import main
from lawful.machines.queue_cluster.service.wire import encode
from lawful.machines.services import LOOPBACK
from tests.machines.queue_cluster.over_sockets import Cluster, clustered, taken
from tests.root import PATIENCE


def run_at(port: int, words: str, monkeypatch: pytest.MonkeyPatch, given: bytes = b"") -> int:
    """The exit code of the program, which uses the broker at this port and reads this input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    return main([*words.split(), f"--to={port}"])


def test_the_program_tells_what_was_published_and_that_the_broker_has_gone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work(cluster: Cluster) -> None:
        port = cluster.ports[0]
        lines = b"a\n\xff\nc\n" + bytes(101) + b"\ne\n"
        assert await asyncio.to_thread(run_at, port, "publish q", monkeypatch, lines) == 1
        client = await Client.connect(port)
        await client.subscribe("q")
        assert [(await taken(client)).body for _ in range(3)] == [b"a", b"\xff", b"c"]
        client.close()
        waiting = asyncio.create_task(
            asyncio.to_thread(run_at, port, "consume q --credit=1", monkeypatch)
        )
        while cluster.brokers[0].stats()["messages"]:  # Until it has accepted all.
            await asyncio.sleep(0)
        cluster.brokers[0].close()
        assert await waiting == 1

    clustered("A", work)
    lost = "lawful run queue_cluster: the connection to the broker has ended"
    assert capsys.readouterr().out.splitlines() == [
        "published 3 to q through A.0001",
        "lawful run queue_cluster: a message has at most 100 bytes",
        "A.0001/0 a (redelivered)",
        "A.0001/1 \N{REPLACEMENT CHARACTER} (redelivered)",
        "A.0001/2 c (redelivered)",
        lost,
    ]


def test_a_broker_says_that_it_is_no_member_any_more() -> None:
    """The bus ends, and with it the cluster; of its own end a broker says nothing like that."""

    async def work(cluster: Cluster) -> None:
        said: list[Node] = []
        for broker in cluster.brokers:
            broker.on_left = said.append
        cluster.brokers[0].close()
        assert said == []
        cluster.bus.close()
        while not said:
            await asyncio.sleep(0)
        assert ([f"{node}" for node in said], cluster.brokers[1].node) == (["B.0002"], None)

    clustered("AB", work)


@pytest.mark.nightly
def test_the_demo_kills_a_broker_and_every_promise_is_kept(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["demo", "--messages", "90", "--kill", "1", "--seed", "1"]
    assert main([*words, "--seconds", str(PATIENCE)]) == 0
    said = capfd.readouterr().out
    assert "seed 1: kill A" in said
    assert "every promise was kept" in said


def test_words_that_are_no_command_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", "q"]) == 5
    assert "--to" in capsys.readouterr().err
    assert main(["publish", "q", "--to", "1"]) == 5
    assert "lawful run queue_cluster: " in capsys.readouterr().out


class Mute(asyncio.Protocol):
    """A broker that greets, and stands still."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(encode(Welcome(VERSION, "A.0001", 1), Answer))


@pytest.mark.parametrize("words", ["publish q --messages 1", "consume q"])
def test_a_client_gives_up_a_broker_that_stands_still(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        mute = await asyncio.get_running_loop().create_server(Mute, LOOPBACK, 0)
        port = mute.sockets[0].getsockname()[1]
        given = f"{words} --seconds 0.01"
        assert await asyncio.to_thread(run_at, port, given, monkeypatch) == 1
        mute.close()

    asyncio.run(work())
    assert capsys.readouterr().out == "lawful run queue_cluster: the time is over\n"


def test_a_publisher_without_an_input_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work(cluster: Cluster) -> None:
        monkeypatch.setattr("sys.stdin", None)
        words = ["publish", "q", f"--to={cluster.ports[0]}"]
        assert await asyncio.to_thread(main, words) == 5

    clustered("A", work)
    assert capsys.readouterr().out.splitlines() == [
        "published 0 to q through A.0001",
        "lawful run queue_cluster: the standard input is closed: expected lines, or --messages",
    ]


def test_an_interrupt_ends_a_publisher_that_waits_for_input() -> None:
    async def work(cluster: Cluster) -> None:
        words = f"-m lawful run queue_cluster publish q --to={cluster.ports[0]}"
        pipe = asyncio.subprocess.PIPE
        publisher = await asyncio.create_subprocess_exec(
            sys.executable, *words.split(), stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert publisher.stdin is not None
        publisher.stdin.write(b"a\nb")
        client = await Client.connect(cluster.ports[0])
        await client.declare("q")
        await client.subscribe("q")
        assert (await taken(client)).body == b"a"
        client.close()
        publisher.send_signal(signal.SIGINT)
        await publisher.wait()
        assert publisher.stdout is not None
        said = await publisher.stdout.read()
        # The answer may not have come yet.
        assert said in [b"published %d to q through A.0001\n" % count for count in (0, 1)]

    clustered("A", work)
