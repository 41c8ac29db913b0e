"""The judge of whose turn it was: it says nothing of what is right, and names what is wrong."""

from __future__ import annotations

import pytest

from lawful.machines.message_scheduler.declaration import ChannelId, Peer
from tests.machines.message_scheduler.turns import (
    Accepted,
    Event,
    Offered,
    Returned,
    Sent,
    Withdrawing,
    Withdrawn,
    problems,
)

A, B = ChannelId(Peer("A"), 0), ChannelId(Peer("B"), 0)


def offered(token: int, *channels: ChannelId) -> Offered:
    return Offered(token, frozenset(channels or (A,)))


COME = (Accepted(1, 0), Accepted(2, 0), Accepted(3, 5), Accepted(4, 5), Returned())


@pytest.mark.parametrize(
    ("patience", "log", "found"),
    [
        (1, (offered(3), offered(1), offered(2), offered(4)), []),
        (0, (offered(1), offered(2), offered(3), offered(4)), []),
        (9, (offered(3), Sent(3, A), offered(4), Sent(4, A), offered(1), Sent(1, A)), []),
        (
            1,
            (offered(3), Sent(3, A), offered(4)),
            ["sender 4 overtook one that was overtaken often enough"] * 2,
        ),
        (9, (offered(4),), ["sender 4 was offered a channel before 3, as urgent"]),
        (
            9,
            (offered(3), offered(4), offered(2)),
            ["sender 2 was offered a channel before 1, as urgent"],
        ),
        (
            2,
            (offered(3), offered(1)),
            ["sender 1 was offered a channel before 4, more urgent"],
        ),
        # What was refused is no reason to be next, and who is offered it overtakes nobody.
        (0, (offered(1), offered(2), offered(3), Sent(3, A), offered(1)), []),
        (1, (offered(3), offered(1), offered(2), offered(3, A, B), offered(1, A, B)), [
            "sender 3 overtook one that was overtaken often enough",
            "sender 3 overtook one that was overtaken often enough",
        ]),
        # Who is being withdrawn neither waits nor is gone.
        (9, (Withdrawing(3), offered(4)), []),
        (9, (Withdrawing(3), Withdrawn(3, True), offered(4), offered(1)), []),
        (
            9,
            (Withdrawing(3), Withdrawn(3, False), offered(4)),
            ["sender 4 was offered a channel before 3, as urgent"],
        ),
    ],
)  # fmt: skip
def test_it_names_what_is_wrong(patience: int, log: tuple[Event, ...], found: list[str]) -> None:
    assert list(problems(patience, (*COME, *log))) == found


def test_who_may_have_come_too_late_is_not_judged() -> None:
    late = (Accepted(1, 0), Returned(), Accepted(2, 5), offered(1))
    assert list(problems(9, late)) == []
    assert list(problems(9, (*late[:3], Returned(), late[3]))) != []
