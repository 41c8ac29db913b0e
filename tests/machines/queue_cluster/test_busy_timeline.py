"""What a node does where its consumers are busy, or gone, at the wrong moment."""

from __future__ import annotations

from lawful.machines.queue_cluster.ledger import Of
from lawful.machines.queue_cluster.messages import Cancel, Consume, QueueName, Release
from lawful.machines.queue_cluster.ownership import Multicast
from tests.machines.queue_cluster.told import (
    Told,
    binds,
    busy,
    crashes,
    declares,
    destroys,
    idle,
    publishes,
    rejects,
    says,
    subscribes,
    told,
    unsubscribes,
)

TWO = ((0, declares("A", "q")), (3, publishes("A", "m", "q")), (4, publishes("B", "n", "q")))


def of_q(said: Multicast) -> Of:
    return Of(QueueName("q"), 0, said)


def test_a_busy_consumer_is_waited_for() -> None:
    """The queue is given away once it has ended, whatever happens meanwhile."""
    scene = told(
        *TWO,
        (8, subscribes("A", "a", "q", 9)),
        (9, subscribes("B", "b", "q", 9)),
        (20, busy("A", "q")),
        (65, Told.look),
        (66, unsubscribes("A", "a")),
        (66.2, says("L", of_q(Release(interested=False)))),
        (67, subscribes("A", "c", "q", 9)),
        (68, says("L", of_q(Consume()))),
        (70, Told.look),
        (70.1, idle("A", "q")),
        (70.3, says("L", of_q(Cancel()))),
        (80, Told.look),
        (90, busy("B", "q")),
        (91, unsubscribes("B", "b")),
        (93, Told.look),
        (94, idle("B", "q")),
        (95, subscribes("B", "d", "q", 9)),
        (100, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "9: A: consume q/0",
        "10: B: consume q/0",
        "11: A: acquire A0 on q, A: acquire B0 on q",
        "12: [a gets m from q], [a gets n from q]",
        "65: [A: q is STOPPING by A for AB: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for AB: m n 1 completed]",
        "66.2: L: release for good q/0",
        "68: L: consume q/0",
        "70: [A: q is STOPPING by A for ABL: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for ABL: m n 1 completed]",
        "70.3: L: cancel q/0",
        "72.3: A: release for now q/0",
        "80: [A: q is STOPPED by B for AB: m n 4 completed 2 delivered],"
        " [B: q is OWNED by B for AB: m n 1 completed]",
        "93: [A: q is STOPPED by B for AB: m n 4 completed 2 delivered],"
        " [B: q is STOPPING by B for AB: m n 1 completed]",
        "96: B: release for now q/0",
        "100: [A: q is OWNED by A for AB: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for AB: m n 1 completed]",
    ]


def test_a_busy_consumer_while_the_other_node_leaves() -> None:
    scene = told(
        *TWO,
        (8, subscribes("A", "a", "q", 9)),
        (9, subscribes("B", "b", "q", 9)),
        (20, busy("A", "q")),
        (65, says("L", of_q(Consume()))),
        (66, crashes("B")),
        (67, Told.look),
        (68, idle("A", "q")),
        (69, unsubscribes("A", "a")),
        (75, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "9: A: consume q/0",
        "10: B: consume q/0",
        "11: A: acquire A0 on q, A: acquire B0 on q",
        "12: [a gets m from q], [a gets n from q]",
        "65: L: consume q/0",
        "66: B: leaves",
        "67: [A: q is STOPPING by A for AL: m n 4 completed 2 delivered]",
        "70: A: release for good q/0, A: cancel q/0",
        "75: [A: q is STOPPED by L for L: m n 4 completed 2 delivered]",
    ]


def test_what_is_granted_as_the_last_consumer_leaves_is_passed_on() -> None:
    """Its cancel comes after the release in the order."""
    scene = told(
        *TWO,
        (8, subscribes("A", "a", "q", 9)),
        (9, subscribes("B", "b", "q", 9)),
        (61.5, unsubscribes("B", "b")),
        (62.8, Told.look),
        (70, Told.look),
        (80, publishes("A", "o", "q")),
        (90, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "9: A: consume q/0",
        "10: B: consume q/0",
        "11: A: acquire A0 on q, A: acquire B0 on q",
        "12: [a gets m from q], [a gets n from q]",
        "62: A: release for now q/0",
        "62.5: B: cancel q/0",
        "62.8: [A: q is STOPPED by A for AB: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for AB: m n 1 completed]",
        "64: B: release for good q/0",
        "70: [A: q is OWNED by A for A: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for A: m n 1 completed]",
        "81: A: create 1 o, A: enqueue A1 on q, A: routed 1",
        "82: [publish o is done]",
        "83: A: acquire A1 on q",
        "84: [a gets o from q]",
        "90: [A: q is OWNED by A for A: m n o 6 completed 3 delivered],"
        " [B: q is STOPPED by A for A: m n o 1 completed]",
    ]


def test_a_message_is_once_on_a_queue_and_not_rejected_to_its_own() -> None:
    scene = told(
        *TWO,
        (5, binds("A", "alternate:q", "q")),
        (5.2, publishes("A", "x", "q", "q")),
        (7, binds("A", "x", "q")),
        (8, subscribes("A", "a", "q")),
        (15, rejects("A", "a", "m")),
        (20, Told.look),
        (21, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "5.2: [publish x is refused]",
        "6: A: bind alternate:q q, [publish n is done]",
        "6.2: A: create 1 x, A: routed 1",
        "7: [bind q is done]",
        "8: A: bind x q",
        "9: [bind q is done], A: consume q/0",
        "11: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "12: [a gets m from q]",
        "15: [reject m is refused]",
        "20: [A: q is STOPPED by None for : m n 5 completed 1 delivered],"
        " [B: q is STOPPED by None for : m n 1 completed]",
        "21: [A keeps queues 1, bindings 2, held 1, created 2, bodies 2, acquired 1,"
        " declared 1, queued 2], [B keeps queues 1, bindings 2, created 2, bodies 2,"
        " acquired 1, declared 1, queued 2]",
    ]


def test_who_is_not_busy_does_not_end() -> None:
    """Neither at the owner nor elsewhere; a queue may end while its consumers are stopped."""
    scene = told(
        *TWO,
        (8, subscribes("A", "a", "q", 9)),
        (9, subscribes("B", "b", "q", 9)),
        (20, idle("A", "q")),
        (21, idle("B", "q")),
        (22, busy("A", "q")),
        (65, Told.look),
        (66, idle("A", "q")),
        (67, destroys("B", "q")),
        (75, Told.look),
        (76, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "9: A: consume q/0",
        "10: B: consume q/0",
        "11: A: acquire A0 on q, A: acquire B0 on q",
        "12: [a gets m from q], [a gets n from q]",
        "20: [dispatched: no consumer is busy (0 > 0 is false)]",
        "21: [dispatched: state is STOPPED, not OWNED or STOPPING or ENDED]",
        "65: [A: q is STOPPING by A for AB: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for AB: m n 1 completed]",
        "68: B: destroy q",
        "69: [a has ended], [b has ended], [destroy q is done]",
        "76: [A keeps held 2, created 2], [B keeps created 2]",
    ]
