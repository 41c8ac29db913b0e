"""What a member that joins makes of an updater that lies, or repeats itself."""

from __future__ import annotations

from lawful.machines.queue_cluster.joining import Declared
from lawful.machines.queue_cluster.messages import (
    Done,
    Front,
    Gone,
    Key,
    MessageId,
    Node,
    QueueName,
)
from lawful.machines.queue_cluster.service.frames import Interest, Stall
from tests.machines.queue_cluster.told import (
    Told,
    accepts,
    declares,
    hands,
    joins,
    publishes,
    subscribes,
    told,
)

Q = QueueName("q")
TWO = ((0, declares("A", "q")), (3, publishes("A", "m", "q")), (4, publishes("B", "n", "q")))


def key(node: str, number: int, queue: str = "q") -> Key:
    return Key(MessageId(Node(node), number), QueueName(queue))


def stall(owner: str | None, *interested: str) -> Stall:
    interests = Interest(Q, Node(owner) if owner else None, frozenset(map(Node, interested)))
    return Stall((Declared(Q, 0),), 1, (), (), (), (interests,))


def test_a_stall_that_cannot_be_is_refused() -> None:
    """The new member leaves, and asks somebody else."""
    for wrong in (stall("A", "A", "C"), stall("C", "A"), stall(None, "A", "B")):
        scene = told(
            *TWO,
            (15, joins("C", "B")),
            (15.5, hands("B", "C", wrong)),
            (30, Told.weigh),
        )
        *_, refused, kept = scene.story
        assert refused.endswith(", [C refuses it], C: leaves")
        assert kept == (
            "30: [A keeps queues 1, created 2, bodies 2, declared 1, queued 2],"
            " [B keeps queues 1, created 2, bodies 2, declared 1, queued 2]"
        )


def test_an_updater_that_repeats_itself() -> None:
    scene = told(
        *TWO,
        (6, subscribes("A", "a", "q")),
        (8, publishes("A", "o", "q")),
        (15, joins("C", "B")),
        (20, subscribes("C", "c", "q")),
        (23, hands("B", "C", Done(Q))),
        (23.2, hands("B", "C", Front(key("A", 0), b"m", None, redelivered=False))),
        (23.4, hands("B", "C", Gone(key("A", 0)))),
        (23.6, hands("B", "C", stall(None))),
        (24, Told.look),
        (24.2, accepts("A", "a", "m")),
        (30, Told.look),
        (31, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "7: A: consume q/0",
        "9: A: acquire A0 on q, A: release for good q/0, A: cancel q/0, A: create 1 o,"
        " A: enqueue A1 on q, A: routed 1",
        "10: [a gets m from q], [publish o is done]",
        "15: C: joins by B",
        "17: B to C: stall 1 q/0; ; A2 B1; ; None:, B to C: front A1 on q o None,"
        " B to C: front B0 on q n None, B to C: front A0 on q m A, B to C: done q,"
        " [C has all queues]",
        "21: C: consume q/0",
        "23: C: acquire B0 on q, C: release for good q/0, C: cancel q/0, B to C: done q,"
        " [C refuses it]",
        "23.2: B to C: front A0 on q m None",
        "23.4: B to C: gone A0 on q",
        "23.6: B to C: stall 1 q/0; ; ; ; None:, [C refuses it]",
        "24: [c gets n from q],"
        " [A: q is STOPPED by None for : m n o 4 completed 1 delivered],"
        " [B: q is STOPPED by None for : m n o 1 completed],"
        " [C: q is STOPPED by None for : m n o 1 completed 1 delivered]",
        "25.2: A: dequeue A0 on q, A: consume q/0",
        "26.2: [accept m is done]",
        "27.2: A: acquire A1 on q, A: release for good q/0, A: cancel q/0",
        "28.2: [a gets o from q]",
        "30: [A: q is STOPPED by None for : n o 6 completed 2 delivered],"
        " [B: q is STOPPED by None for : n o 1 completed],"
        " [C: q is STOPPED by None for : n o 1 completed 1 delivered]",
        "31: [A keeps queues 1, held 1, created 2, bodies 2, acquired 2, declared 1,"
        " queued 2], [B keeps queues 1, created 2, bodies 2, acquired 2, declared 1,"
        " queued 2], [C keeps queues 1, held 1, created 2, bodies 2, acquired 2,"
        " declared 1, queued 2]",
    ]
