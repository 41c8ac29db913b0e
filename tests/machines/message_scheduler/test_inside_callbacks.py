"""What clients do to the scheduler inside a callback, while others wait; and where numbers end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lawful import Refused
from lawful.machines.message_scheduler.declaration import Peer
from lawful.machines.message_scheduler.service import MessageScheduler
from lawful.machines.message_scheduler.service.offering import Offering
from lawful.machines.message_scheduler.service.settings import Config, Options
from lawful.runtime.timers import SimulatedClock
from tests.machines.message_scheduler.doubles import MESSAGE, Client, Link, asks_first, first


def made(
    channels: int = 1, least: int = 7, greatest: int = 99
) -> tuple[MessageScheduler, Link, Peer, list[Exception]]:
    """A scheduler with one peer, and the exceptions of callbacks."""
    failed: list[Exception] = []
    options = Options(clock=SimulatedClock(), failed=failed.append)
    scheduler, link = MessageScheduler(Config(least=least, greatest=greatest), options), Link()
    return scheduler, link, scheduler.connect(link, "A", channels), failed


def test_a_sender_that_withdraws_inside_its_offer_sends_nothing() -> None:
    scheduler, link, _, failed = made()

    def withdraws(client: Client, offering: Offering) -> None:
        channel = first(offering)
        assert (scheduler.withdraw(offering.token), offering.left) == (True, 0)
        with pytest.raises(Refused, match="no offer is considered"):
            offering.send_notification(channel, MESSAGE)
        assert not scheduler.withdraw(offering.token)

    client = Client(withdraws)
    scheduler.schedule(client)
    assert (failed, link.frames, client.heard) == ([], [], [("offer", 1)])
    stats = scheduler.stats()
    assert (stats.waiting, stats.open, stats.closed) == (0, 1, 0)


def test_who_withdraws_another_sender_inside_its_offer_may_still_send() -> None:
    scheduler, link, peer, failed = made()
    scheduler.schedule(Client(asks_first))
    other = Client(asks_first)

    def withdraws(_: Client, offering: Offering) -> None:
        assert tokens[1] is not None
        assert scheduler.withdraw(tokens[1])
        assert offering.left == 1
        offering.send_notification(first(offering), MESSAGE)

    tokens = [scheduler.schedule(client) for client in (Client(withdraws), other)]
    scheduler.receive(peer, 7, "ledger", b"yes")  # The channel is open: the first is offered it.
    assert (failed, other.heard, len(link.frames)) == ([], [], 2)
    assert scheduler.stats().waiting == 0


def test_an_offering_lists_channels_while_its_sender_may_close_one_more() -> None:
    """One of three, because another sender waits; then the other one all that are open."""
    scheduler, link, _, failed = made(channels=3)
    seen: list[tuple[int, int]] = []

    def sends(_: Client, offering: Offering) -> None:
        for channel in offering:
            seen.append((offering.left, len(list(offering))))
            offering.send_notification(channel, MESSAGE)
        seen.append((offering.left, len(list(offering))))

    def waits(client: Client, offering: Offering) -> None:
        if client.heard == [("offer", 3)]:
            scheduler.schedule(Client(sends))
            scheduler.schedule(Client(sends))

    scheduler.schedule(Client(waits))
    assert (failed, len(link.frames)) == ([], 2)
    assert seen == [(1, 3), (0, 0), (1, 2), (0, 0)]


def test_after_a_stop_inside_its_offer_a_sender_sends_nothing() -> None:
    scheduler, link, _, failed = made()

    def stops(client: Client, offering: Offering) -> None:
        channel = first(offering)
        scheduler.stop()
        with pytest.raises(Refused):
            offering.send_request(channel, MESSAGE, client)
        with pytest.raises(Refused):
            offering.send_notification(channel, MESSAGE)
        assert (offering.left, list(offering)) == (0, [])
        link.alive = False
        assert list(offering) == []

    client = Client(stops)
    scheduler.schedule(client)
    assert (failed, link.frames, client.heard) == ([], [], [("offer", 1), "discard"])
    stats = scheduler.stats()
    assert (stats.open, stats.closed, stats.counts.get("skipped", 0)) == (0, 0, 0)


def after_two_answers(act: Callable[[MessageScheduler], None]) -> list[object]:
    """What receivers 7 and 8 hear that are both answered while a callback runs, which then acts."""
    scheduler, _, peer, failed = made(channels=3)
    heard: list[object] = []
    for _ in range(2):
        client = Client(asks_first)
        scheduler.schedule(client)
        client.heard = heard

    def answered(_: Client, offering: Offering) -> None:
        offering.send_notification(first(offering), MESSAGE)  # So it is not offered anything again.
        for number in (7, 8):
            scheduler.receive(peer, number, "ledger", b"%d" % number)
        act(scheduler)

    scheduler.schedule(Client(answered))
    assert failed == []
    return heard


def test_answers_that_come_in_a_callback_are_told_after_it_in_their_order() -> None:
    assert after_two_answers(lambda _: None) == [(7, b"7"), (8, b"8")]


def test_a_receiver_is_withdrawn_after_its_answer_came_and_before_it_is_called() -> None:
    def withdraw(scheduler: MessageScheduler) -> None:
        assert [scheduler.withdraw(7), scheduler.withdraw(7)] == [True, False]

    assert after_two_answers(withdraw) == [(8, b"8")]


def test_a_number_whose_receiver_is_yet_to_be_called_is_not_given() -> None:
    scheduler, _, peer, failed = made(channels=4, least=7, greatest=8)
    scheduler.schedule(Client(asks_first))

    def asks_more(client: Client, offering: Offering) -> None:
        scheduler.receive(peer, 7, "ledger", b"yes")
        channels = list(offering)
        assert offering.send_request(channels[0], MESSAGE, client) == 8
        with pytest.raises(Refused, match="all numbers are outstanding"):
            offering.send_request(channels[1], MESSAGE, client)

    scheduler.schedule(Client(asks_more))
    assert failed == []


def test_numbers_go_round_and_skip_those_that_are_outstanding() -> None:
    scheduler, link, peer, _ = made(channels=9, least=7, greatest=9)
    for _ in range(3):
        scheduler.schedule(Client(asks_first))
    for number in (8, 7, 9, 7):
        scheduler.receive(peer, number, "ledger", b"yes")
        scheduler.schedule(Client(asks_first))
    numbers = [getattr(frame, "number", None) for frame in link.frames]
    assert numbers == [7, 8, 9, 8, 7, 9, 7]


def test_who_is_offered_one_of_two_channels_uses_one() -> None:
    scheduler, link, _, failed = made(channels=2)

    def tries_both(_: Client, offering: Offering) -> None:
        channels = list(offering)
        assert (len(channels), offering.size) == (2, 1)
        offering.send_notification(channels[0], MESSAGE)
        with pytest.raises(Refused, match="the offer is exhausted"):
            offering.send_notification(channels[1], MESSAGE)

    def gathers(client: Client, offering: Offering) -> None:
        """Inside an offer two senders come, and wait together."""
        scheduler.schedule(Client(tries_both))
        scheduler.schedule(Client())

    keeps = Client(gathers)
    scheduler.schedule(keeps)
    assert (failed, len(link.frames)) == ([], 1)
    assert keeps.heard == [("offer", 2)]


def test_after_a_stop_senders_are_discarded_in_their_order_and_one_withdraws_another() -> None:
    scheduler, _, _, failed = made()
    scheduler.schedule(Client(asks_first))
    heard: list[str] = []

    class Waiting(Client):
        def __init__(self, name: str, takes_back: int | None = None) -> None:
            super().__init__()
            self.name, self.takes_back = name, takes_back

        def on_discard(self) -> None:
            heard.append(self.name)
            if self.takes_back is not None:
                token = tokens[self.takes_back]
                assert token is not None
                assert scheduler.withdraw(token)

    waiting = [Waiting("first", takes_back=1), Waiting("second"), Waiting("third")]
    tokens = [scheduler.schedule(each) for each in waiting]
    scheduler.stop()
    assert (heard, failed) == (["first", "third"], [])
    assert scheduler.stats().waiting == 0


def test_a_channel_that_is_gone_leaves_the_others_and_is_no_reason_for_another_offer() -> None:
    scheduler, link, peer, failed = made(channels=2)
    other = Link()
    gone = scheduler.connect(other, "B", 1)
    seen: list[int] = []
    client = Client(lambda _, offering: seen.append(len(list(offering))))
    scheduler.schedule(client)
    assert (seen, scheduler.stats().open) == ([3], 3)
    scheduler.disconnect(gone)
    assert (client.heard, scheduler.stats().open) == ([("offer", 3)], 2)
    link.alive = False
    scheduler.schedule(Client(lambda _, offering: seen.append(len(list(offering)))))
    assert (seen, client.heard, scheduler.stats().open) == ([3, 0], [("offer", 3)], 0)
    late = scheduler.connect(Link(), "C", 1)
    scheduler.disconnect(peer)
    assert scheduler.stats().open == 1
    scheduler.disconnect(late)
    assert failed == []


def test_of_a_dead_peer_all_channels_are_skipped_once_and_those_of_others_are_left() -> None:
    scheduler, link, _, failed = made(channels=2)
    scheduler.connect(Link(), "B", 1)
    link.alive = False

    def looks_twice(_: Client, offering: Offering) -> None:
        assert [str(channel.peer) for channel in offering] == ["B#2"]
        assert [str(channel.peer) for channel in offering] == ["B#2"]
        assert scheduler.stats().open == 1

    client = Client(looks_twice)
    scheduler.schedule(client)
    assert (failed, client.heard, scheduler.stats().counts["skipped"]) == ([], [("offer", 3)], 2)
