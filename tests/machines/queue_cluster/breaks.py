"""The classes that a service embeds, broken on purpose: a text replaced, and who has to notice it.

Each break names the demands of `demands.py` that it breaks, and a property of a machine with these
classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lawful import Machine
from tests.machines.breaking import replaced

NAMES = (
    "messages",
    "ownership",
    "declaration",
    "wiring",
    "replica",
    "joining",
    "system",
    "ledger",
    "deliveries",
    "brokers",
    "promises",
    "clients",
    "acceptance",
    "subscribers",
)


# With more of one thing and less of others; of `BrokersFixed`, if no other machine is named.
SCOPES: Mapping[str, Mapping[str, object]] = {
    "scope": {},
    "joining": {"joins": (1,), "changes": (1,)},
    "crashing": {"crashes": (1,), "returns": (0,)},
    "declaring": {
        "declares": (1,),
        "wirings": (2,),
        "destroys": (1,),
        "changes": (1,),
        "returns": (0,),
    },
    "redeclaring": {
        "declares": (1,),
        "wirings": (2,),
        "destroys": (1,),
        "changes": (1,),
        "returns": (0,),
        "messages": (0,),
    },
    "binding": {"wirings": (1,), "destroys": (1,), "changes": (1,), "returns": (0,)},
    "several": {"messages": (2,), "changes": (1,), "outbox": 8},
    "dead_letters": {"QueueName": 2, "changes": (1,)},
    # Of `ClientsFixed`.
    "ringing": {"ring": (1,)},
    "wiring": {"said": 1, "wirings": (1,)},
    "rejecting": {
        "MessageId.seq": range(0, 2),
        "Create.seq": range(0, 1),
        "Node": 1,
        "Nat": range(0, 3),
        "QueueName": 2,
    },
    "destroying": {
        "MessageId.seq": range(0, 2),
        "Create.seq": range(0, 1),
        "Node": 1,
        "Nat": range(0, 3),
        "QueueName": 2,
        "wirings": (1,),
    },
}


@dataclass(frozen=True)
class Break:
    """In a module, `old` becomes `new`; then `noticed` fails of a machine within this scope: of
    `BrokersLive`, if it says what happens in the end."""

    what: str
    demands: str
    module: str
    old: str
    new: str
    noticed: str
    scope: str = "scope"
    machine: str = "BrokersFixed"


def broken(row: Break) -> type[Machine]:
    """The machine with this break."""
    return replaced("queue_cluster", NAMES, (row.module, row.old, row.new), row.machine)


SAID = "replicas_have_what_was_said"
OWNED = "owners_know_what_was_said"
BREAKS = (
    Break(
        "the queue goes to another peer",
        "Q34 Q39",
        "ownership",
        "self.owner = self.next_after(sender, m.interested)",
        "self.owner = max(self.consumers, default=sender)",
        OWNED,
    ),
    Break(
        "a stack for a queue",
        "Q24",
        "replica",
        "            self.queues[key.queue].append(key.id)\n",
        "            self.queues[key.queue].insert(0, key.id)\n",
        SAID,
        "several",
    ),
    Break(
        "a consume is not returned",
        "Q42",
        "ownership",
        "        self.sent.append(Consume())\n        return Consume()",
        "        self.sent.append(Consume())\n        return None",
        "what_is_under_way_is_remembered",
    ),
    Break(
        "a release is remembered and not returned",
        "Q36",
        "ownership",
        "            return release, None",
        "            return Release(interested=False), None",
        "what_is_under_way_is_remembered",
    ),
    Break(
        "a message that comes back is the last one",
        "Q26",
        "replica",
        "            del self.acquired[key]\n            self.redelivered.add(key)",
        "            del self.acquired[key]\n            self.redelivered.add(key)\n"
        "            self.queues[key.queue].remove(key.id)\n"
        "            self.queues[key.queue].append(key.id)",
        SAID,
        "several",
    ),
    Break(
        "it is not said that a message comes again",
        "Q20",
        "replica",
        "            del self.acquired[key]\n            self.redelivered.add(key)",
        "            del self.acquired[key]",
        SAID,
    ),
    Break(
        "the last free message is taken first",
        "Q20",
        "replica",
        "first = next((id for id in self.queues[q] if self.free(Key(id, q))), None)",
        "first = next((id for id in reversed(self.queues[q]) if self.free(Key(id, q))), None)",
        "messages_are_taken_in_turn",
        "several",
    ),
    Break(
        "a rejected message stays where it was, too",
        "Q8 Q21 Q27",
        "replica",
        "            self.remove(m.key)\n            self.move",
        "            self.move",
        SAID,
        "dead_letters",
    ),
    Break(
        "a rejected message is dropped",
        "Q27",
        "replica",
        "            self.move(m.to, MessageId(sender, m.seq), m.body)",
        "            self.move(None, MessageId(sender, m.seq), m.body)",
        SAID,
        "dead_letters",
    ),
    Break(
        "what a member had stays acquired when it leaves",
        "Q29",
        "replica",
        "        self.acquired = {key: n for key, n in self.acquired.items() if n != member}\n",
        "",
        SAID,
        "crashing",
    ),
    Break(
        "a member that leaves keeps the queue",
        "Q41",
        "ownership",
        "        if self.owner == member:\n            self.owner = self.next_after(member, False)",
        "        pass",
        OWNED,
        "crashing",
    ),
    Break(
        "a node joins without ownership",
        "Q37 Q48",
        "declaration",
        "        self.owner = owner\n",
        "        self.owner = None\n",
        OWNED,
        "joining",
    ),
    Break(
        "a node joins without those who are interested",
        "Q37 Q48",
        "declaration",
        "        self.consumers = set(consumers)\n",
        "        self.consumers = set()\n",
        OWNED,
        "joining",
    ),
    Break(
        "a node joins and takes every message for a free one",
        "Q48 Q56",
        "joining",
        "                self.acquired[key] = holder",
        "                pass",
        SAID,
        "joining",
    ),
    Break(
        "a node that joins forgets what it hears of messages that are still to come",
        "Q56",
        "joining",
        "            self.heard[key] = Heard(sender, self.comes_again(key), False)",
        "            pass",
        SAID,
        "joining",
    ),
    Break(
        "a message comes after it is gone",
        "Q28 Q56",
        "joining",
        "(said is None or not said.gone)",
        "(said is None or said.gone == said.gone)",
        SAID,
        "joining",
    ),
    Break(
        "bindings outlive their queue",
        "Q43 Q47",
        "replica",
        "        self.bindings = {b for b in self.bindings if b.queue != q}\n",
        "",
        "replicas.bindings_have_their_queue",
        "binding",
    ),
    Break(
        "a queue that is destroyed goes on at its owner",
        "Q43",
        "brokers",
        "            self.owners[n, q].destroy_delivered()",
        "            pass",
        "every_queue_is_everywhere",
        "declaring",
    ),
    Break(
        "a queue that is declared again has the owner that ended",
        "Q43 Q47",
        "brokers",
        "                if not self.lasts(n, q):\n",
        "                if (n, q) not in self.owners:\n",
        "every_queue_is_everywhere",
        "redeclaring",
    ),
    Break(
        "a late multicast about a queue that was destroyed counts for the next one of its name",
        "Q43 Q47",
        "brokers",
        " and self.replicas[n].declared.get(q) == m.declared",
        "",
        OWNED,
        "redeclaring",
    ),
    Break(
        "a queue is declared again while a consumer is busy with the last one",
        "Q31 Q43",
        "brokers",
        "require(not self.ends(n, q)",
        "require(n in self.replicas",
        "handling_ends_no_consumer",
        "redeclaring",
    ),
    Break(
        "a node that joins does not know which declaration made a queue",
        "Q47 Q48",
        "joining",
        "        self.declarations = declarations\n",
        "        self.declarations = 0\n",
        "replicas.each_queue_has_its_number",
        "joining",
    ),
    Break(
        "a node that joins forgets that it was told who has a message",
        "Q26 Q56",
        "joining",
        "                    self.told.add(key)",
        "                    pass",
        "what_has_its_place_is_handled",
        "joining",
    ),
    Break(
        "a node that joins is told nothing of an empty queue",
        "Q56",
        "joining",
        "            self.to_send[c.queue] = list(c.ids)\n",
        "            if len(c.ids) > 0:\n                self.to_send[c.queue] = list(c.ids)\n",
        "an_update_goes_on_until_it_is_done",
        "joining",
    ),
    Break(
        "who waits for busy consumers does not count them out",
        "Q31",
        "ownership",
        "source=(Ownership.OWNED, Ownership.STOPPING, Ownership.ENDED)",
        "source=(Ownership.OWNED, Ownership.ENDED)",
        "who_is_busy_ends",
        machine="BrokersLive",
    ),
    Break(
        "what came back can no longer be accepted",
        "Q20 Q26",
        "replica",
        "        require(key in self.held, ",
        "        require(key in self.held and key not in self.redelivered, ",
        "what_is_acquired_is_settled",
        machine="BrokersLive",
    ),
    Break(
        "an update does not end",
        "Q5 Q56",
        "joining",
        "        self.forget_update(m.queue)\n",
        "        pass\n",
        "who_joins_gets_every_queue",
        "joining",
        "BrokersLive",
    ),
    Break(
        "who has joined may never own a queue",
        "Q48 Q56",
        "declaration",
        "source=Ownership.UPDATING, target=Ownership.STOPPED",
        "source=Ownership.UPDATING",
        "who_joins_gets_every_queue",
        "joining",
        "BrokersLive",
    ),
)
