"""Changes of several lines, each of which fits the others: who notices them.

A mutant is one small change. A programmer who gets something wrong does so everywhere: the sender
and the receiver agree on a wrong order, or a wrong answer has its own transition. Others go wrong
beyond every scope, where many messages wait: proofs notice these. Most of this was once noticed by
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from lawful.checks.prove import prove
from lawful.spec.resolve import resolve
from tests.machines.breaking import failing, rewritten

Change = tuple[str, str, str]  # In this module this text becomes that one.
MOST = 50_000  # States.
# `make nightly` tries all.
ALWAYS = ("who gives up after many acks does not report",)


class Combined(NamedTuple):
    """With all changes `noticed` fails of this machine within this scope.

    `modules` are those of which it is made, in an order in which each finds what it imports.
    """

    what: str
    system: str
    modules: tuple[str, ...]
    changes: tuple[Change, ...]
    machine: str
    scope: str
    noticed: str


UPDATES = (
    *("messages", "ownership", "declaration", "wiring", "replica", "joining"),
    *("system", "ledger", "deliveries", "updates"),
)
ROUNDS = ("messages", "callbacks", "declaration", "attribution", "registry", "in_turns")
EVERY = (
    Combined(
        "a queue is sent from front to back, and what is sent goes to the back",
        "queue_cluster",
        UPDATES,
        (
            ("joining", "self.to_send[q].pop(), q)", "self.to_send[q].pop(0), q)"),
            (
                "joining",
                "            self.queues[key.queue].insert(0, key.id)\n",
                "            self.queues[key.queue].append(key.id)\n",
            ),
        ),
        "UpdatesFixed",
        "growing",
        "replicas_have_what_was_said",
    ),
    Combined(
        "a dead letter goes before what a node that joins was sent",
        "queue_cluster",
        UPDATES,
        (
            (
                "joining",
                "            self.queued.add(key)\n        super().push(key)\n",
                "            self.queued.add(key)\n        super().push(key)\n"
                "        letter = key in self.queued and key.id not in self.routing\n"
                "        if letter and key.queue in self.updating:\n"
                "            self.queues[key.queue].remove(key.id)\n"
                "            self.queues[key.queue].insert(0, key.id)\n",
            ),
        ),
        "UpdatesFixed",
        "dead_letters_behind",
        "replicas_have_what_was_said",
    ),
    Combined(
        "when the window's time is over a thread can only put back what it has executed",
        "read_only_windows",
        ("declaration",),
        (
            (
                "declaration",
                "        self.busy.discard(thread)\n        self.unanswered -= 1\n",
                '        require(self.state != Phase.OVER, "the time is over")\n'
                "        self.busy.discard(thread)\n"
                "        self.unanswered -= 1\n",
            ),
        ),
        "WindowFixed",
        "scope",
        "what_is_executed_may_be_answered",
    ),
    Combined(
        "a round without room takes the turn of an object",
        "object_diffusion",
        ROUNDS,
        (
            (
                "attribution",
                "    on_its_way = acquiring[first] > 0"
                " or any(first in some for some in picked.values())\n"
                "    return first if on_its_way else last\n",
                "    return first\n",
            ),
        ),
        "RoundsFixed",
        "scope",
        "every_object_has_its_turn",
    ),
    Combined(
        "the same, in the registry",
        "object_diffusion",
        ROUNDS,
        (
            (
                "registry",
                "        self.last = begun_with(interesting, acquiring, picked, self.last)\n",
                "        order = in_turn(interesting, self.last)\n"
                "        self.last = order[0] if len(order) > 0 else self.last\n",
            ),
        ),
        "RegistryInTurns",
        "scope",
        "a_round_begins_as_it_says",
    ),
)


def each(rows: Sequence[Combined]) -> pytest.MarkDecorator:
    """The parameter `row` of a test."""
    nightly = pytest.mark.nightly
    return pytest.mark.parametrize(
        "row",
        [
            pytest.param(row, id=row.what, marks=() if row.what in ALWAYS else nightly)
            for row in rows
        ],
    )


@each(EVERY)
def test_changes_that_fit_each_other_are_noticed(row: Combined) -> None:
    cls = rewritten(row.system, row.modules, row.changes, row.machine)
    assert row.noticed in failing(cls, most=MOST, scope=row.scope)


UNICAST = ("messages", "declaration")
BEYOND = (
    Combined(
        "of more messages than three the first is forgotten",
        "unicast",
        UNICAST,
        (
            (
                "declaration",
                "        self.window[self.highest_sent] = payload\n",
                "        self.window[self.highest_sent] = payload\n"
                "        if len(self.window) > 3:\n"
                "            del self.window[self.highest_acked + 1]\n"
                "            self.highest_acked += 1\n",
            ),
        ),
        "SenderEntryFixed",
        "scope",
        "only_acks_acknowledge",
    ),
    Combined(
        "who gives up after many acks does not report",
        "unicast",
        UNICAST,
        (("declaration", "        self.reported = True\n", "        self.reported = acked < 6\n"),),
        "SenderEntryFixed",
        "scope",
        "no_silent_loss",
    ),
    Combined(
        "a message that is far ahead is taken for one to begin with",
        "unicast",
        (*UNICAST, "callers"),
        (
            (
                "declaration",
                "        if m.first:\n            self.next = max(",
                "        if m.first or m.seqno > self.next + 5:\n            self.next = max(",
            ),
        ),
        "ReceiverCalled",
        "scope",
        "goes_on_where_it_was_told",
    ),
    Combined(
        "at most seven messages are sent again, the oldest",
        "unicast",
        (*UNICAST, "callers"),
        (
            (
                "declaration",
                "        known = m.conn == self.conn\n",
                "        known = m.conn == self.conn\n        last = self.highest_acked + 7\n",
            ),
            (
                "declaration",
                "for q in m.missing if known and q in self.window)",
                "for q in m.missing if known and q in self.window and q <= last)",
            ),
        ),
        "SenderCalled",
        "scope",
        "asserts",
    ),
    Combined(
        "at most six missing messages are asked for",
        "unicast",
        (*UNICAST, "callers"),
        (
            (
                "declaration",
                "        missing = frozenset(q for q in range(self.next, self.highest)"
                " if q not in self.buffer)\n",
                "        last = min(self.highest, self.next + 6)\n"
                "        missing = frozenset(q for q in range(self.next, last)"
                " if q not in self.buffer)\n",
            ),
            (
                "declaration",
                'for q in range(self.next, self.highest)), "no gaps")',
                'for q in range(self.next, last)), "no gaps")',
            ),
        ),
        "ReceiverCalled",
        "scope",
        "asserts",
    ),
    Combined(
        "of a long queue only the first six are answered at the end",
        "read_only_windows",
        ("declaration",),
        (
            (
                "declaration",
                "        closed = self.queued\n        self.unanswered -= closed\n",
                "        closed = min(self.queued, 6)\n        self.unanswered -= closed\n",
            ),
        ),
        "WindowFixed",
        "scope",
        "nothing_is_dropped",
    ),
    Combined(
        "two threads at most have a task",
        "read_only_windows",
        ("declaration",),
        (
            (
                "declaration",
                "for w in range(self.read_only_transaction_num_threads)}",
                "for w in range(min(2, self.read_only_transaction_num_threads))}",
            ),
        ),
        "WindowFixed",
        "scope",
        "every_thread_has_a_task",
    ),
)


@each(BEYOND)
def test_what_goes_wrong_beyond_the_scope_is_not_proved(row: Combined) -> None:
    cls = rewritten(row.system, row.modules, row.changes, row.machine)
    assert failing(cls, scope=row.scope) == set()
    result = prove(resolve(cls).machine, sizes={})
    assert row.noticed in {p.name for p in result.properties if not p.verdict.proved}
