"""More breaks of the scheduler: what is easily done wrong, with several channels, senders or
priorities."""

from __future__ import annotations

from collections.abc import Mapping

from .breaks import ONE_PEER, TWO_CHANNELS, Break

SEVERAL_CHANNELS: Mapping[str, object] = {**TWO_CHANNELS, "connect.channels": range(2, 3)}
THREE_SENDERS: Mapping[str, object] = {
    "Peer": 1,
    "Type": 1,
    "Token": 3,
    "waiting": 3,
    "queue": 3,
}
ANY_PRIORITY: Mapping[str, object] = {}  # Of `MessagingAgeing`.
# Under a clock.
TIMES: Mapping[str, object] = {"clock": range(0, 3), "results": 2, "due": 2}
TIMED_CHANNELS: Mapping[str, object] = {
    **TIMES,
    "ChannelId.number": range(0, 2),
    "connect.channels": range(2, 3),
}
TIMED_PEERS: Mapping[str, object] = {**TIMES, "Peer": 2}

SLIPS = (
    Break(
        "senders are discarded before receivers fail",
        "R32",
        "        if len(self.results) > 0:\n",
        "        stopped = self.state == Life.STOPPED and len(self.queue) > 0\n"
        "        if len(self.results) > 0 and not stopped:\n",
        "results_come_first",
        ONE_PEER,
    ),
    Break(
        "offers come before results",
        "R28",
        "        if len(self.results) > 0:\n"
        "            return self.results.pop(0)\n"
        "        if len(self.queue) == 0:\n"
        "            return None\n"
        "        if self.state == Life.RUNNING:\n"
        "            return self.next_offer()\n",
        "        offer = self.next_offer() if self.state == Life.RUNNING else None\n"
        "        if offer is not None:\n"
        "            return offer\n"
        "        if len(self.results) > 0:\n"
        "            return self.results.pop(0)\n"
        "        if len(self.queue) == 0 or self.state == Life.RUNNING:\n"
        "            return None\n",
        "results_come_first",
        ONE_PEER,
    ),
    Break(
        "stop returns while a callback runs",
        "R31",
        "            and not self.calling\n",
        "",
        "nothing_is_called_after_stop_returned",
        {},
        "declaration",
        "Threads",
    ),
    Break(
        "all is over before the senders are discarded",
        "R32",
        "len(self.results) + len(self.queue) == 0",
        "len(self.results) == 0",
        "all_is_over_when_everybody_is_told",
        ONE_PEER,
        machine="MessagingOpen",
    ),
    Break(
        "a late response is refused",
        "R3",
        '    stray = ignore("receive", otherwise=True, because="late, or of another request, peer'
        ' or type")\n',
        "",
        "what_comes_is_taken",
        ONE_PEER,
        machine="MessagingOpen",
    ),
    Break(
        "in the time of one message all of its peer are over",
        "R11",
        "if self.requests[n].channel == channel:",
        "if self.requests[n].channel.peer == channel.peer:",
        "told_what_happened",
        SEVERAL_CHANNELS,
    ),
    Break(
        "a response opens the first channel of its peer",
        "R10",
        "        self.channels[request.channel].stop()\n",
        "        self.channels[ChannelId(peer, 0)].stop()\n",
        "time_is_over_for_what_is_closed",
        SEVERAL_CHANNELS,
    ),
    Break(
        "who has seen all lets the last one go first",
        "R16",
        "        token = unseen[0]\n",
        "        token = self.queue[0] if self.queue[0] in unseen else unseen[-1]\n",
        "first_come_first_served",
        THREE_SENDERS,
    ),
    Break(
        "priorities are not looked at",
        "R16",
        "            if self.priority.get(each, 0) > self.priority.get(token, 0):\n"
        "                token = each\n",
        "",
        "the_urgent_go_first",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "a sender overtakes one that is as urgent",
        "R16 R26",
        "self.priority.get(each, 0) > self.priority.get(token, 0)",
        "self.priority.get(each, 0) >= self.priority.get(token, 0)",
        "first_come_first_served",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "nobody ages",
        "R7 R24",
        "            if self.overtaken.get(each, 0) >= self.patience:\n                break\n",
        "",
        "nobody_is_overtaken_too_often",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "a sender that continues is not urgent any more",
        "R26",
        "        if priority > 0:\n",
        "        if priority > 0 and not self.calling:\n",
        "the_urgent_go_first",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "an overtaking counts twice",
        "R26",
        "self.overtaken.get(earlier, 0) + 1",
        "self.overtaken.get(earlier, 0) + 2",
        "the_urgent_go_first",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "a sender is overtaken once too often",
        "R24",
        "if self.overtaken.get(each, 0) >= self.patience:",
        "if self.overtaken.get(each, 0) > self.patience:",
        "nobody_is_overtaken_too_often",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "one that has refused a channel is overtaken by who is offered it next",
        "R16",
        "for earlier in unseen[: unseen.index(token)]:",
        "for earlier in self.queue[: self.queue.index(token)]:",
        "the_urgent_go_first",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "who is scheduled again was overtaken already",
        "R16",
        "        self.overtaken.pop(token, None)\n",
        "",
        "the_urgent_go_first",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "who is scheduled again is as urgent as it was",
        "R16",
        "        self.priority.pop(token, None)\n",
        "",
        "the_urgent_go_first",
        ANY_PRIORITY,
        machine="MessagingAgeing",
    ),
    Break(
        "an answer begins the times of its peer's other messages again",
        "R21",
        "        self.channels[request.channel].stop()\n",
        "        self.channels[request.channel].stop()\n"
        "        for c in self.channels:\n"
        "            if c.peer == peer and self.channels[c].armed:\n"
        "                self.channels[c].start(1)\n",
        "time_is_over_for_what_is_closed",
        TIMED_CHANNELS,
        machine="MessagingInTime",
    ),
    Break(
        "a peer has one timer for all its channels",
        "R21",
        "        self.channels[channel].start(timeout)\n",
        "        for c in self.channels:\n"
        "            if c.peer == channel.peer and (c == channel or self.channels[c].armed):\n"
        "                self.channels[c].start(timeout)\n",
        "time_is_over_for_what_is_closed",
        TIMED_CHANNELS,
        machine="MessagingInTime",
    ),
    Break(
        "a peer that connects begins the times of all messages again",
        "R21",
        "            self.channels[ChannelId(peer, number)] = Timer()\n",
        "            self.channels[ChannelId(peer, number)] = Timer()\n"
        "        for c in self.channels:\n"
        "            if self.channels[c].armed:\n"
        "                self.channels[c].start(1)\n",
        "time_is_over_for_what_is_closed",
        TIMED_PEERS,
        machine="MessagingInTime",
    ),
)
