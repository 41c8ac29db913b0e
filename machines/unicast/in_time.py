"""Reliable unicast, in time: how late an ack is, when a message is resent, and when an entry ends.

Source: `unicast3.txt`, "there is a guaranteed max time until a message is acked (unless the ack is
lost) and there is also a guaranteed max time until a message is resent" [seed:72-77] (U17), with a
least time between two acks [seed:55-58] (U13), a task that resends the highest message if nothing
was sent or acknowledged since its last run [seed:60-62] (U14), and idle entries that are closed and
removed [seed:131-137] (U20, U29, U30).

The machines are the entries of `declaration.py`, which a service embeds. Here they have a clock,
their timers run out when they are due, and ghosts note when an observer last saw something happen.
A's caller runs the retransmit task at fixed times. `LinkInTime` composes the two with the network
of `link.py`.

The time until a message is resent counts from the last change. While A keeps sending, its task
finds a change at each run, and resends nothing (U-B10; `LinkBusy` of `system_as_seed.py` shows why
that is no defect).

Abstractions. All times are ticks of the clock. A message is under way for any time.
"""

from lawful import (
    Clock,
    Expect,
    Ghost,
    Nat,
    Param,
    Scope,
    Timer,
    assume,
    drop,
    implies,
    initial,
    invariant,
    reachable,
    step_property,
    transition,
)

from .declaration import Conn, ReceiverEntry, ReceiverEntryFixed, SenderEntryFixed
from .messages import Ack, Close, Data, Dropped, Payload
from .system import LinkFixed

Lag = Param[Nat]  # A time-out or an interval, in ticks.
TIMES = range(0, 6)


class ReceiverInTime(ReceiverEntryFixed):
    """B's entry, and when it heard, delivered and acknowledged last."""

    clock: Clock = Clock()
    idle: Timer = Timer(urgent=True)
    ack_delay: Timer = Timer(urgent=True)
    oldest: Ghost[Nat | None] = None
    owed: Ghost[Nat] = 0
    acked: Ghost[Nat | None] = None
    heard: Ghost[Nat] = 0
    silence: Ghost[Nat | None] = None

    ack_interval: Lag = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is a Nat
        1
    )
    conn_expiry_timeout: Lag = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is a Nat
        3
    )
    conn_close_timeout: Lag = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is a Nat
        2
    )

    @assume
    def acks_are_delayed(self) -> bool:
        return self.ack_interval > 0

    def begin(self, m: Data) -> None:
        """What was owed to an older connection is owed to nobody."""
        super().begin(m)
        self.heard = self.clock.now
        self.oldest = None

    def insert(self, m: Data) -> None:
        super().insert(m)
        self.heard = self.clock.now

    def owe_ack(self) -> None:
        if not self.ack_delay.armed:
            self.owed = self.clock.now
        super().owe_ack()

    @transition()
    def deliver(self) -> Payload:
        if self.oldest is None:
            self.oldest = self.clock.now
        return super().deliver()

    @transition()
    def send_ack(self) -> Ack:
        self.oldest = None
        self.acked = self.clock.now
        return super().send_ack()

    def leave(self) -> None:
        super().leave()
        self.oldest = None

    @invariant
    def acked_in_time(self) -> bool:
        """A delivered message waits at most `ack_interval` for its ack (U17, S12)."""
        return self.oldest is None or self.clock.now - self.oldest <= self.ack_interval

    @invariant
    def who_waits_is_owed_an_ack(self) -> bool:
        """The proof leans on this: the delay began when the oldest message was delivered, or when a
        message came once more before that, and after the last ack."""
        before = self.acked is None or self.acked <= self.clock.now
        waits = self.oldest is None or (self.ack_delay.armed and self.owed <= self.oldest)
        apart = self.acked is None or self.acked <= self.owed
        return before and waits and implies(self.ack_delay.armed, apart)

    @step_property
    def acks_are_apart(self, after: "ReceiverInTime") -> bool:
        """Between two acks at least `ack_interval` passes (U13, S11)."""
        if self.acked is None or after.acked is None or after.acked == self.acked:
            return True
        return after.acked - self.acked >= self.ack_interval

    @transition()
    def remove(self) -> None:
        self.silence = self.clock.now - self.heard
        super().remove()

    @invariant
    def silence_ends_it(self) -> bool:
        """Without a message it is CLOSING after `conn_expiry_timeout` (U20, U29)."""
        silent = self.clock.now - self.heard
        late = silent > self.conn_expiry_timeout
        return not (self.state == Conn.OPEN and self.reaping and late) and implies(
            self.state == Conn.CLOSING, silent >= self.conn_expiry_timeout
        )

    @invariant
    def removed_in_time(self) -> bool:
        """It is removed `conn_close_timeout` after that (U20, U30)."""
        last = self.conn_expiry_timeout + self.conn_close_timeout
        return implies(self.silence is not None, self.silence == last) and implies(
            self.state == Conn.CLOSING, self.clock.now - self.heard <= last
        )

    @reachable
    def acks_again(self) -> bool:
        return self.acked is not None and self.acked > self.ack_interval + 1

    scope = Scope(
        Nat=range(0, 3),
        Payload=1,
        clock=TIMES,
        heard=TIMES,
        oldest=TIMES,
        owed=TIMES,
        acked=TIMES,
        silence=TIMES,
        ack_interval=(2,),
        conn_expiry_timeout=(3,),
        conn_close_timeout=(1,),
        largest_window=(1, 3),
    )
    large = Scope(Nat=range(0, 4), ack_interval=(1, 2))


