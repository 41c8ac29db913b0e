"""Changes of several lines, each of which fits the others: who notices them.

A mutant is one small change. A programmer who gets something wrong does so everywhere: the sender
and the receiver agree on a wrong order, or a wrong answer has its own transition. Each of these
was once noticed by nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.machines.breaking import failing, rewritten

Change = tuple[str, str, str]  # In this module this text becomes that one.
MOST = 50_000  # States.


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


WINDOWS = ("declaration", "transaction", "steps", "system")
UPDATES = (
    *("messages", "ownership", "declaration", "wiring", "replica", "joining"),
    *("system", "ledger", "deliveries", "updates"),
)
EVERY = (
    Combined(
        "what comes while a window ends is turned away",
        "read_only_windows",
        WINDOWS,
        (
            (
                "declaration",
                'event="arrive", source=OPEN)',
                'event="arrive", source=(Phase.WRITE, Phase.READ))',
            ),
            (
                "declaration",
                'event="arrive", source=(Phase.STOPPING, Phase.STOPPED))',
                'event="arrive", source=(\n'
                "        Phase.DRAINING, Phase.OVER, Phase.STOPPING, Phase.STOPPED\n"
                "    ))",
            ),
        ),
        "NodeFixed",
        "scope",
        "only_shutdown_turns_away",
    ),
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
)


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.what)
def test_changes_that_fit_each_other_are_noticed(row: Combined) -> None:
    cls = rewritten(row.system, row.modules, row.changes, row.machine)
    assert row.noticed in failing(cls, most=MOST, scope=row.scope)
