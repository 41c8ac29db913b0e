"""The cluster over real sockets, in one event loop; and what clients may not do.

Nothing here sleeps in the hope that something has happened meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lawful.machines.queue_cluster.joining import Updatee
from lawful.machines.queue_cluster.messages import QueueName
from lawful.machines.queue_cluster.service import Client, CommandFailed, ConnectionLost, node
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.settings import Config
from lawful.machines.services import LOOPBACK
from tests.machines.queue_cluster.over_sockets import CONFIG, Cluster, clustered, taken


def test_a_message_goes_from_one_broker_to_another() -> None:
    async def work(cluster: Cluster) -> None:
        one, other = [await Client.connect(port) for port in cluster.ports]
        assert (one.node, other.node, one.cluster) == ("A.0001", "B.0002", 1)
        await one.declare("q")
        await other.declare("q")
        await other.subscribe("q", 2)
        for body in (b"one", b"two", b"three"):
            await one.send("q", body)
        first, second = await taken(other), await taken(other)
        assert [first.body, second.body] == [b"one", b"two"]
        assert [first.message, second.message] == ["A.0001/0", "A.0001/1"]
        await other.release(second)
        again = await taken(other)
        assert (again.body, again.redelivered) == (b"two", True)
        await other.accept(first)
        third = await taken(other)
        assert (third.body, third.redelivered) == (b"three", False)
        await other.accept(again)
        await other.accept(third)
        assert dict(cluster.brokers[1].stats())["messages"] == 0

    clustered("AB", work)


class Fresh(Updatee):
    """A machine of which there is no instance yet."""


def test_a_broker_compiles_its_machines_before_it_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        broker = Broker("A", 1, CONFIG)  # Nobody listens there.
        await broker.open()
        broker.close()

    monkeypatch.setattr(node, "Updatee", Fresh)
    asyncio.run(work())
    assert "__plan__" in vars(Fresh)


def test_a_rejected_message_goes_to_the_alternate_and_an_exchange_routes() -> None:
    async def work(cluster: Cluster) -> None:
        client = await Client.connect(cluster.ports[0])
        await client.declare("q", alternate="spoilt")
        await client.declare("wilted")
        await client.bind("alternate:q", "wilted")  # The first by name gets what is rejected.
        await client.declare("other")
        await client.bind("all", "q")
        await client.bind("all", "other")
        await client.publish("all", b"one")
        await client.subscribe("q")
        message = await taken(client)
        await client.reject(message)
        await client.subscribe("other")
        assert str((await taken(client)).queue) == "other"
        await client.subscribe("spoilt")
        spoilt = await taken(client)
        assert (str(spoilt.queue), spoilt.body) == ("spoilt", b"one")
        assert not spoilt.redelivered
        await client.reject(spoilt)  # It has no alternate: the message ends.
        assert cluster.brokers[0].stats()["messages"] == 1

    clustered("A", work)


def test_what_a_lost_broker_had_is_delivered_again_and_a_late_one_learns_all() -> None:
    async def work(cluster: Cluster) -> None:
        publisher, consumer = [await Client.connect(port) for port in cluster.ports]
        await consumer.declare("q")
        await consumer.subscribe("q", 1)
        await publisher.declare("q")
        for body in (b"one", b"two"):
            await publisher.send("q", body)
        held = await taken(consumer)
        late = await cluster.add("C")
        cluster.brokers[1].close()
        assert await consumer.next() is None
        with pytest.raises(ConnectionLost):
            await consumer.accept(held)
        heir = await Client.connect(cluster.ports[2])
        await heir.subscribe("q", 5)
        got = [await taken(heir), await taken(heir)]
        assert [(m.body, m.redelivered) for m in got] == [(b"one", True), (b"two", False)]
        assert late.node is not None
        assert late.node.owners[QueueName("q")].owner == late.node.me

    clustered("AB", work)


def test_a_bus_that_is_started_again_begins_another_cluster_and_clients_can_tell() -> None:
    """The messages are gone, and no name of a new one is that of an old one."""

    async def work(cluster: Cluster) -> None:
        client = await Client.connect(cluster.ports[0])
        await client.declare("q")
        await client.send("q", b"one")
        await client.subscribe("q")
        before = await taken(client)
        cluster.bus.close()
        assert await client.next() is None
        cluster.bus = Bus(CONFIG)
        await cluster.bus.open(cluster.at)
        for broker in cluster.brokers:
            await broker.serving()
        again, other = [await Client.connect(port) for port in cluster.ports]
        assert again.cluster == other.cluster != client.cluster
        assert again.node != client.node
        await again.declare("q")
        await again.send("q", b"two")
        await again.subscribe("q")
        after = await taken(again)
        assert (after.body, after.redelivered) == (b"two", False)
        assert after.message != before.message

    clustered("AB", work)


def test_a_destroyed_queue_ends_its_subscriptions_and_its_messages() -> None:
    async def work(cluster: Cluster) -> None:
        client = await Client.connect(cluster.ports[0])
        await client.declare("q")
        await client.send("q", b"one")
        await client.subscribe("q")
        message = await taken(client)
        await client.destroy("q")
        for act in (client.accept, client.release, client.reject):
            with pytest.raises(CommandFailed, match="does not have the message"):
                await act(message)
        await client.declare("q")
        await client.subscribe("q")
        await client.send("q", b"two")
        assert (await taken(client)).body == b"two"

    clustered("A", work)


def _kept(owner: object, name: str) -> Any:
    return vars(owner)[name]


def test_nothing_is_left_of_a_queue_that_is_destroyed_after_its_subscription_has_ended() -> None:
    """A client that keeps what it has got, queue after queue, made its broker grow."""

    async def work(cluster: Cluster) -> None:
        client = await Client.connect(cluster.ports[0])
        node = cluster.brokers[0].node
        (desk,) = _kept(cluster.brokers[0], "_desks")
        assert node is not None
        for _ in range(3):
            await client.declare("q")
            await client.send("q", b"one")
            await client.send("q", b"two")
            await client.subscribe("q")
            message, other = await taken(client), await taken(client)
            await client.unsubscribe("q")
            await client.accept(other)
            await client.destroy("q")
            for act in (client.accept, client.release, client.reject):
                with pytest.raises(CommandFailed, match="does not have the message"):
                    await act(message)
            assert sum(len(each.has) for each in _kept(desk, "_every")) == 0
            assert [len(_kept(desk, name)) for name in ("_every", "_has")] == [1, 0]
            assert _kept(node, "_left") == {}
            assert (node.replica.held, node.replica.settling) == (set(), set())

    clustered("A", work)


# Refusals.


def test_what_a_client_may_not_do_is_refused_and_changes_nothing() -> None:
    async def work(cluster: Cluster) -> None:
        client, other = [await Client.connect(cluster.ports[0]) for _ in range(2)]
        await client.declare("q")
        await client.send("q", b"one")
        await other.subscribe("q", 1)
        held = await taken(other)
        await client.subscribe("q", 1)
        refused: dict[str, Callable[[], Awaitable[None]]] = {
            "there is no queue nowhere": lambda: client.send("nowhere", b""),
            "no queue is bound to the exchange x": lambda: client.publish("x", b""),
            "there is no such queue": lambda: client.bind("x", "nowhere"),
            "a message has at most 100 bytes": lambda: client.send("q", bytes(101)),
            "it has a subscription to q": lambda: client.subscribe("q", 1),
            "a credit is in 1..10, not 11": lambda: other.subscribe("q2", 11),
            "it has no subscription to none": lambda: client.unsubscribe("none"),
            "does not have the message A.0001/0 of q": lambda: client.accept(held),
        }
        await client.declare("q2")
        for why, act in refused.items():
            with pytest.raises(CommandFailed, match=why):
                await act()
        for number in range(4):
            await client.send("q", b"%d" % number)
        with pytest.raises(CommandFailed, match="the queue q is full"):
            await client.send("q", b"one more")
        await client.declare("q3")
        await client.declare("q4")
        with pytest.raises(CommandFailed, match="there are 4 queues, and may be 4"):
            await client.declare("q5")
        assert cluster.brokers[0].stats()["refused_commands"] == len(refused) + 2
        await other.accept(held)

    clustered("A", work)


def test_a_command_that_no_broker_would_read_is_refused_at_once() -> None:
    """Else nobody would answer it: what is wrong with a line is told of no number."""

    async def work(cluster: Cluster) -> None:
        client = await Client.connect(cluster.ports[0])
        refused: dict[str, Callable[[], Awaitable[None]]] = {
            "DeclareQueue.queue: expected a string of 1 to 200 .* found ''": (
                lambda: client.declare("")
            ),
            "DeclareQueue.queue: expected characters": lambda: client.declare("\ud800"),
            "BindQueue.exchange: expected": lambda: client.declare("q" * 199, alternate="spoilt"),
            "BindQueue.queue: expected": lambda: client.declare("q", alternate="a" * 201),
            "Send.queue: expected": lambda: client.send("q" * 201, b""),
            "Subscribe.credit: expected a whole number": lambda: client.subscribe("q", -1),
            "a message has at most 1000000 bytes": lambda: client.publish("x", bytes(1_000_001)),
        }
        for why, act in refused.items():
            with pytest.raises(CommandFailed, match=why):
                await act()
        with pytest.raises(TypeError):
            await client.send("q", "text")  # type: ignore[arg-type]  # What is tried.
        assert cluster.brokers[0].stats().get("queues", 0) == 0
        await client.declare("q")
        with pytest.raises(ConnectionLost, match=": a line has at most 4137 bytes"):
            await client.send("q", bytes(100_000))

    clustered("A", work)


def test_a_queue_is_not_its_own_alternate() -> None:
    """What it rejected would come to it again, which the machine refuses."""

    async def work(cluster: Cluster) -> None:
        client = await Client.connect(cluster.ports[0])
        with pytest.raises(CommandFailed, match="the queue q is not its own alternate"):
            await client.declare("q", alternate="q")
        assert cluster.brokers[0].stats().get("queues", 0) == 0
        await client.declare("q")
        with pytest.raises(CommandFailed, match="the queue q is not its own alternate"):
            await client.bind("alternate:q", "q")
        await client.send("q", b"one")
        await client.subscribe("q")
        await client.reject(await taken(client))
        assert cluster.brokers[0].stats()["messages"] == 0

    clustered("A", work)


async def answers(port: int, data: bytes, count: int) -> list[dict[str, object]]:
    """What a broker answers to these bytes, after its Welcome; all, if it hangs up."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    await reader.readline()
    writer.write(data)
    lines = [await reader.readline() for _ in range(count)]
    writer.close()
    return [json.loads(line) for line in lines if line]


