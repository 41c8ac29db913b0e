"""An endpoint among many peers, liars and failing applications."""

from __future__ import annotations

import asyncio
import errno
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.machines.unicast.declaration import Conn, ReceiverEntryFixed
from lawful.machines.unicast.messages import Ack, Close, Data, Dropped
from lawful.machines.unicast.service import EndpointClosed, Unicast
from lawful.machines.unicast.service.peer import PATIENCE, Requests
from lawful.machines.unicast.service.relay import Faults
from lawful.machines.unicast.service.settings import Options
from lawful.machines.unicast.service.wire import LONGEST_PAYLOAD, Batch, encode
from lawful.runtime.journal import Journal, read
from tests.machines.unicast.ends import QUICK, data, heard, joined, probed, timed
from tests.root import PATIENCE as SECONDS

KEY = b"a secret of all endpoints"


@timed
async def test_text_is_refused_and_changes_nothing() -> None:
    async with joined() as (a, b, _):
        for wrong in ("text", bytearray(b"changes"), None):
            with pytest.raises(TypeError):
                await a.send("B", wrong)  # type: ignore[arg-type]  # that is the test
        assert a.stats().accepted == a.stats().connections["B"].sent == 0
        assert await a.send("B", b"bytes") == 1
        assert await heard(b, 1) == [b"bytes"]


@timed
async def test_what_on_dropped_raises_is_told_and_does_no_harm() -> None:
    told: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
    error = RuntimeError("the application failed")

    def fail(_peer: str, _dropped: Dropped) -> None:
        raise error

    async with joined(options=Options(on_dropped=fail)) as (a, b, relay):
        relay.cut("A>B")
        await a.send("B", b"1")
        a.close("B")
        await a.until(lambda: a.stats().connections["B"].sending == Conn.CLOSED)
        relay.mend("A>B")
        assert (told, a.stats().raised, a.stats().in_doubt) == ([error], 1, 1)
        await a.send("B", b"2")
        assert await heard(b, 1) == [b"2"]


@timed
async def test_only_peers_with_something_to_do_are_visited() -> None:
    events = Counter[str]()
    async with joined() as (a, b, _):
        for number in range(300):
            name = f"P{number}"
            a.connect(name, a.address)
            for entry in a.entries(name):
                entry.lawful.observe(lambda done: events.update([str(done.event)]))
        for number in range(20):
            await a.send("B", b"%d" % number)
        assert len(await heard(b, 20)) == 20
        await a.flushed("B")
        assert events == Counter()
        await a.send("P7", b"nobody answers")
        await a.until(lambda: events["task"] >= 3)
        assert events == Counter({"send": 1, "task": events["task"]})


@timed
async def test_a_peer_that_has_nothing_to_do_is_visited_no_more() -> None:
    tasks: list[str] = []
    async with joined() as (a, b, _):
        a.entries("B")[0].lawful.observe(lambda done: tasks.append(str(done.event)))
        await a.send("B", b"1")
        assert await heard(b, 1) == [b"1"]
        await a.flushed("B")
        rounds = 0

        def after_some_rounds() -> bool:
            nonlocal rounds
            rounds += 1
            return rounds > 8

        await a.until(after_some_rounds)
        seen = len(tasks)
        rounds = 0
        await a.until(after_some_rounds)
        assert len(tasks) == seen


@timed
async def test_a_peer_is_forgotten_and_met_again() -> None:
    options = Options(epoch=100)
    async with joined(options=options) as (a, b, _):
        address = b.address
        await a.send("B", b"1")
        assert await heard(b, 1) == [b"1"]
        await a.disconnect("B")
        assert a.stats().connections == {}
        with pytest.raises(KeyError):
            await a.send("B", b"2")
        await b.send("A", b"nobody knows me")
        await a.until(lambda: a.stats().unknown > 0)
        a.connect("B", address)
        assert await a.send("B", b"3") == 1
        assert await heard(b, 1) == [b"3"]
        assert b.entries("A")[1].conn == 102  # Larger than all before.
        assert await heard(a, 1) == [b"nobody knows me"]


