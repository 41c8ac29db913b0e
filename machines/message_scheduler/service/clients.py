"""Clients of a scheduler: a bulk fetcher, a notifier, an announcer, and one that tries again
elsewhere.

Each is a sender, and those that ask are receivers, too. Their callbacks never overlap, so that
they need no lock of their own; another thread may wait for `done`, and reads the results after it.

Source: `message-scheduler.md`, demands R5, R12, R21, R23 and R26.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable

from ...services.threads import Event, SystemThreads, Threads
from ..declaration import ChannelId, Peer, Reason, Token
from .offering import Message, Offering
from .scheduler import MessageScheduler

SYSTEM = SystemThreads()


def name_of(peer: Peer) -> str:
    """The name of a peer, which it keeps when it connects again."""
    return str(peer).rpartition("#")[0]


class BulkFetcher:
    """Asks for many things at once, of whichever peers there are (R5).

    `found`: what came, by what was asked. `failed`: what did not come in `tries` tries of each peer
    that was offered, or before the scheduler stopped. `done` is set when each was found or has
    failed. `is_right(wanted, body)` says whether a response contains what was asked: a peer may
    lie, and the scheduler does not look into bodies. A wrong one is a try that has failed.
    """

    def __init__(
        self,
        scheduler: MessageScheduler,
        message: Message,
        wanted: Iterable[bytes],
        *,
        is_right: Callable[[bytes, bytes], bool],
        tries: int = 10,
        priority: int = 0,
        threads: Threads = SYSTEM,
    ) -> None:
        """`message`: the type and the timeout of each request; its body goes before what is
        wanted. `priority`: of each sender that it schedules."""
        self.found: dict[bytes, bytes] = {}
        self.failed: set[bytes] = set()
        self.done: Event = threads.event()
        self._scheduler = scheduler
        self._message = message
        self._is_right = is_right
        self._wanted = deque(dict.fromkeys(wanted))
        self._count = len(self._wanted)
        self._tries = tries
        self._priority = priority
        self._failures: dict[bytes, Counter[str]] = {}  # Of each peer, by its name.
        self._peers: set[str] = set()  # That were offered.
        self._asked: dict[int, tuple[bytes, str]] = {}
        self._waits = False
        self._refused: Token | None = None  # With it a channel was refused, of use perhaps later.

    def start(self) -> None:
        """Begin to fetch; called once."""
        self._go_on()

    def _go_on(self) -> None:
        if self._wanted and not self._waits:
            self._waits, self._refused = True, None
            if self._scheduler.schedule(self, self._priority) is None:
                self.on_discard()
        if len(self.found) + len(self.failed) == self._count:
            self.done.set()

    def on_offer(self, offering: Offering) -> None:
        """Ask for as much as may be asked; for the rest, wait again (R26)."""
        self._peers.update(map(name_of, offering.peers))
        for channel in offering:
            if not self._wanted or offering.left == 0:
                break
            name = name_of(channel.peer)
            what = next((each for each in self._wanted if not self._spent(each, name)), None)
            if what is None:
                self._refused = offering.token
                continue
            body = self._message.body + what
            message = Message(self._message.type, body, self._message.timeout)
            number = offering.send_request(channel, message, self)
            self._wanted.remove(what)
            self._asked[number] = what, name
            self._waits = False
        self._go_on()

    def _spent(self, what: bytes, name: str) -> bool:
        """Whether this peer was asked for it often enough."""
        return what in self._failures and self._failures[what][name] >= self._tries

    def on_discard(self) -> None:
        """The scheduler has stopped."""
        self.failed.update(self._wanted)
        self._wanted.clear()
        self._go_on()

    def on_success(self, number: int, body: bytes) -> None:
        what, name = self._asked.pop(number)
        if self._is_right(what, body):
            self.found[what] = body
        else:
            self._failed(what, name)
        self._go_on()

    def on_failure(self, number: int, reason: Reason) -> None:
        self._failed(*self._asked.pop(number))
        self._go_on()

    def _failed(self, what: bytes, name: str) -> None:
        """Ask again, unless each peer was asked often enough; after `stop`, `schedule` says so."""
        self._failures.setdefault(what, Counter())[name] += 1
        if all(self._spent(what, each) for each in self._peers):
            self.failed.add(what)
            return
        self._wanted.append(what)
        if self._waits and self._refused is not None and self._scheduler.withdraw(self._refused):
            self._waits = False  # What it has refused, it is offered again.


class Notifier:
    """Sends one notification to each of so many different peers. `told`: their names; `done` is
    set when they are enough, or the scheduler has stopped."""

    def __init__(
        self,
        scheduler: MessageScheduler,
        message: Message,
        peers: int,
        threads: Threads = SYSTEM,
    ) -> None:
        self.told: set[str] = set()
        self.done: Event = threads.event()
        self._scheduler = scheduler
        self._message = message
        self._peers = peers

    def start(self) -> None:
        """Begin; called once. A sender that goes on is another one (R26)."""
        if self._scheduler.schedule(self) is None:
            self.on_discard()

    def on_offer(self, offering: Offering) -> None:
        """Tell each peer that was not told; whoever was is refused (R22)."""
        before = len(self.told)
        try:
            for channel in offering:
                if len(self.told) < self._peers and offering.left > 0:
                    self._tell(offering, channel)
        finally:
            if len(self.told) == self._peers:
                self.done.set()
            elif len(self.told) > before:
                self.start()

    def _tell(self, offering: Offering, channel: ChannelId) -> None:
        name = name_of(channel.peer)
        if name not in self.told:
            offering.send_notification(channel, self._message)
            self.told.add(name)

    def on_discard(self) -> None:
        self.done.set()


class Announcer:
    """Sends so many notifications, one after the other, each to whichever peer is free first.

    `sent`: how many. `done` is set after the last, or when the scheduler has stopped. Each is a
    sender of its own: with a priority it overtakes those that wait (R26).
    """

    def __init__(
        self,
        scheduler: MessageScheduler,
        message: Message,
        count: int,
        *,
        priority: int = 0,
        threads: Threads = SYSTEM,
    ) -> None:
        self.sent = 0
        self.done: Event = threads.event()
        self._scheduler = scheduler
        self._message = message
        self._count = count
        self._priority = priority

    def start(self) -> None:
        """Begin; called once."""
        if self.sent == self._count or self._scheduler.schedule(self, self._priority) is None:
            self.done.set()

    def on_offer(self, offering: Offering) -> None:
        channel = next(iter(offering), None)
        if channel is not None:
            offering.send_notification(channel, self._message)
            self.sent += 1
            self.start()

    def on_discard(self) -> None:
        self.done.set()


class RetryElsewhere:
    """One request, which goes to a peer that was not yet asked if the offer has one (R12).

    `body`: the response, or None if `tries` tries have failed or the scheduler has stopped.
    `asked`: the names of the peers asked, in order. `done` is set at the end.
    """

    def __init__(
        self,
        scheduler: MessageScheduler,
        message: Message,
        tries: int = 5,
        threads: Threads = SYSTEM,
    ) -> None:
        self.body: bytes | None = None
        self.asked: list[str] = []
        self.done: Event = threads.event()
        self._scheduler = scheduler
        self._message = message
        self._tries = tries

    def start(self) -> None:
        """Begin; called once."""
        if self._scheduler.schedule(self) is None:
            self.on_discard()

    def on_offer(self, offering: Offering) -> None:
        channels = list(offering)
        if channels:
            fresh = [c for c in channels if name_of(c.peer) not in self.asked]
            channel = (fresh or channels)[0]
            offering.send_request(channel, self._message, self)
            self.asked.append(name_of(channel.peer))

    def on_discard(self) -> None:
        self.done.set()

    def on_success(self, number: int, body: bytes) -> None:
        self.body = body
        self.done.set()

    def on_failure(self, number: int, reason: Reason) -> None:
        if reason == Reason.SHUTDOWN or len(self.asked) == self._tries:
            self.done.set()
        else:
            self.start()
