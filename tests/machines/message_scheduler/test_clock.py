"""The service's clock jumps while somebody sleeps until the next timer is due."""

from __future__ import annotations

from dataclasses import replace

from lawful.machines.message_scheduler.service import MessageScheduler
from lawful.machines.message_scheduler.service.offering import Offering
from lawful.machines.message_scheduler.service.settings import Options
from lawful.runtime.timers import SimulatedClock
from tests.machines.message_scheduler.doubles import MESSAGE, Client, Link, first


def asking(timeout: float) -> Client:
    """It asks once, with this timeout in seconds."""

    def asks(client: Client, offering: Offering) -> None:
        offering.send_request(first(offering), replace(MESSAGE, timeout=timeout), client)

    return Client(asks)


def test_who_sleeps_is_woken_where_the_clock_may_have_jumped_forward_meanwhile() -> None:
    """The first message is due after 30 s. Then the clock jumps by 20 s: who sleeps does so for
    30 s all the same, and a message of 15 s would be told 15 s late, though its time is over after
    the first one's."""
    clock = SimulatedClock()
    scheduler = MessageScheduler(options=Options(clock=clock))
    scheduler.connect(Link(), "A", 4)
    woken: list[float] = []
    scheduler.driven(lambda: woken.append(clock.now()))
    scheduler.schedule(asking(30.0))
    assert (woken, scheduler.wait()) == ([0.0], 30.0)
    clock.advance(20.0)
    scheduler.schedule(asking(15.0))
    scheduler.schedule(asking(12.0))  # Whoever was woken is on the way.
    assert (woken, scheduler.wait()) == ([0.0, 20.0], 10.0)
    scheduler.schedule(asking(10.0))  # Who sleeps for 10 s comes in time.
    assert (woken, scheduler.wait()) == ([0.0, 20.0], 10.0)