class SenderInTime(SenderEntryFixed):
    """A's entry, and when it was used last."""

    clock: Clock = Clock()
    idle: Timer = Timer(urgent=True)
    active: Ghost[Nat] = 0
    changed: Ghost[Nat] = 0
    silence: Ghost[Nat | None] = None
    lasted: Ghost[Nat | None] = None

    conn_expiry_timeout: Lag = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is a Nat
        3
    )
    conn_close_timeout: Lag = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is a Nat
        2
    )

    @transition(target=Conn.OPEN)
    def send(self, payload: Payload) -> Data:
        self.active = self.clock.now
        self.changed = self.clock.now
        return super().send(payload)

    @transition()
    def ack(self, m: Ack) -> None:
        """Only an ack of something new is activity."""
        if self.highest_acked < m.seqno:
            self.active = self.clock.now
            self.changed = self.clock.now
        super().ack(m)

    @transition()
    def close(self) -> None:
        """A close that changes nothing does not begin the time-out again."""
        if self.state == Conn.OPEN:
            self.active = self.clock.now
        super().close()

    @transition()
    def expire(self) -> None:
        self.silence = self.clock.now - self.active
        self.active = self.clock.now
        super().expire()

    @transition()
    def remove(self) -> Close:
        self.lasted = self.clock.now - self.active
        return super().remove()

    @transition()
    def give_up(self) -> Dropped:
        self.lasted = self.clock.now - self.active
        return super().give_up()

    @invariant
    def silence_ends_it(self) -> bool:
        """If nothing is sent or acknowledged it is CLOSING after `conn_expiry_timeout`, not before
        (U20, U29)."""
        late = self.clock.now - self.active > self.conn_expiry_timeout
        in_time = self.silence is None or self.silence == self.conn_expiry_timeout
        return in_time and not (self.state == Conn.OPEN and self.reaping and late)

    @invariant
    def closed_in_time(self) -> bool:
        """A CLOSING entry is removed, or its application told, when nothing was acknowledged for
        `conn_close_timeout`, and not before (U3, U5, U30)."""
        late = self.clock.now - self.active > self.conn_close_timeout
        in_time = self.lasted is None or self.lasted == self.conn_close_timeout
        return in_time and not (self.state == Conn.CLOSING and late)

    # Other scopes of `SenderEntryFixed` show what happens with three messages.
    two_messages = drop("resends_the_last_of_many")
    scope = Scope(
        Nat=range(0, 3),
        Payload=1,
        clock=TIMES,
        active=TIMES,
        changed=TIMES,
        silence=TIMES,
        lasted=TIMES,
        conn_expiry_timeout=(2,),
        conn_close_timeout=(1,),
    )
    large = Scope(Nat=range(0, 4), reaping=(True, False))


class LinkInTime(LinkFixed):
    """A link whose timers run out when they are due; A's caller runs the task at fixed times."""

    clock: Clock = Clock()
    sender: SenderInTime = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is not set
        SenderInTime(conn_expiry_timeout=2, conn_close_timeout=1)
    )
    receiver: ReceiverEntry = ReceiverInTime(conn_expiry_timeout=2, conn_close_timeout=1)
    run: Timer = Timer(urgent=True)
    resent: Ghost[bool] = False
    waited: Ghost[Nat | None] = None

    xmit_interval: Lag = 1

    @assume
    def the_task_takes_a_break(self) -> bool:
        return self.xmit_interval > 0

    @initial
    def start(self) -> None:
        self.run.start(self.xmit_interval)

    def settle_watermark(self) -> None:
        """A's task notices a change when it runs."""
        if not self.sender.unchanged():
            self.resent = False

    @transition(timer="run")
    def resend(self) -> None:
        """A's caller runs the retransmit task [seed:60-62] (U14)."""
        self.run.start(self.xmit_interval)
        data = self.sender.task()
        if data is not None:
            self.put(data)
            self.resent = True
            self.waited = self.clock.now - self.sender.changed

    @invariant
    def resent_in_time(self) -> bool:
        """The last message is resent at most two intervals after the last change (U17, U-B10)."""
        late = self.clock.now - self.sender.changed > 2 * self.xmit_interval
        waits = self.sender.highest_acked < self.sender.highest_sent
        return implies(late and waits, self.resent)

    @invariant
    def resent_when_nothing_changed(self) -> bool:
        """What was sent or acknowledged in the last interval keeps A from resending (U14)."""
        return self.waited is None or self.waited >= self.xmit_interval

    @reachable
    def resent_twice_as_late(self) -> bool:
        return self.waited is not None and self.waited > self.xmit_interval

    @reachable
    def told_of_silence(self) -> bool:
        """The application is told of messages that B never acknowledged (U-B1)."""
        return self.reported != set()

    # Time ends with the scope, and with it what would happen in the end.
    settled_later = drop("settled")
    delivered_later = drop("sent_is_delivered")
    purged_later = drop("sent_is_purged")
    filled_later = drop("gaps_are_filled")
    removed_later = drop("idle_is_removed")
    silent_later = drop("silence_follows")
    # Other scopes of `LinkFixed` show what happens with more messages.
    one_message = drop("all_arrived")
    begins_with_the_first = drop("first_is_missing")
    nothing_follows = drop("receiver_is_reaped_and_sender_goes_on")
    one_connection = drop("second_connection_replaces_first")
    nothing_is_later = drop("close_is_overtaken")

    scope = Scope(
        {f"SenderInTime.{name}": TIMES for name in ("active", "changed", "silence", "lasted")}
        | {
            f"ReceiverInTime.{name}": TIMES
            for name in ("heard", "oldest", "owed", "acked", "silence")
        },
        Nat=range(0, 4),
        Payload=1,
        clock=TIMES,
        waited=TIMES,
        network=3,
        submitted=2,
        delivered=2,
        messages=(1,),
    )
    large = Scope(messages=(2,), failures=(0,), expects=Expect(two_copies_are_under_way="unknown"))
