"""The scheduler as a service: callbacks, threads, stop; and over real sockets.

Nothing here sleeps in the hope that something has happened meanwhile.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from lawful import Refused
from lawful.machines.message_scheduler.declaration import ChannelId, Peer, Reason, Token
from lawful.machines.message_scheduler.service import (
    MessageScheduler,
    OfferOver,
    Stopped,
    program,
)
from lawful.machines.message_scheduler.service.clients import (
    BulkFetcher,
    Notifier,
    RetryElsewhere,
)
from lawful.machines.message_scheduler.service.offering import Message, Offering
from lawful.machines.message_scheduler.service.overlay import connected
from lawful.machines.message_scheduler.service.program import main
from lawful.machines.message_scheduler.service.responder import Behaviour, answer
from lawful.machines.message_scheduler.service.settings import Config, Options
from lawful.machines.message_scheduler.service.wire import Notification, Request
from lawful.runtime.journal import Journal
from lawful.runtime.timers import SimulatedClock
from tests.machines.drawn import same_journal
from tests.machines.message_scheduler.doubles import (
    MESSAGE,
    Client,
    Link,
    asks_first,
    first,
    is_right,
    responding,
)
from tests.root import PATIENCE

SMALL = Config(least=7, greatest=99)


def test_the_page_shows_the_journal_of_a_request(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        scheduler = MessageScheduler(SMALL, Options(clock=SimulatedClock(), journal=journal))
        peer = scheduler.connect(Link(), "A", 2)
        scheduler.schedule(Client(asks_first))
        scheduler.receive(peer, 7, "ledger", b"the answer")
    same_journal(tmp_path / "j")


def made(
    clock: SimulatedClock | None = None,
) -> tuple[MessageScheduler, Link, Peer, list[Exception]]:
    """A scheduler with one peer of one channel, and the exceptions of callbacks."""
    failed: list[Exception] = []
    options = Options(clock=clock or SimulatedClock(), failed=failed.append)
    scheduler, link = MessageScheduler(SMALL, options), Link()
    return scheduler, link, scheduler.connect(link, "A", 1), failed


def test_a_request_is_offered_sent_and_answered() -> None:
    scheduler, link, peer, failed = made()
    client = Client(asks_first)
    assert scheduler.schedule(client) == Token("2")
    assert link.frames == [Request(7, "ledger", b"1")]
    scheduler.receive(Peer("B#9"), 7, "ledger", b"of another peer")
    scheduler.receive(peer, 8, "ledger", b"of another request")
    scheduler.receive(peer, 7, "object", b"of another type")
    scheduler.receive(peer, 7, "ledger", b"yes")
    scheduler.receive(peer, 7, "ledger", b"again")
    assert client.heard == [("offer", 1), (7, b"yes")]
    assert not failed
    stats = scheduler.stats()
    assert (stats.waiting, stats.outstanding, stats.open, stats.closed) == (0, 0, 1, 0)
    assert dict(stats.counts) == {
        "connected": 1, "offers": 1, "requests": 1, "strays": 4, "successes": 1
    }  # fmt: skip


def test_time_and_disconnection_fail_a_request() -> None:
    clock = SimulatedClock()
    scheduler, _, peer, _ = made(clock)
    woken: list[float | None] = []
    scheduler.driven(lambda: woken.append(clock.now()))
    late, gone = Client(asks_first), Client(asks_first)
    scheduler.schedule(late)
    scheduler.schedule(gone)
    assert woken == [0.0]
    assert scheduler.wait() == 30.0
    clock.advance(29.0)
    scheduler.fire_due()
    assert late.heard == [("offer", 1)]
    clock.advance(1.0)
    scheduler.fire_due()
    assert late.heard == [("offer", 1), (7, Reason.TIMEOUT)]
    assert gone.heard == [("offer", 1)]
    scheduler.disconnect(peer)
    scheduler.disconnect(peer)
    assert gone.heard == [("offer", 1), (8, Reason.DISCONNECT)]
    assert scheduler.stats().counts["disconnected"] == 1


def test_a_timer_is_looked_at_once_the_clock_has_jumped_over_another_one() -> None:
    """Who waits would else come when the first one was to be due, by a clock that did not jump."""
    clock = SimulatedClock()
    scheduler = MessageScheduler(SMALL, Options(clock=clock))
    scheduler.connect(Link(), "A", 2)
    woken: list[float | None] = []
    scheduler.driven(lambda: woken.append(clock.now()))
    late, next_one = Client(asks_first), Client(asks_first)
    scheduler.schedule(late)
    clock.advance(3_600.0)
    scheduler.schedule(next_one)
    assert woken == [0.0, 3_600.0]
    scheduler.fire_due()
    assert late.heard == [("offer", 2), (7, Reason.TIMEOUT)]
    assert (next_one.heard, scheduler.wait()) == ([("offer", 1)], 30.0)


def test_the_channel_of_a_notification_is_open_after_its_time() -> None:
    clock = SimulatedClock()
    scheduler, _, _, failed = made(clock)

    def tells(_: Client, offering: Offering) -> None:
        offering.send_notification(first(offering), MESSAGE)

    scheduler.schedule(Client(tells))
    found: list[tuple[int, int]] = []
    for _ in range(2):
        clock.advance(MESSAGE.timeout - 0.001 if not found else 0.001)
        scheduler.fire_due()
        stats = scheduler.stats()
        found.append((stats.open, stats.closed))
    assert (found, failed) == ([(0, 1), (1, 0)], [])


def test_of_a_clock_that_goes_back_no_time_has_passed() -> None:
    class Jumping:
        time = 100.0

        def now(self) -> float:
            return self.time

    clock = Jumping()
    scheduler = MessageScheduler(SMALL, Options(clock=clock))
    scheduler.connect(Link(), "A", 1)
    client = Client(asks_first)
    scheduler.schedule(client)
    clock.time = 20.0
    scheduler.fire_due()
    assert scheduler.wait() == 30.0
    clock.time = 49.0
    scheduler.fire_due()
    assert (scheduler.wait(), client.heard[1:]) == (1.0, [])
    clock.time = 50.0
    scheduler.fire_due()
    assert client.heard[1:] == [(7, Reason.TIMEOUT)]


def test_what_is_withdrawn_is_not_called() -> None:
    scheduler, _, peer, _ = made()
    asking, waiting = Client(asks_first), Client(asks_first)
    scheduler.schedule(asking)
    token = scheduler.schedule(waiting)
    assert token is not None
    assert [scheduler.withdraw(token), scheduler.withdraw(token)] == [True, False]
    assert [scheduler.withdraw(7), scheduler.withdraw(7)] == [True, False]
    scheduler.receive(peer, 7, "ledger", b"late")
    scheduler.stop()
    assert asking.heard == [("offer", 1)]
    assert waiting.heard == []


def test_stop_tells_everybody_and_accepts_nobody() -> None:
    scheduler, link, _, _ = made()
    asking, waiting, after = Client(asks_first), Client(), Client()
    scheduler.schedule(asking)
    scheduler.schedule(waiting)
    scheduler.stop()
    scheduler.stop()
    assert asking.heard == [("offer", 1), (7, Reason.SHUTDOWN)]
    assert waiting.heard == ["discard"]
    assert scheduler.schedule(after) is None
    with pytest.raises(Stopped):
        scheduler.connect(link, "B", 1)
    assert after.heard == []


def test_stop_inside_a_callback_does_not_wait_for_itself() -> None:
    scheduler, _, _, failed = made()
    client = Client(lambda _, offering: scheduler.stop())
    scheduler.schedule(client)
    assert client.heard == [("offer", 1), "discard"]
    assert not failed


class Faulty:
    """A sender and receiver each of whose callbacks raises."""

    def __init__(self, sends: bool) -> None:
        self.sends = sends

    def on_offer(self, offering: Offering) -> None:
        if self.sends:
            offering.send_request(first(offering), MESSAGE, self)
        raise LookupError("on_offer")

    def on_discard(self) -> None:
        raise LookupError("on_discard")

    def on_success(self, number: int, body: bytes) -> None:
        raise LookupError("on_success")

    def on_failure(self, number: int, reason: Reason) -> None:
        raise LookupError(f"on_failure: {reason.value}")


def test_an_exception_in_any_callback_does_no_harm() -> None:
    clock = SimulatedClock()
    scheduler, _, peer, failed = made(clock)
    scheduler.schedule(Faulty(sends=True))
    scheduler.receive(peer, 7, "ledger", b"yes")
    scheduler.schedule(Faulty(sends=True))
    clock.advance(30.0)
    scheduler.fire_due()
    good = Client(asks_first)
    scheduler.schedule(good)
    scheduler.receive(peer, 9, "ledger", b"yes")
    scheduler.schedule(Faulty(sends=False))
    scheduler.stop()
    said = ["on_offer", "on_success", "on_offer", "on_failure: timeout", "on_offer", "on_discard"]
    assert [str(error) for error in failed] == said
    assert good.heard == [("offer", 1), (9, b"yes")]
    assert scheduler.stats().counts["raised"] == 6


def test_an_interrupt_comes_out_after_the_other_callbacks() -> None:
    scheduler, _, _, _ = made()

    def interrupted(_: Client, offering: Offering) -> None:
        raise KeyboardInterrupt

    behind = Client(asks_first)
    bad = Client(interrupted)
    with pytest.raises(KeyboardInterrupt):
        scheduler.schedule(bad)
    scheduler.schedule(behind)
    assert behind.heard == [("offer", 1)]


def test_an_offering_is_of_use_in_its_callback_alone() -> None:
    scheduler, link, _, failed = made()
    kept: list[Offering] = []
    channels: list[ChannelId] = []

    def keeps(_: Client, offering: Offering) -> None:
        kept.append(offering)
        channels.extend(offering)

    scheduler.schedule(Client(keeps))
    assert [list(kept[0]), kept[0].left] == [[], 0]
    with pytest.raises(OfferOver):
        kept[0].send_notification(channels[0], MESSAGE)
    assert not failed
    assert link.frames == []


def test_a_message_out_of_its_limits_is_refused_before_anything_happens() -> None:
    scheduler, link, _, failed = made()

    def tries(client: Client, offering: Offering) -> None:
        channel = first(offering)
        for wrong in (
            Message("", b"", 1.0),
            Message("t", bytes(SMALL.longest_body + 1), 1.0),
            Message("t", b"", -1.0),
            Message("t", b"", float("nan")),
            Message("t", b"", 1e9),
        ):
            with pytest.raises(ValueError, match=r"bytes|time of a message"):
                offering.send_request(channel, wrong, client)
        with pytest.raises(Refused, match="a message has a time"):
            offering.send_request(channel, Message("t", b"", 0.0), client)
        offering.send_notification(channel, Message("t", b"", 0.001))
        with pytest.raises(Refused, match="is not offered"):
            offering.send_notification(channel, MESSAGE)

    scheduler.schedule(Client(tries))
    assert not failed
    assert link.frames == [Notification("t", b"")]


def test_a_channel_of_a_dead_peer_is_left_out_without_a_word() -> None:
    scheduler, link, _, _ = made()
    link.alive = False
    seen: list[int] = []
    client = Client(lambda _, offering: seen.append(len(list(offering))))
    scheduler.schedule(client)
    assert seen == [0]
    assert scheduler.stats().counts["skipped"] == 1


def test_many_threads_schedule_and_no_callbacks_overlap() -> None:
    scheduler = MessageScheduler(Config(), Options(clock=SimulatedClock()))
    for name in "AB":
        scheduler.connect(Link(), name, 2)
    inside, most, served = [0], [0], list[int]()

    def considers(_: Client, offering: Offering) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        offering.send_notification(first(offering), MESSAGE)
        served.append(1)
        inside[0] -= 1

    def schedules() -> None:
        for _ in range(50):
            scheduler.schedule(Client(considers))

    threads = [threading.Thread(target=schedules) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(served), most) == (4, [1])
    assert scheduler.stats().waiting == 196
    scheduler.stop()
    assert scheduler.stats().counts["discards"] == 196


# Over real sockets.


def test_a_fetcher_a_notifier_and_a_retry_over_tcp(tmp_path: Path) -> None:
    bad = Behaviour(
        late=0.1, lateness=0.05, never=0.05, wrong_id=0.1, wrong_type=0.1, twice=0.1,
        garbage=0.1, oversized=0.05, hang_up=0.05,
    )  # fmt: skip
    config = Config(redial=0.01)
    with responding(Behaviour(), bad) as ports, Journal(tmp_path / "j") as journal:
        scheduler = MessageScheduler(config, Options(journal=journal))
        message = Message(MESSAGE.type, MESSAGE.body, 0.2)
        wanted = [b"%d" % n for n in range(100)]
        fetcher = BulkFetcher(scheduler, message, wanted, is_right=is_right, tries=100)
        notifier, retry = Notifier(scheduler, message, 2), RetryElsewhere(scheduler, message, 100)
        with connected(scheduler, ports, config):
            for client in (fetcher, notifier, retry):
                client.start()
                assert client.done.wait(PATIENCE)
    assert fetcher.found == {w: answer(MESSAGE.type, MESSAGE.body + w) for w in wanted}
    assert fetcher.failed == set()
    assert notifier.told == {"A", "B"}
    assert retry.body is not None
    counts = scheduler.stats().counts
    assert counts["requests"] == counts["successes"] + counts["failures"]
    assert counts["connected"] == counts["disconnected"]


def test_what_one_peer_lies_about_is_fetched_from_another() -> None:
    """The liar has four channels and answers first; the other one is late, and fails once."""
    scheduler = MessageScheduler(SMALL, Options(clock=SimulatedClock()))
    links = {name: Link() for name in "AB"}
    liar = scheduler.connect(links["A"], "A", 4)
    honest = scheduler.connect(links["B"], "B", 1)
    wanted = [b"%d" % n for n in range(5)]
    fetcher = BulkFetcher(scheduler, MESSAGE, wanted, is_right=is_right, tries=2)
    fetcher.start()
    heard = Counter[str]()

    def answered(name: str, peer: Peer, body: Callable[[Request], bytes]) -> bool:
        """Answer all that this peer was asked."""
        frames, links[name].frames = links[name].frames, []
        for frame in frames:
            assert isinstance(frame, Request)
            heard[name] += 1
            scheduler.receive(peer, frame.number, frame.type, body(frame))
        return frames != []

    while answered("A", liar, lambda _: b"a lie"):
        pass
    scheduler.disconnect(honest)  # What it was asked fails, and is asked of the liar, in vain.
    while answered("A", liar, lambda _: b"a lie"):
        pass
    assert (fetcher.found, fetcher.failed, fetcher.done.wait(0.0)) == ({}, set(), False)
    links["B"].frames.clear()
    honest = scheduler.connect(links["B"], "B", 1)
    while answered("B", honest, lambda asked: answer(asked.type, asked.body)):
        pass
    assert fetcher.done.wait(0.0)
    assert (sorted(fetcher.found), fetcher.failed) == (wanted, set())
    assert heard == {"A": 10, "B": 5}
    scheduler.stop()


def test_nobody_listens() -> None:
    with responding(Behaviour()) as ports:
        pass
    scheduler = MessageScheduler()
    retry = RetryElsewhere(scheduler, MESSAGE)
    with connected(scheduler, ports):
        retry.start()
    assert (retry.done.wait(PATIENCE), retry.body, retry.asked) == (True, None, [])


def test_the_program_says_what_it_cannot_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", "A=no port"]) == 5
    assert "'A=no port': expected NAME=PORT" in capsys.readouterr().err
    assert main(["peer", "A", "--never", "0.6", "--late", "0.6"]) == 5
    assert capsys.readouterr().out.startswith(
        "lawful run message_scheduler: probabilities are >= 0 and add up to 1 at most"
    )


def test_a_fetch_that_is_interrupted_says_what_came_and_what_did_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third answer interrupts it; from then on no answer is right."""
    answers, is_right = count(), program.is_right

    def is_of_the_first(wanted: bytes, body: bytes) -> bool:
        number = next(answers)
        if number == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return number < 2 and is_right(wanted, body)

    monkeypatch.setattr(program, "is_right", is_of_the_first)
    with responding(Behaviour(channels=1)) as ports:
        assert main(["fetch", f"A={ports['A']}", "--objects", "9"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "interrupted"
    assert said[1].startswith("objects: 2 of 9 in ")
    assert said[2] == "not fetched: 2-8"


def test_what_was_not_fetched_is_told_in_ranges() -> None:
    assert program.ranges_of([b"0", b"2", b"3", b"4", b"6", b"7"]) == "0 2-4 6-7"