def test_lines_that_nobody_understands_are_answered_counted_and_cost_one_connection() -> None:
    async def work(cluster: Cluster) -> None:
        port, broker = cluster.ports[0], cluster.brokers[0]
        good = await Client.connect(port)
        await good.declare("q")
        said = await answers(port, b'nonsense\n{"kind":"Send","number":1}\n[]\n', 4)
        assert [answer["kind"] for answer in said] == ["Failed"] * 3  # Then it hangs up.
        assert said[0]["why"] == "expected a line of JSON, found b'nonsense'"
        said = await answers(port, b"x" * 10_000, 2)
        assert [answer["why"] for answer in said] == ["a line has at most 4137 bytes"]
        await good.send("q", b"one")
        counts = broker.stats()
        assert (counts["malformed"], counts["oversized"]) == (3, 1)

    clustered("A", work)


def test_the_bus_survives_strangers_and_a_member_that_lies() -> None:
    async def work(cluster: Cluster) -> None:
        _, stranger = await asyncio.open_connection(LOOPBACK, cluster.at)
        stranger.write(b'{"kind":"Say","said":1}\n{"kind":"Join","version":9,"name":"X"}\nno\n')
        reader, liar = await asyncio.open_connection(LOOPBACK, cluster.at)
        liar.write(b'{"kind":"Join","version":1,"name":"L"}\n')
        while b"Member" not in await reader.readline():
            pass
        for said in ("3", '{"kind":"Routed","seq":7}', '{"kind":"Left"}'):
            liar.write(b'{"kind":"Say","said":%s}\n' % said.encode())
        liar.write(b'{"kind":"Tell","to":"A.0001","told":{"kind":"Done","queue":"q"}}\n')
        while await reader.readline():  # Three lines that are refused cost it its connection.
            pass
        liar.close()
        client = await Client.connect(cluster.ports[0])
        await client.declare("q")
        await client.send("q", b"one")
        await client.subscribe("q")
        assert (await taken(client)).body == b"one"
        counts = cluster.brokers[0].stats()
        assert (counts["refused"], counts["unexpected"]) == (1, 0)
        assert cluster.bus.counts["unexpected"] == 2 + 3
        assert cluster.bus.counts["malformed"] == 1

    clustered("A", work)


@pytest.mark.parametrize(
    ("name", "value"),
    [("slice_seconds", 0.0), ("silence", 0.9), ("longest_body", -1), ("credit", 0)],
)
def test_a_configuration_out_of_its_range_is_an_error(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        Config(**{name: value})  # type: ignore[arg-type]  # each has its type


@pytest.mark.parametrize("name", ["", "x" * 181, "\ud800"])
def test_a_broker_without_a_name_that_the_bus_takes_is_an_error(name: str) -> None:
    """It would ask to join for ever."""

    async def work() -> None:
        with pytest.raises(ValueError, match=r"the broker's name: expected|at most 180 characters"):
            Broker(name, 1)

    asyncio.run(work())


def test_a_client_does_not_wait_for_ever_for_a_broker_that_says_nothing() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        silent = await loop.create_server(asyncio.Protocol, LOOPBACK, 0)
        port = silent.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionLost, match=f"no broker greets at port {port}"):
            await Client.connect(port, Config(beat=0.01, silence=0.02))
        silent.close()

    asyncio.run(work())
