"""A thread-safe scheduler of messages to peers, which embeds the machine `Scheduler`.

The machine decides: who waits, who is offered which channels and how many, which response answers
which request, when a time is over, what `stop` ends. This class holds one lock during each event,
sends the frames that the machine returns, and calls the callbacks that it returns, without the
lock, one at a time. It keeps only what the machine does not know: the objects behind tokens,
numbers and peers, and counters.

    scheduler = MessageScheduler()
    peer = scheduler.connect(link, "A", channels=2)
    token = scheduler.schedule(sender)      # sender.on_offer(offering) may run at once
    scheduler.stop()

Any thread may call any method, also inside a callback. The thread that finds a callback due runs
it, whoever scheduled it: a callback should be short. A sender may have a priority: a more urgent
one overtakes those that came earlier, each at most `Config.patience` times.

Source: `message-scheduler.md`, demands R3 to R40.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count

from lawful import Refused
from lawful.runtime.timers import MILLISECONDS, SteadyClock

from ..declaration import (
    Call,
    ChannelId,
    Discard,
    Failure,
    Offer,
    Peer,
    Scheduler,
    Success,
    Token,
    Type,
)
from .offering import Link, Message, Offering, OfferOver, Receiver, Sender
from .settings import Config, Options, Stats
from .wire import Notification, Request, encode, encode_text


class Stopped(Exception):
    """The scheduler was stopped: it takes no peer any more."""


class MessageScheduler:
    """Offers the open channels of its peers to the senders that wait.

    `driven` names who fires the timers; an `Overlay` does so.
    """

    def __init__(self, config: Config | None = None, options: Options | None = None) -> None:
        self._config = config or Config()
        self._options = options or Options()
        self._clock = SteadyClock(self._options.clock, MILLISECONDS)
        self._machine = Scheduler(
            least=self._config.least,
            greatest=self._config.greatest,
            patience=self._config.patience,
            clock=self._clock,
        )
        if self._options.journal is not None:
            self._options.journal.attach(self._machine, self._options.name)
        self._lock = self._options.threads.lock()
        self._over = self._options.threads.event()
        self._links: dict[Peer, Link] = {}
        self._senders: dict[Token, Sender] = {}
        self._receivers: dict[int, Receiver] = {}
        self._used: dict[ChannelId, int] = {}  # When, for the order in an offering.
        self._names = count(1)
        self._uses = count(1)
        self._urgent = False  # A sender with a priority has come: some may be overtaken.
        self._counts: Counter[str] = Counter()
        self._broken: Exception | None = None  # What the journal raised while callbacks were due.
        self._caller: int | None = None  # The thread that runs a callback.
        self._due: float | None = None  # No timer is due earlier, in milliseconds.
        self._asleep = 0.0  # So long sleeps at most who has called `wait` last, in milliseconds.
        self._sooner: Callable[[], None] | None = None

    # Peers.

    def connect(self, link: Link, name: str, channels: int) -> Peer:
        """A peer has connected: its channels are open. One that connects again is another Peer.

        Errors: Stopped; ValueError for no channel, or more than `most_channels`.
        """
        if not 1 <= channels <= self._config.most_channels:
            raise ValueError(
                f"a peer has 1 to {self._config.most_channels} channels, not {channels}"
            )
        peer = Peer(f"{name}#{next(self._names)}")
        with self._event():
            try:
                self._machine.connect(peer, channels)
            except Refused as refused:
                raise Stopped("the scheduler was stopped") from refused
            self._links[peer] = link
            self._counts["connected"] += 1
        return peer

    def disconnect(self, peer: Peer) -> None:
        """The peer has left: its requests fail, its channels are gone; of an unknown one nothing
        happens."""
        with self._event():
            if self._links.pop(peer, None) is not None:
                self._counts["disconnected"] += 1
                self._used = {c: n for c, n in self._used.items() if c.peer != peer}
                self._machine.disconnect(peer)

    def receive(self, peer: Peer, number: int, type: str, body: bytes) -> None:
        """A response has come from a peer. What answers no request of this peer, number and type is
        counted, and changes nothing."""
        with self._event():
            known = len(self._machine.results)
            self._machine.receive(peer, number, Type(type), body)
            self._counts["strays"] += len(self._machine.results) == known

    # Senders.

    def schedule(self, sender: Sender, priority: int = 0) -> Token | None:
        """Put a sender at the end of the queue; its token. None after `stop`: nobody will call
        it.

        `priority`: 0 to `most_priority`; a greater one is more urgent. Errors: ValueError for any
        other.
        """
        self._config.check_priority(priority)
        with self._event():
            token = Token(str(next(self._names)))
            accepted = self._machine.schedule(token, priority)
            if accepted:
                self._senders[token] = sender
                self._urgent = self._urgent or priority > 0
        return token if accepted else None

    def withdraw(self, waits: Token | int) -> bool:
        """Take back a sender by its token, or a receiver by the number of its request.

        True: it is the caller's again and will not be called. False: it was called, is being
        called, or is not known.
        """
        with self._event():
            if isinstance(waits, Token):
                if returned := self._machine.withdraw_sender(waits):
                    del self._senders[waits]
            elif returned := self._machine.withdraw_receiver(waits):
                del self._receivers[waits]
        return returned

    def stop(self) -> None:
        """Fail all receivers, discard all senders, accept none any more; again is no harm.

        Returns when everybody was told, except inside a callback, which does not wait for itself.
        Errors: the journal's, after which nobody is called any more.
        """
        with self._event(), suppress(Refused):  # It was stopped before.
            self._machine.stop()
        if self._caller != threading.get_ident():
            self._over.wait()
            if self._broken is not None:
                raise self._broken

    # Time.

    def driven(self, sooner: Callable[[], None]) -> None:
        """Call `sooner`, from any thread, whenever a timer is due earlier than `wait` has said."""
        self._sooner = sooner

    def fire_due(self) -> None:
        """Fire the timers that are due."""
        with self._event():
            self._machine.lawful.fire_due(self._clock.now())
            self._due = self._machine.lawful.next_deadline()

    def wait(self) -> float | None:
        """Seconds until `fire_due` is to be called again; None if no timer runs."""
        with self._held():
            if self._due is None:
                return None
            self._asleep = max(1.0, self._due - self._clock.now())
            return self._asleep / 1_000

    # What others tell and ask.

    def count(self, what: str) -> None:
        """Count something that happened on a connection."""
        with self._held():
            self._counts[what] += 1

    def stats(self) -> Stats:
        """Counters and sizes as of now; also after `stop`."""
        with self._held():
            machine = self._machine
            opened = len(machine.open())
            return Stats(
                waiting=len(machine.queue),
                outstanding=len(machine.requests),
                open=opened,
                closed=len(machine.channels) - opened,
                counts=dict(self._counts),
            )

    # What an offering asks.

    def order(self, channels: frozenset[ChannelId]) -> list[ChannelId]:
        """The channels, longest unused first, then by peer and number."""
        used = self._used
        return sorted(channels, key=lambda c: (used.get(c, 0), str(c.peer), c.number))

    def left(self, offering: Offering) -> int:
        """How many channels its sender may still close."""
        with self._held():
            return 0 if offering.over else self._machine.left

    def usable(self, offering: Offering, channel: ChannelId) -> bool:
        """Whether the channel can still be sent on; one of a dead peer is removed (R34)."""
        with self._event():
            link = self._links.get(channel.peer)
            if offering.over or link is None:
                return False
            if link.alive:
                return self._machine.left > 0 and self._machine.is_offered(channel)
            with suppress(Refused):  # Skipped before, withdrawn meanwhile, or stopped.
                self._machine.skip(channel)
                self._counts["skipped"] += 1
            return False

    def request(
        self, offering: Offering, channel: ChannelId, message: Message, receiver: Receiver
    ) -> int:
        """Close the channel of an offer, and send a request on it; the number of the request."""
        time = self._checked(message)
        with self._event():
            self._check_open(offering)
            frame = self._machine.send_request(channel, Type(message.type), time)
            number = frame.request
            assert number is not None
            self._receivers[number] = receiver
            self._counts["requests"] += 1
            link = self._closed(channel, time)
        link.send(encode(Request(number, message.type, message.body)))
        return number

    def notify(self, offering: Offering, channel: ChannelId, message: Message) -> None:
        """Close the channel of an offer, and send a notification on it."""
        time = self._checked(message)
        with self._event():
            self._check_open(offering)
            self._machine.send_notification(channel, time)
            self._counts["notifications"] += 1
            link = self._closed(channel, time)
        link.send(encode(Notification(message.type, message.body)))

    def _checked(self, message: Message) -> int:
        """The message's time in milliseconds. Errors: ValueError before anything has happened."""
        encode_text(message.type)
        if len(message.body) > self._config.longest_body:
            raise ValueError(
                f"a body has at most {self._config.longest_body} bytes, not {len(message.body)}"
            )
        return self._config.milliseconds(message.timeout)

    def _check_open(self, offering: Offering) -> None:
        if offering.over:
            raise OfferOver("on_offer has returned: schedule another sender")

    def _closed(self, channel: ChannelId, time: int) -> Link:
        """Note that the machine has closed a channel; the connection to send on."""
        self._used[channel] = next(self._uses)
        now = self._clock.now()
        # Who waits sleeps by a clock of its own, also where this one has jumped forward meanwhile:
        # whoever may sleep longer than this message lasts has to come.
        sooner = self._due is None or self._due <= now or time < self._asleep
        self._due = now + time if self._due is None else min(self._due, now + time)
        if sooner and self._sooner is not None:
            self._asleep = 0.0
            self._sooner()
        return self._links[channel.peer]

    # Events and callbacks.

    @contextmanager
    def _held(self) -> Generator[None, None, None]:
        """Hold the lock, to read or to count."""
        self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _event(self) -> Generator[None, None, None]:
        """Hold the lock during an event; then call whoever is to be called."""
        with self._held():
            try:
                yield
            finally:
                self._call_back()

    def _call_back(self) -> None:
        """Run the callbacks that are due. An error is the journal's: it ends the scheduler."""
        try:
            self._call_each()
        except Exception as error:
            self._broken = error
            self._over.set()
            raise

    def _call_each(self) -> None:
        """Run the callbacks that are due, unless another thread does. An exception of one does not
        stop the others; an interrupt is raised after the last."""
        interrupt: BaseException | None = None
        machine = self._machine
        while not machine.calling:
            call = self._next_call()
            if call is None:
                break
            action, ended = self._prepared(call)
            self._caller = threading.get_ident()
            self._lock.release()
            try:
                self._run(action)
            except BaseException as error:  # An interrupt: the others are still to be called.
                interrupt = interrupt or error
            finally:
                self._lock.acquire()
                self._caller = None
            machine.returned()
            ended()
        if machine.over():
            self._over.set()
        if interrupt is not None:
            raise interrupt

    def _next_call(self) -> Call | None:
        """The callback that is due; counts the senders that an offer overtakes."""
        machine = self._machine
        if not self._urgent:
            return machine.call()
        before = sum(machine.overtaken.values())
        call = machine.call()
        if isinstance(call, Offer):
            self._counts["overtaken"] += sum(machine.overtaken.values()) - before
        return call

    def _prepared(self, call: Call) -> tuple[Callable[[], None], Callable[[], None]]:
        """The callback to run without the lock, and what to do with the lock after it."""
        match call:
            case Offer(token=token):
                self._counts["offers"] += 1
                offering = Offering(self, call)
                return partial(self._senders[token].on_offer, offering), partial(
                    self._considered, offering
                )
            case Discard(token=token):
                self._counts["discards"] += 1
                return self._senders.pop(token).on_discard, _nothing
            case Success(request=number, body=body):
                self._counts["successes"] += 1
                return partial(self._receivers.pop(number).on_success, number, body), _nothing
            case Failure(request=number, reason=reason):
                self._counts["failures"] += 1
                return partial(self._receivers.pop(number).on_failure, number, reason), _nothing

    def _considered(self, offering: Offering) -> None:
        """Forget a sender that the machine has served."""
        offering.over = True
        if offering.token not in self._machine.seen:
            self._senders.pop(offering.token, None)

    def _run(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self.count("raised")
            try:
                self._options.failed(error)
            except Exception:
                self.count("raised")


def _nothing() -> None:
    return
