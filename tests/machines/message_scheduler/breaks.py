"""The scheduler broken on purpose: a text of its declaration replaced, and who has to notice it.

Each break names the demands of `demands.py` that it breaks, and the property that fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lawful import Machine
from tests.machines.breaking import replaced

# The modules of which `MessagingFixed`, `MessagingAgeing` and `Threads` are made.
MODULES = ("declaration", "surroundings", "system", "ageing", "threads")
# Of `MessagingFixed`, with fewer states.
ONE_SENDER: Mapping[str, object] = {"Token": 1, "Type": 2}
TWO_SENDERS: Mapping[str, object] = {"Token": 2, "Type": 1}
ONE_PEER: Mapping[str, object] = {"Token": 2, "Type": 1, "Peer": 1}
TWO_CHANNELS: Mapping[str, object] = {
    "ChannelId.number": range(2),
    "connect.channels": range(1, 3),
    "Peer": 1,
    "Token": 1,
    "Type": 1,
}


@dataclass(frozen=True)
class Break:
    """`old` becomes `new`; then `noticed` fails."""

    what: str
    demands: str
    old: str
    new: str
    noticed: str
    scope: Mapping[str, object]
    module: str = "declaration"
    machine: str = "MessagingFixed"


def broken(row: Break) -> type[Machine]:
    """The composed machine with this break."""
    return replaced("message_scheduler", MODULES, (row.module, row.old, row.new), row.machine)


BREAKS = (
    Break(
        "the queue is a stack",
        "R16",
        "        self.queue.append(token)\n",
        "        self.queue.insert(0, token)\n",
        "first_come_first_served",
        ONE_PEER,
    ),
    Break(
        "a sender that continues goes before those that wait",
        "R26",
        "        self.queue.append(token)\n",
        "        if self.calling:\n"
        "            self.queue.insert(0, token)\n"
        "        else:\n"
        "            self.queue.append(token)\n",
        "first_come_first_served",
        ONE_PEER,
    ),
    Break(
        "a response of any peer is taken",
        "R3",
        '        require(request.channel.peer == peer, "comes from another peer")\n',
        "",
        "told_what_happened",
        ONE_SENDER,
    ),
    Break(
        "a response to any request is taken",
        "R3",
        '        request = needed(self.requests.get(number), "no such request")\n',
        '        require(len(self.requests) > 0, "no request")\n'
        "        number = min(self.requests)\n"
        "        request = self.requests[number]\n",
        "told_what_happened",
        ONE_SENDER,
    ),
    Break(
        "a response of any type is taken",
        "R3",
        '        require(request.type == type, "is of another type")\n',
        "",
        "told_what_happened",
        ONE_SENDER,
    ),
    Break(
        "numbers are given again while they are outstanding",
        "R3",
        "return number not in self.requests and all(r.request != number for r in self.results)",
        "return all(r.request != number for r in self.results)",
        "nobody_is_told_wrong",
        {**TWO_SENDERS, "Token": 1},
    ),
    Break(
        "requests to a peer that leaves do not fail",
        "R4 R36",
        "                self.fail(n, Reason.DISCONNECT)\n",
        "                del self.requests[n]\n",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "the channels of a peer that leaves stay",
        "R4",
        "        for c in gone:\n            del self.channels[c]\n",
        "",
        "all_that_is_open_is_offered",
        ONE_PEER,
    ),
    Break(
        "a sender may never use more than one channel",
        "R5",
        "self.left = 1 if len(self.queue) > 1 else len(channels)",
        "self.left = 1",
        "one_each_while_several_wait",
        {**ONE_SENDER, "Type": 1},
    ),
    Break(
        "a channel stays open after a message",
        "R6 R14 R21",
        "        self.channels[channel].start(timeout)\n",
        "",
        "time_is_over_for_what_is_closed",
        ONE_PEER,
    ),
    Break(
        "a sender behind one that refuses is offered nothing",
        "R7",
        "for t in self.queue if not channels <= self.seen[t]]",
        "for t in self.queue[:1] if not channels <= self.seen[t]]",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "only new channels are offered",
        "R8 R24",
        "        return Offer(token, channels, self.left)",
        "        return Offer(token, channels - self.seen[token], self.left)",
        "all_that_is_open_is_offered",
        ONE_SENDER,
    ),
    Break(
        "one sender at a time may wait",
        "R9",
        '        require(token not in self.seen, "waits already")\n',
        '        require(len(self.seen) == 0, "somebody waits")\n',
        "who_comes_is_accepted",
        ONE_PEER,
    ),
    Break(
        "the channel of a response stays closed",
        "R10",
        "        self.channels[request.channel].stop()\n",
        "",
        "time_is_over_for_what_is_closed",
        ONE_PEER,
    ),
    Break(
        "a request that is not answered in time is forgotten",
        "R11",
        "                self.fail(n, Reason.TIMEOUT)\n",
        "                del self.requests[n]\n",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "who refuses leaves the queue",
        "R12 R22",
        "        self.end_offer()\n        served",
        "        self.queue = [t for t in self.queue if t != self.offering]\n"
        "        self.end_offer()\n        served",
        "who_comes_is_accepted",
        ONE_PEER,
    ),
    Break(
        "who has closed a channel stays in the queue",
        "R22",
        "        if token in self.queue:\n            self.leave_queue(token)\n        self.left",
        "        self.left",
        "who_comes_is_accepted",
        ONE_PEER,
    ),
    Break(
        "every peer has one channel",
        "R13",
        "for number in range(channels):",
        "for number in range(1):",
        "all_that_is_open_is_offered",
        TWO_CHANNELS,
    ),
    Break(
        "a notification has the number of a request",
        "R15",
        "        return Frame(channel, None)",
        "        return Frame(channel, self.following)",
        "nobody_is_told_wrong",
        ONE_PEER,
    ),
    Break(
        "nobody is called until two wait",
        "R17",
        "        if len(unseen) == 0:",
        "        if len(unseen) < 2:",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "an offer is never exhausted",
        "R18",
        "        self.left -= 1\n",
        "",
        "offers_can_be_used",
        TWO_SENDERS,
    ),
    Break(
        "a channel carries a second message",
        "R19",
        "        for each in self.seen:\n"
        "            self.seen[each].discard(channel)\n\n"
        "    def is_offered",
        "    def is_offered",
        "offers_can_be_used",
        {**ONE_SENDER, "Type": 1},
    ),
    Break(
        "the receiver of a request is not kept",
        "R20",
        "        self.requests[number] = Request(channel, type)\n",
        "",
        "nobody_is_told_wrong",
        ONE_PEER,
    ),
    Break(
        "the reason is another one",
        "R23",
        "                self.fail(n, Reason.TIMEOUT)\n",
        "                self.fail(n, Reason.DISCONNECT)\n",
        "told_what_happened",
        ONE_PEER,
    ),
    Break(
        "the last in the queue takes all",
        "R24 R25",
        "1 if len(self.queue) > 1 else",
        "1 if len(self.queue) > 1 and token != self.queue[-1] else",
        "one_each_while_several_wait",
        TWO_SENDERS,
    ),
    Break(
        "the same offer is made again",
        "R27",
        "for t in self.queue if not channels <= self.seen[t]]",
        "for t in self.queue if len(channels) > 0]",
        "offers_differ",
        ONE_PEER,
    ),
    Break(
        "a receiver is told of another request",
        "R28",
        "        self.results.append(Success(number, body))",
        "        self.results.append(Success(3 - number, body))",
        "told_what_happened",
        ONE_PEER,
    ),
    Break(
        "no onOffer is called",
        "R29",
        "            return self.next_offer()\n",
        "            return None\n",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "no onSuccess is called",
        "R29",
        "        self.results.append(Success(number, body))\n",
        "",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "no onFailure is called",
        "R29",
        "        self.results.append(Failure(number, reason))\n",
        "",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "no onDiscard is called",
        "R29 R32",
        "        return Discard(token)\n",
        "        return None\n",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "a frame has no number",
        "R3",
        "        return Frame(channel, number)",
        "        return Frame(channel, None)",
        "nobody_is_told_wrong",
        ONE_PEER,
    ),
    Break(
        "a receiver is called twice",
        "R30",
        "            return self.results.pop(0)\n",
        "            return self.results[0]\n",
        "told_what_happened",
        ONE_PEER,
    ),
    Break(
        "a receiver that is withdrawn is called",
        "R30 R31",
        "        self.results = [r for r in self.results if r.request != number]\n",
        "",
        "told_what_happened",
        ONE_PEER,
    ),
    Break(
        "a sender that is withdrawn is offered channels",
        "R30 R31",
        "        self.leave_queue(token)\n        del self.seen[token]\n        if",
        "        if",
        "who_comes_is_accepted",
        ONE_PEER,
    ),
    Break(
        "senders are accepted after stop",
        "R32",
        "        if self.state == Life.STOPPED:\n            return False\n",
        "",
        "nothing_begins_after_stop",
        ONE_PEER,
    ),
    Break(
        "peers connect after stop",
        "R32",
        "    @transition(source=Life.RUNNING)\n    def connect",
        "    @transition()\n    def connect",
        "nothing_begins_after_stop",
        ONE_PEER,
    ),
    Break(
        "stop forgets the receivers",
        "R32",
        "            self.fail(n, Reason.SHUTDOWN)\n",
        "            del self.requests[n]\n",
        "who_waits_is_called",
        ONE_PEER,
    ),
    Break(
        "a channel whose peer is dead stays in the pool",
        "R33 R34",
        '        require(self.is_offered(channel), "is not offered")\n'
        "        del self.channels[channel]\n",
        '        require(self.is_offered(channel), "is not offered")\n',
        "all_that_is_open_is_offered",
        ONE_PEER,
    ),
    Break(
        "empty offers are made",
        "R35",
        "for t in self.queue if not channels <= self.seen[t]]",
        "for t in self.queue if not channels <= self.seen[t] or len(channels) == 0]",
        "offers_differ",
        ONE_PEER,
    ),
    Break(
        "the lock does not exclude",
        "R37",
        '        require(self.is_free(), "it is locked")\n\n'
        '    @transition(source=At.LOCKED, target=At.ASKING, of="at[t]")\n    def connect',
        '\n    @transition(source=At.LOCKED, target=At.ASKING, of="at[t]")\n    def connect',
        "lock_excludes",
        {},
        "threads",
        "Threads",
    ),
    Break(
        "callbacks overlap",
        "R38",
        '        require(not self.calling, "a callback runs")\n        callback',
        "        callback",
        "callbacks_never_overlap",
        {},
        "declaration",
        "Threads",
    ),
    Break(
        "a thread goes without asking for a callback",
        "R17",
        "        self.nobody_to_call()\n        require(t not in",
        "        require(t not in",
        "nobody_is_forgotten",
        {},
        "threads",
        "Threads",
    ),
    Break(
        "stop returns too early",
        "R31",
        "require(self.is_free() and self.scheduler.over(),",
        "require(self.is_free(),",
        "nothing_is_called_after_stop_returned",
        {},
        "threads",
        "Threads",
    ),
    Break(
        "no callback may schedule",
        "R40",
        '        require(token not in self.seen, "waits already")\n',
        '        require(not self.calling and token not in self.seen, "waits already")\n',
        "who_comes_is_accepted",
        ONE_PEER,
    ),
)
