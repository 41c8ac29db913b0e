"""Acknowledging and resending in time, with one timer each: examples of clocks for the engines.

A message is a number; intervals are counted in ticks; the sender's task runs at fixed times.
"""

from lawful import (
    Clock,
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    Timer,
    assume,
    implies,
    initial,
    invariant,
    reachable,
    require,
    step_property,
    transition,
)


class Acks(Machine):
    """B delivers messages, and acknowledges them after a delay."""

    clock: Clock = Clock()
    ack_delay: Timer = Timer(urgent=True)
    oldest: Ghost[Nat] = 0
    acked: Ghost[Nat | None] = None

    ack_interval: Param[Nat] = 500

    @assume
    def acks_are_delayed(self) -> bool:
        return self.ack_interval > 0

    @transition()
    def deliver(self) -> None:
        """An ack becomes due, unless one is due already (U11)."""
        if not self.ack_delay.armed:
            self.oldest = self.clock.now
            self.ack_delay.start(self.ack_interval)

    @transition(timer="ack_delay")
    def send_ack(self) -> None:
        """Acknowledge all delivered messages."""
        self.acked = self.clock.now

    @invariant
    def acked_in_time(self) -> bool:
        """A delivered message waits at most `ack_interval` for its ack (U17, S12)."""
        return implies(self.ack_delay.armed, self.clock.now - self.oldest <= self.ack_interval)

    @invariant
    def acked_before(self) -> bool:
        """Messages that wait for their ack were delivered at the time of the last ack or later."""
        if self.acked is None:
            return True
        waits = implies(self.ack_delay.armed, self.acked <= self.oldest)
        return self.acked <= self.clock.now and waits

    @step_property
    def acks_are_apart(self, after: "Acks") -> bool:
        """Between two acks at least `ack_interval` passes (U13, S11)."""
        if self.acked is None or after.acked is None or after.acked == self.acked:
            return True
        return after.acked - self.acked >= self.ack_interval

    @reachable
    def acks_again(self) -> bool:
        return self.acked is not None and self.acked > self.ack_interval

    scope = Scope(Nat=range(0, 10), clock=range(0, 10), ack_interval=(1, 3))


class Resends(Machine):
    """A sends messages, its task runs, and acks may arrive."""

    clock: Clock = Clock()
    run: Timer = Timer(urgent=True)
    sent: Nat = 0
    acked: Nat = 0
    seen_sent: Nat = 0
    seen_acked: Nat = 0
    changed: Ghost[Nat] = 0
    resent: Ghost[bool] = False
    ran: Ghost[Nat] = 0

    interval: Param[Nat] = 500

    @assume
    def the_task_takes_a_break(self) -> bool:
        return self.interval > 0

    @initial
    def start(self) -> None:
        self.run.start(self.interval)

    @transition()
    def send(self) -> None:
        self.sent += 1
        self.change()

    @transition()
    def ack(self, upto: Nat) -> None:
        """Cumulative (U12)."""
        require(self.acked < upto <= self.sent, "acknowledged before, or never sent")
        self.acked = upto
        self.change()

    def change(self) -> None:
        self.changed = self.clock.now
        self.resent = False

    @transition(timer="run")
    def task(self) -> bool:
        """Decide whether to resend the highest message [seed:60-62] (U14)."""
        self.run.start(self.interval)
        self.ran = self.clock.now
        due = self.acked < self.sent and self.unchanged()
        if due:
            self.resent = True
        self.seen_sent, self.seen_acked = self.sent, self.acked
        return due

    def unchanged(self) -> bool:
        return self.seen_sent == self.sent and self.seen_acked == self.acked

    @invariant
    def resent_in_time(self) -> bool:
        """The last message is resent at most two intervals after the last change (U17, U-B10)."""
        late = self.clock.now - self.changed > 2 * self.interval
        return implies(late and self.acked < self.sent, self.resent)

    @invariant
    def seen_is_no_more(self) -> bool:
        """The task remembers no more than what was sent and acknowledged."""
        return self.seen_sent <= self.sent and self.seen_acked <= self.acked

    @invariant
    def seen_in_time(self) -> bool:
        """A change that the task has not seen came after its last run; one that it has seen, within
        an interval before that run."""
        if not self.unchanged():
            return self.ran <= self.changed
        waits = self.acked < self.sent and not self.resent
        return implies(waits, self.ran <= self.changed + self.interval)

    @step_property
    def only_what_is_unchanged_is_resent(self, after: "Resends") -> bool:
        """It resends only if nothing changed and something is unacknowledged (U14, S10)."""
        again = after.resent and not self.resent
        return implies(again, self.acked < self.sent and self.unchanged())

    @invariant
    def the_task_runs(self) -> bool:
        return self.run.armed

    @reachable
    def is_resent(self) -> bool:
        return self.resent

    @reachable
    def kept_waiting_by_what_follows(self) -> bool:
        """The first message is unacknowledged for three intervals, and nothing was resent since the
        last one was sent (U-B10)."""
        return (
            self.acked == 0
            and self.clock.now >= 3 * self.interval
            and (self.sent == 3 and not self.resent)
        )

    scope = Scope(
        Nat=range(0, 4),
        clock=range(0, 9),
        changed=range(0, 9),
        ran=range(0, 9),
        interval=(1, 2),
    )
