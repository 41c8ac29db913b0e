"""Who is offered channels first: priorities and ageing, in the machine and in its service."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.machines.message_scheduler.declaration import (
    ChannelId,
    Discard,
    Offer,
    Peer,
    Scheduler,
    Success,
    Token,
    Type,
)
from lawful.machines.message_scheduler.service import MessageScheduler, program
from lawful.machines.message_scheduler.service.clients import Announcer, BulkFetcher
from lawful.machines.message_scheduler.service.offering import Message, Offering
from lawful.machines.message_scheduler.service.overlay import connected
from lawful.machines.message_scheduler.service.program import main
from lawful.machines.message_scheduler.service.responder import Behaviour
from lawful.machines.message_scheduler.service.settings import Config, Options
from lawful.machines.message_scheduler.service.wire import Notification
from lawful.runtime.journal import read
from lawful.runtime.timers import SimulatedClock
from tests.machines.message_scheduler.doubles import (
    MESSAGE,
    Client,
    Link,
    first,
    is_right,
    responding,
)
from tests.root import PATIENCE

A = Peer("a")
A0 = ChannelId(A, 0)
LEDGER = Type("ledger")


def scheduler(patience: int, priorities: Sequence[int], channels: int = 0) -> Scheduler:
    """One in which senders of these priorities wait; they have their places as tokens."""
    made = Scheduler(clock=SimulatedClock(), patience=patience)
    for number, priority in enumerate(priorities):
        assert made.schedule(Token(f"{number}"), priority)
    if channels:
        made.connect(A, channels)
    return made


def offered(made: Scheduler) -> int | None:
    """Who is offered channels next, and refuses them."""
    offer = made.call()
    if offer is None:
        return None
    assert isinstance(offer, Offer)
    made.returned()
    return int(str(offer.token))


def served(made: Scheduler) -> list[int]:
    """In which order those that wait are served, each with the only channel."""
    order = list[int]()
    while made.queue:
        offer = made.call()
        assert isinstance(offer, Offer)
        number = made.send_request(A0, LEDGER, 1).request
        assert number is not None
        made.returned()
        made.receive(A, number, LEDGER, b"")
        assert made.call() == Success(number, b"")
        made.returned()
        order.append(int(str(offer.token)))
    return order


def test_the_most_urgent_goes_first_and_of_equals_the_one_that_came_first() -> None:
    assert served(scheduler(9, [0, 1, 3, 1, 3, 0], channels=1)) == [2, 4, 1, 3, 0, 5]


def test_without_patience_all_are_served_first_come_first_served() -> None:
    assert served(scheduler(0, [0, 1, 3, 1], channels=1)) == [0, 1, 2, 3]


def test_who_was_overtaken_often_enough_is_next_and_so_are_those_before_it() -> None:
    """The sender 0 is overtaken by two; then it goes before the others, and 4 before 1 again."""
    made = scheduler(2, [0, 0, 1, 1, 1, 1], channels=1)
    assert served(made) == [2, 3, 0, 1, 4, 5]
    assert (made.priority, made.overtaken) == ({}, {})


def test_who_refuses_is_not_overtaken_by_who_is_offered_the_same_next() -> None:
    made = scheduler(2, [0], channels=1)
    assert [offered(made), offered(made)] == [0, None]
    made.schedule(Token("1"), 5)
    assert [offered(made), offered(made)] == [1, None]
    assert made.overtaken == {}
    made.connect(Peer("b"), 1)
    assert [offered(made), offered(made), offered(made)] == [1, 0, None]
    assert made.overtaken == {Token("0"): 1}


def test_one_that_was_overtaken_goes_before_no_equal_that_came_earlier() -> None:
    """The sender 0 has refused the channel when others overtake 1; then another channel opens."""
    made = scheduler(1, [0], channels=1)
    assert offered(made) == 0
    made.schedule(Token("1"))
    made.schedule(Token("2"), 1)
    assert [offered(made), offered(made), offered(made)] == [2, 1, None]
    assert made.overtaken == {Token("1"): 1}
    made.connect(Peer("b"), 1)
    made.schedule(Token("3"), 7)
    assert [offered(made), offered(made), offered(made), offered(made)] == [0, 1, 3, 2]


def test_who_leaves_leaves_nothing_behind() -> None:
    made = scheduler(3, [0, 2, 1], channels=1)
    assert offered(made) == 1
    assert (made.priority, made.overtaken) == ({Token("1"): 2, Token("2"): 1}, {Token("0"): 1})
    assert made.withdraw_sender(Token("1"))
    assert made.withdraw_sender(Token("0"))
    assert (made.priority, made.overtaken) == ({Token("2"): 1}, {})
    made.stop()
    assert made.call() == Discard(Token("2"))
    assert (made.priority, made.overtaken) == ({}, {})


@given(st.integers(0, 4), st.lists(st.integers(0, 3), min_size=1, max_size=25))
def test_nobody_is_overtaken_too_often_however_many_wait(
    patience: int, priorities: list[int]
) -> None:
    order = served(scheduler(patience, priorities, channels=1))
    assert sorted(order) == list(range(len(priorities)))
    for at, token in enumerate(order):
        overtaking = [later for later in order[:at] if later > token]
        assert len(overtaking) <= patience
        assert all(priorities[later] > priorities[token] for later in overtaking)


# The service.


def notifying(name: str, order: list[str]) -> Client:
    """A client that sends one notification, and notes its name."""
    return Client(lambda _, offering: _notify(offering, name, order))


def _notify(offering: Offering, name: str, order: list[str]) -> None:
    order.append(name)
    offering.send_notification(first(offering), MESSAGE)


def drained(service: MessageScheduler, clock: SimulatedClock) -> None:
    """Time passes until nobody waits: each notification has half a minute."""
    while service.stats().waiting:
        clock.advance(30.0)
        service.fire_due()


def made(patience: int) -> tuple[MessageScheduler, SimulatedClock]:
    clock = SimulatedClock()
    config = Config(least=7, greatest=99, patience=patience, most_priority=9)
    return MessageScheduler(config, Options(clock=clock)), clock


def test_the_service_serves_by_priority_and_counts_who_is_overtaken() -> None:
    service, clock = made(patience=2)
    order = list[str]()
    for name, priority in (("a", 0), ("b", 1), ("c", 9), ("d", 9), ("e", 9)):
        service.schedule(notifying(name, order), priority)
    service.connect(Link(), "A", 1)
    drained(service, clock)
    assert order == ["c", "d", "a", "b", "e"]
    counts = service.stats().counts
    assert (counts["overtaken"], counts["offers"]) == (4, 5)


def test_a_priority_out_of_its_range_is_refused_before_anything_happens() -> None:
    service, _ = made(patience=2)
    for priority in (-1, 10):
        with pytest.raises(ValueError, match=f"from 0 to 9, not {priority}$"):
            service.schedule(Client(), priority)
    assert (service.stats().waiting, dict(service.stats().counts)) == (0, {})


@pytest.mark.parametrize("name", ["patience", "most_priority"])
def test_a_setting_out_of_its_range_is_refused_at_the_start(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is in 0..2147483648, not -1"):
        Config(**{name: -1})


def test_an_announcer_overtakes_and_is_over_after_so_many_or_after_stop() -> None:
    service, clock = made(patience=3)
    link, order = Link(), list[str]()
    announcer = Announcer(service, Message("notice", b"", 30.0), 5, priority=1)
    service.schedule(notifying("slow", order))
    announcer.start()
    service.connect(link, "A", 1)
    drained(service, clock)
    assert announcer.sent == 5 and announcer.done.wait(0.0)
    frames = [each.type for each in link.frames if isinstance(each, Notification)]
    assert frames == ["notice"] * 3 + [MESSAGE.type] + ["notice"] * 2
    none = Announcer(service, MESSAGE, 0)
    none.start()
    assert none.done.wait(0.0)
    stopped = Announcer(service, MESSAGE, 9)
    stopped.start()
    assert (stopped.sent, stopped.done.wait(0.0)) == (0, False)
    service.stop()
    assert (stopped.sent, stopped.done.wait(0.0)) == (0, True)


def test_urgent_notices_overtake_a_fetch_over_tcp_which_ends_all_the_same() -> None:
    service = MessageScheduler(Config(patience=1, redial=0.1))
    with responding(Behaviour(channels=1)) as ports, connected(service, ports):
        wanted = [b"%d" % n for n in range(20)]
        fetcher = BulkFetcher(service, MESSAGE, wanted, is_right=is_right)
        announcer = Announcer(service, Message("notice", b"", 0.001), 40, priority=1)
        for client in (fetcher, announcer):
            client.start()
        assert fetcher.done.wait(PATIENCE)
        assert announcer.done.wait(PATIENCE)
    assert (len(fetcher.found), announcer.sent) == (20, 40)
    assert service.stats().counts["overtaken"] > 0


def test_the_program_sends_notices_and_its_journal_has_their_priority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "j"
    with responding(Behaviour(channels=1)) as ports:
        words = ["fetch", f"A={ports['A']}", "--objects", "5", "--notices", "6"]
        words += ["--priority", "7", "--patience", "2", "--journal", str(journal)]
        assert main(words) == 0
    assert "notices: 6 of 6\n" in capsys.readouterr().out
    given = [row["args"]["priority"] for row in read(journal) if row["event"] == "schedule"]
    assert given.count(7) == 6 and set(given) == {0, 7}


def test_the_program_refuses_a_priority_that_its_scheduler_does_not_take(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fetch", "A=1", "--notices", "1", "--priority", "256"]) == program.USAGE
    assert "a priority is a number from 0 to 255, not 256" in capsys.readouterr().out
