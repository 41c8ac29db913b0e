"""More breaks of object diffusion: what no demand names, and is easily done wrong."""

from __future__ import annotations

from typing import NamedTuple

from lawful import Machine
from tests.machines.breaking import replaced

# Those of which the machines are made, in an order in which each finds what it imports.
MODULES = (
    *("messages", "callbacks", "declaration", "attribution", "registry", "in_turns"),
    *("system", "in_time"),
)


class Slip(NamedTuple):
    """In the module, `old` becomes `new`; then `fails` does, of this machine within this scope."""

    what: str
    module: str
    old: str
    new: str
    machine: str
    scope: str
    fails: str


def slipped(row: Slip) -> type[Machine]:
    return replaced("object_diffusion", MODULES, (row.module, row.old, row.new), row.machine)


SLIPS = (
    Slip(
        "what is inserted leaves the way to the pool of all peers",
        "registry",
        "        self.peers[p].on_added_to_pool(x)\n        self.lock = None",
        "        for each in self.peers.values():\n"
        "            if x in each.owt_pool:\n"
        "                each.on_added_to_pool(x)\n"
        "        self.lock = None",
        "Registry",
        "scope",
        "only_the_holder_inserts",
    ),
    Slip(
        "the holder of the lock inserts another object",
        "registry",
        '        require(self.lock == Insertion(p, x), "does not have the lock")\n'
        "        self.peers[p]",
        '        lock = needed(self.lock, "is not locked")\n'
        '        require(lock.peer == p, "does not have the lock")\n'
        "        self.peers[p]",
        "AnyPeers",
        "inserting",
        "only_the_holder_inserts",
    ),
    Slip(
        "the lock is given to another peer that has the object",
        "registry",
        "        self.lock = Insertion(p, x)",
        "        having = {q for q in self.peers if x in self.peers[q].owt_pool}\n"
        "        self.lock = Insertion(max(having), x)",
        "DiffusionFixed",
        "redundant",
        "asserts",
    ),
    Slip(
        "an entry has the limit of all peers together",
        "registry",
        "max_num_objects_inflight=self.max_num_objects_inflight_per_peer,",
        "max_num_objects_inflight=self.max_num_objects_inflight_total,",
        "Registry",
        "scope",
        "entries_have_the_limits_of_the_node",
    ),
    Slip(
        "each round begins with the same object",
        "registry",
        "        self.last = begun_with(interesting, acquiring, picked, self.last)\n",
        "",
        "Registry",
        "several",
        "rounds_take_turns",
    ),
    Slip(
        "the lock is given to a second peer",
        "registry",
        '        require(self.lock is None, "the pool is locked")\n',
        "",
        "DiffusionFixed",
        "redundant",
        "the_lock_is_given_back",
    ),
    Slip(
        "the holder of the lock takes it for another object",
        "registry",
        '        require(self.lock is None, "the pool is locked")\n',
        "        lock = self.lock\n"
        '        require(lock is None or lock.peer == p, "the pool is locked")\n',
        "AnyPeers",
        "inserting",
        "the_lock_is_free_before_it_is_taken",
    ),
    Slip(
        "the time limit of a reply begins again with each request",
        "callbacks",
        "        if len(self.pending) == 0:\n            self.reply.start(self.reply_timeout)",
        "        self.reply.start(self.reply_timeout)",
        "DiffusionInTime",
        "scope",
        "nobody_is_awaited_for_longer",
    ),
    Slip(
        "the time limit goes on over the next reply",
        "callbacks",
        "        self.reply.stop()\n        if len(self.pending) > 0:\n"
        "            self.reply.start(self.reply_timeout)",
        "        if len(self.pending) == 0:\n            self.reply.stop()",
        "DiffusionInTime",
        "scope",
        "nobody_is_given_up_early",
    ),
    Slip(
        "only the first ID is offered",
        "callbacks",
        "for x in kept if x in self.available_ids",
        "for x in kept[:1] if x in self.available_ids",
        "InboundPeerFixed",
        "scope",
        "what_the_pool_lacks_may_be_requested",
    ),
    Slip(
        "nothing is offered while a reply with IDs is under way",
        "callbacks",
        "for x in kept if x in self.available_ids",
        "for x in kept if self.num_ids_in_flight == 0 and x in self.available_ids",
        "InboundPeerFixed",
        "scope",
        "what_the_pool_lacks_may_be_requested",
    ),
    Slip(
        "a round requests in the order of the IDs, whatever it says that it begins with",
        "registry",
        "acquiring, self.inflight(), limits, self.last)",
        "acquiring, self.inflight(), limits, None)",
        "RegistryInTurns",
        "scope",
        "rounds_take_turns",
    ),
    Slip(
        "a round requests one object of each peer",
        "registry",
        "            self.max_num_objects_inflight_per_peer,\n"
        "            self.max_num_objects_inflight_total,\n        )\n        interesting",
        "            1,\n"
        "            self.max_num_objects_inflight_total,\n        )\n        interesting",
        "RegistryInTurns",
        "scope",
        "a_round_asks_for_all_that_it_may",
    ),
    Slip(
        "a round picks more than an entry accepts",
        "registry",
        "            self.max_num_objects_inflight_per_peer,\n"
        "            self.max_num_objects_inflight_total,\n        )\n        interesting",
        "            self.max_num_objects_inflight_per_peer + 1,\n"
        "            self.max_num_objects_inflight_total,\n        )\n        interesting",
        "RegistryInTurns",
        "scope",
        "a_round_is_possible_at_any_time",
    ),
)
