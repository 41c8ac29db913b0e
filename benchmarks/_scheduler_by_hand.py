"""The message scheduler's machine written by hand, for the same service: the same rules, no guard
that the service does not need, and nothing is undone when an event fails."""

from __future__ import annotations

from lawful.machines.message_scheduler.declaration import (
    Call,
    ChannelId,
    Discard,
    Failure,
    Frame,
    Life,
    Offer,
    Peer,
    Reason,
    Request,
    Success,
    Token,
    Type,
)
from lawful.runtime.timers import Clock


class Timer:
    """When a channel opens again."""

    __slots__ = ("due",)

    def __init__(self) -> None:
        self.due: float | None = None

    @property
    def armed(self) -> bool:
        return self.due is not None


class SchedulerByHand:
    """What `MessageScheduler` uses of the machine `Scheduler`."""

    def __init__(self, least: int, greatest: int, patience: int, clock: Clock) -> None:
        self.state = Life.RUNNING
        self.channels: dict[ChannelId, Timer] = {}
        self.queue: list[Token] = []
        self.priority: dict[Token, int] = {}
        self.overtaken: dict[Token, int] = {}
        self.seen: dict[Token, set[ChannelId]] = {}
        self.requests: dict[int, Request] = {}
        self.results: list[Success | Failure] = []
        self.calling = False
        self.offering: Token | None = None
        self.left = 0
        self.lawful = self
        self._least = least
        self._greatest = greatest
        self._patience = patience
        self._following = least
        self._clock = clock

    def connect(self, peer: Peer, channels: int) -> None:
        for number in range(channels):
            self.channels[ChannelId(peer, number)] = Timer()

    def disconnect(self, peer: Peer) -> None:
        for number in sorted(self.requests):
            if self.requests[number].channel.peer == peer:
                self._fail(number, Reason.DISCONNECT)
        gone = {channel for channel in self.channels if channel.peer == peer}
        for channel in gone:
            del self.channels[channel]
        for seen in self.seen.values():
            seen.difference_update(gone)

    def schedule(self, token: Token, priority: int) -> bool:
        if self.state == Life.STOPPED:
            return False
        self.queue.append(token)
        self.seen[token] = set()
        if priority:
            self.priority[token] = priority
        return True

    def _leave_queue(self, token: Token) -> None:
        self.queue.remove(token)
        self.priority.pop(token, None)
        self.overtaken.pop(token, None)

    def call(self) -> Call | None:
        callback = self._next()
        self.calling = callback is not None
        return callback

    def _next(self) -> Call | None:
        if self.results:
            return self.results.pop(0)
        if self.state == Life.STOPPED:
            if not self.queue:
                return None
            token = self.queue[0]
            self._leave_queue(token)
            del self.seen[token]
            return Discard(token)
        if not self.queue:
            return None
        channels = self.open()
        token: Token | None = None
        before: list[Token] = []
        for each in self.queue:
            if not channels <= self.seen[each]:
                before.append(each)
                if token is None or self.priority.get(each, 0) > self.priority.get(token, 0):
                    token = each
                if self.overtaken.get(each, 0) >= self._patience:
                    break
        if token is None:
            return None
        for earlier in before[: before.index(token)]:
            self.overtaken[earlier] = self.overtaken.get(earlier, 0) + 1
        self.seen[token] = set(channels)
        self.offering = token
        self.left = 1 if len(self.queue) > 1 else len(channels)
        return Offer(token, channels, self.left)

    def open(self) -> frozenset[ChannelId]:
        return frozenset(c for c, timer in self.channels.items() if timer.due is None)

    def send_request(self, channel: ChannelId, type: Type, timeout: int) -> Frame:
        self._close(channel, timeout)
        number = self._following
        while number in self.requests:
            number = number + 1 if number < self._greatest else self._least
        self._following = number + 1 if number < self._greatest else self._least
        self.requests[number] = Request(channel, type)
        return Frame(channel, number)

    def send_notification(self, channel: ChannelId, timeout: int) -> Frame:
        self._close(channel, timeout)
        return Frame(channel, None)

    def is_offered(self, channel: ChannelId) -> bool:
        return self.offering is not None and channel in self.seen[self.offering]

    def _close(self, channel: ChannelId, timeout: int) -> None:
        token = self.offering
        if token is None or channel not in self.seen[token] or self.left == 0:
            raise ValueError("not offered")
        if token in self.queue:
            self._leave_queue(token)
        self.left -= 1
        self.channels[channel].due = self._clock.now() + timeout
        for seen in self.seen.values():
            seen.discard(channel)

    def returned(self) -> None:
        self.calling = False
        if self.offering is not None and self.offering not in self.queue:
            self.seen.pop(self.offering, None)
        self.offering = None

    def receive(self, peer: Peer, number: int, type: Type, body: bytes) -> None:
        request = self.requests.get(number)
        if request is None or request.channel.peer != peer or request.type != type:
            return
        self.channels[request.channel].due = None
        del self.requests[number]
        self.results.append(Success(number, body))

    def _fail(self, number: int, reason: Reason) -> None:
        del self.requests[number]
        self.results.append(Failure(number, reason))

    def fire_due(self, now: float) -> None:
        for channel, timer in self.channels.items():
            if timer.due is not None and timer.due <= now:
                timer.due = None
                for number in sorted(self.requests):
                    if self.requests[number].channel == channel:
                        self._fail(number, Reason.TIMEOUT)

    def next_deadline(self) -> float | None:
        return min((t.due for t in self.channels.values() if t.due is not None), default=None)

    def stop(self) -> None:
        for number in sorted(self.requests):
            self._fail(number, Reason.SHUTDOWN)
        self.channels.clear()
        self.state = Life.STOPPED

    def over(self) -> bool:
        waits = self.calling or self.results or self.queue
        return self.state == Life.STOPPED and not waits