@timed
async def test_a_journal_has_the_rows_of_a_peer_that_is_met_again(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        async with joined(options=Options(journal=journal)) as (a, b, _):
            address = b.address
            for payload in (b"1", b"2"):
                a.connect("B", address)
                await a.send("B", payload)
                assert await heard(b, 1) == [payload]
                await a.disconnect("B")
    rows = [row for row in read(path) if row["instance"] == "A>B/sender"]
    assert [row["seq"] for row in rows] == [*range(len(rows))]
    assert [row["outcome"] for row in rows if row["event"] is None] == ["made", "attached"]
    assert (
        main(["replay", str(path), "lawful.machines.unicast.declaration"]) == ExitCode.AS_EXPECTED
    )


@timed
async def test_a_peer_that_the_journal_does_not_take_is_not_met(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        async with joined(options=Options(journal=journal)) as (a, b, _):
            journal.attach(ReceiverEntryFixed(), "C>A/receiver")
            with pytest.raises(ValueError, match="has an instance C>A/receiver already"):
                a.connect("C", b.address)
            assert [*a.stats().connections] == ["B"]
            journal.attach(ReceiverEntryFixed(), "A>C/sender")  # Its sender was taken out again.


@timed
async def test_who_waits_to_send_to_a_peer_that_is_forgotten_is_told() -> None:
    async with joined(replace(QUICK, window=1)) as (a, _, relay):
        relay.cut("A>B")
        await a.send("B", b"1")
        waiting = asyncio.create_task(a.send("B", b"2"))
        await a.until(lambda: a.stats().messages_sent.get("Data", 0) > 2)
        await a.disconnect("B")
        with pytest.raises(KeyError):
            await waiting
        assert a.stats().in_doubt == 1


@timed
async def test_who_forgets_a_peer_acknowledges_what_it_has_got_from_it() -> None:
    async with joined(replace(QUICK, ack_interval=SECONDS)) as (a, b, _):
        await b.send("A", b"1")
        assert await heard(a, 1) == [b"1"]
        await a.disconnect("B")
        await b.flushed("A")
        assert b.stats().in_doubt == 0


@timed
async def test_what_is_in_the_inbox_outlives_its_peer() -> None:
    async with joined(replace(QUICK, inbox=1)) as (a, b, _):
        await b.send("A", b"1")
        await b.send("A", b"2")
        await a.until(lambda: a.stats().messages_received.get("Data", 0) >= 2)
        await a.disconnect("B")
        assert await heard(a, 1) == [b"1"]
        await b.until(lambda: b.stats().connections["A"].acked == 1)


@timed
async def test_a_peer_that_is_about_to_be_forgotten_is_not_met_again_before() -> None:
    async with joined() as (a, b, relay):
        address = b.address
        relay.cut("A>B")
        await a.send("B", b"1")
        first, second = (asyncio.create_task(a.disconnect("B")) for _ in range(2))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="connect B again once disconnect has returned"):
            a.connect("B", address)
        await first
        a.connect("B", address)
        await second  # The peer that is known now is another one.
        relay.mend("A>B")
        assert await a.send("B", b"2") == 1
        assert await heard(b, 1) == [b"2"]


@timed
async def test_who_is_cancelled_while_it_forgets_a_peer_knows_it() -> None:
    async with joined() as (a, b, relay):
        relay.cut("A>B")
        await a.send("B", b"1")
        leaving = asyncio.create_task(a.disconnect("B"))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        relay.mend("A>B")
        await a.send("B", b"2")
        assert await heard(b, 2) == [b"1", b"2"]


@timed
async def test_nobody_hears_more_of_a_peer_that_is_forgotten(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        async with joined(options=Options(journal=journal)) as (a, b, _):
            entry = a.entries("B")[0]
            await a.send("B", b"1")
            await a.flushed("B")
            await a.disconnect("B")
            journal.flush()
            rows = len([*read(tmp_path / "j")])
            entry.send(b"2")
            entry.close()
            a.connect("C", b.address)
            await a.send("C", b"1")
            a.close("C")
            await a.until(lambda: a.entries("C")[0].state == Conn.CLOSED)
            assert entry.state == Conn.CLOSING  # Its timer ran out before, and nobody fired it.
        journal.flush()
        named = [str(row["instance"]) for row in [*read(tmp_path / "j")][rows:]]
    assert {name.split("/")[0] for name in named} == {"A>C", "C>A"}


@timed
async def test_large_messages_go_through_a_bad_network_in_few_datagrams() -> None:
    config = replace(QUICK, xmit_interval=0.02, ack_interval=0.02, window=32)
    async with joined(config, faults=Faults(loss=1 / 3)) as (a, b, _):
        sending = asyncio.create_task(_send_all(a, 60, bytes(LONGEST_PAYLOAD - 100)))
        assert len(await heard(b, 60)) == 60
        await sending
        await a.flushed("B")
        # 60 messages, of which a third is lost each time, are some 90 datagrams; ends resend, too.
        assert a.stats().messages_sent["Data"] <= 300


async def _send_all(end: Unicast, count: int, payload: bytes) -> None:
    for _ in range(count):
        await end.send("B", payload)


@timed
async def test_bytes_that_are_not_acknowledged_are_limited() -> None:
    async with joined(replace(QUICK, window_bytes=1_000)) as (a, b, relay):
        relay.cut("A>B")
        tasks = [asyncio.create_task(a.send("B", bytes(400))) for _ in range(4)]
        await a.until(lambda: a.stats().messages_sent.get("Data", 0) > 3)
        assert [task.done() for task in tasks] == [True, True, False, False]
        relay.mend("A>B")
        assert await asyncio.gather(*tasks) == [1, 2, 3, 4]
        await a.flushed("B")
        assert await a.send("B", bytes(5_000)) == 5  # One message always may.
        assert len(await heard(b, 5)) == 5


def test_a_request_is_repeated_when_answers_have_ceased() -> None:
    entry, requests = ReceiverEntryFixed(), Requests()
    asked: list[bool] = []
    entry.data(data(1))
    for number in range(8):  # Something comes in each round.
        entry.data(data(number + 3))
        asked.append(requests.due(entry))
    assert asked == [True, *[False] * (PATIENCE - 1)] * 2
    asked = [requests.due(entry) for _ in range(12)]
    assert [n for n, due in enumerate(asked) if due] == [0, 2, 6, 10]


# With a key.


@timed
async def test_a_forged_datagram_deafens_nobody() -> None:
    async with joined(options=Options(key=KEY)) as (a, b, _):
        assert b.stats().forged == 0
        await a.send("B", b"B has no key")
        await b.until(lambda: b.stats().malformed > 0)
    async with probed(Options(key=KEY)) as (a, probe):
        largest = Batch("P", "A", (data(1, conn=2**64 - 1), Close(conn=1)), 1)
        good = encode(Batch("P", "A", (data(1, conn=5),), 1), KEY)
        probe.raw(encode(largest))
        probe.raw(encode(largest, b"another key"))
        probe.raw(good[:-1] + b"?")
        probe.raw(good[:20])
        probe.raw(good)
        assert await heard(a, 1) == [b"1"]
        assert a.entries("P")[1].conn == 5
        assert (a.stats().forged, a.stats().datagrams_received) == (4, 5)


@timed
async def test_endpoints_with_the_same_key_understand_each_other() -> None:
    async with (
        await Unicast.open("A", QUICK, Options(key=KEY)) as a,
        await Unicast.open("B", QUICK, Options(key=KEY)) as b,
    ):
        a.connect("B", b.address)
        b.connect("A", a.address)
        await a.send("B", b"hello")
        assert await heard(b, 1) == [b"hello"]
        await a.flushed("B")
        assert (b.stats().forged, b.stats().malformed, a.stats().forged) == (0, 0, 0)


# The end.


@timed
async def test_closing_acknowledges_and_closes() -> None:
    config = replace(QUICK, ack_interval=SECONDS, xmit_interval=SECONDS)
    async with probed(Options(epoch=0), config) as (a, probe):
        probe.say(data(1), data(2))
        assert await heard(a, 2) == [b"1", b"2"]
        await a.send("P", b"1")
        probe.say(Ack(seqno=1, conn=1))
        await a.flushed("P")
        await a.aclose()
        said = [await probe.inbox.get() for _ in range(3)]
        assert said == [data(1), Ack(seqno=2, conn=1), Close(conn=1)]


@timed
async def test_closing_reports_what_is_in_doubt() -> None:
    reports: list[Dropped] = []
    options = Options(on_dropped=lambda _, dropped: reports.append(dropped))
    async with joined(options=options) as (a, _, relay):
        relay.cut("A>B")
        await a.send("B", b"1")
        await a.aclose()
        with pytest.raises(EndpointClosed):
            await a.send("B", b"2")
    doubt = Data(seqno=1, conn=1, first=True, payload=b"1")
    assert reports == [Dropped(conn=1, acked=0, in_doubt=frozenset({doubt}))]


@timed
async def test_a_port_may_be_chosen_again_after_a_restart() -> None:
    async with await Unicast.open("A", QUICK) as a:
        address = a.address
        async with await Unicast.open("B", QUICK) as b:
            port = b.address[1]
            a.connect("B", b.address)
            b.connect("A", address)
            await a.send("B", b"1")
            assert await heard(b, 1) == [b"1"]
            await a.flushed("B")
        async with await Unicast.open("B", QUICK, port=port) as again:
            again.connect("A", address)
            assert again.address == ("127.0.0.1", port)
            await a.send("B", b"2")
            assert await heard(again, 1) == [b"2"]
        with pytest.raises(OSError) as error:
            await Unicast.open("C", QUICK, port=address[1])
        assert error.value.errno == errno.EADDRINUSE
        assert error.value.strerror == f"127.0.0.1 port {address[1]}: Address already in use"


class SetBack:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.behind = 0.0

    def now(self) -> float:
        return asyncio.get_running_loop().time() - self.behind


@timed
async def test_a_receiver_whose_clock_goes_back_acknowledges_in_time() -> None:
    """The sender is acknowledged long before the clock has caught up, and nothing is in doubt."""
    clock = SetBack()
    async with joined(options=Options(clock=clock)) as (a, b, _):
        for number in range(4):
            clock.behind += 1_000.0  # Where an ack of what was sent before is still to come.
            await b.send("A", b"%d" % number)
            assert await heard(a, 1) == [b"%d" % number]
        await b.flushed("A")
        assert b.stats().in_doubt == 0
        assert b.stats().connections["A"].acked == 4
