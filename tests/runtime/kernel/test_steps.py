"""Steps: the language page's own example, choice, families, inheritance, ghosts."""

from __future__ import annotations

import pytest

from lawful import (
    Ambiguous,
    Ghost,
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    drop,
    event,
    ignore,
    invariant,
    refuse,
    require,
    step_property,
    terminal,
    total,
    transition,
)
from tests.runtime.helpers import refused


class Conn(State):
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"


class Ack(Record):
    """Cumulative acknowledgement: every message up to and including `seqno` was received."""

    seqno: Nat


class SenderEntry(Machine):
    """Sender side of one unicast connection."""

    state: Conn = Conn.OPEN
    highest_sent: Nat = 0
    highest_acked: Nat = 0
    idle: Timer = Timer()
    expiry_seconds: Param[float] = 60.0

    @transition(source=(Conn.OPEN, Conn.CLOSING), target=Conn.OPEN)
    def send(self) -> Nat:
        """Send the next message; sending on a closing connection reopens it."""
        self.highest_sent += 1
        self.idle.start(self.expiry_seconds)
        return self.highest_sent

    @transition(source=(Conn.OPEN, Conn.CLOSING))
    def ack(self, message: Ack) -> None:
        require(message.seqno <= self.highest_sent, "acknowledges what was never sent")
        self.highest_acked = max(self.highest_acked, message.seqno)

    @transition(source=Conn.OPEN, target=Conn.CLOSING, timer="idle")
    def expire(self) -> None: ...

    @transition(source=Conn.CLOSING, target=Conn.CLOSED)
    def remove(self) -> None:
        require(self.highest_acked == self.highest_sent, "unacknowledged messages would be lost")

    late = ignore("ack", source=Conn.CLOSED, because="the entry is gone")

    @terminal
    def removed(self) -> bool:
        return self.state == Conn.CLOSED

    @invariant
    def acked_at_most_sent(self) -> bool:
        return self.highest_acked <= self.highest_sent

    @step_property
    def acks_only_grow(self, after: SenderEntry) -> bool:
        return after.highest_acked >= self.highest_acked

    scope = Scope(Nat=range(0, 4))


def test_the_example_of_the_language_page() -> None:
    entry = SenderEntry(expiry_seconds=30.0)
    assert entry.send() == 1
    entry.ack(Ack(1))
    assert entry.state is Conn.OPEN
    before = entry.lawful.snapshot()
    error = refused(lambda: entry.ack(Ack(7)))
    assert str(error) == "ack: acknowledges what was never sent (7 <= 1 is false)"
    assert (error.machine, error.event, error.state) == ("SenderEntry", "ack", "OPEN")
    assert error.clause == "7 <= 1 is false"
    assert error.values == {"message.seqno": 7, "highest_sent": 1}
    after = entry.lawful.snapshot()
    assert before["variables"].pop("idle") >= after["variables"].pop("idle") > 29
    assert before == after


def test_source_and_timer_are_guards() -> None:
    entry = SenderEntry()
    assert str(refused(entry.remove)) == "remove: state is OPEN, not CLOSING"
    assert str(refused(entry.expire)) == "expire: timer idle is not armed"
    entry.send()
    assert str(refused(entry.expire)).startswith("expire: timer idle is not due: ")


def test_what_is_ignored_changes_nothing() -> None:
    entry = SenderEntry.lawful.state(state=Conn.CLOSED, highest_sent=2, highest_acked=2)
    assert entry.ack(Ack(1)) is None
    assert entry == SenderEntry.lawful.state(state=Conn.CLOSED, highest_sent=2, highest_acked=2)
    assert str(refused(entry.remove)) == "remove: state is CLOSED, not CLOSING"


# Several transitions of one event.


class Kind(State):
    LOW = "low"
    HIGH = "high"


class Sorter(Machine):
    state: Kind = Kind.LOW
    seen: list[Nat] = []

    @event
    def put(self, n: Nat) -> Nat | None: ...

    @transition(source=Kind.LOW, event="put")
    def small(self, n: Nat) -> Nat | None:
        self.seen.append(n)
        require(n < 10, "not small")
        return n

    @transition(source=Kind.LOW, target=Kind.HIGH, event="put")
    def large(self, n: Nat) -> Nat | None:
        self.seen.append(n)
        require(n >= 5, "not large")
        return n * 2

    void = ignore("put", source=Kind.HIGH, when=lambda self, n: n < 3, because="too small for it")

    @event(choice=True)
    def spin(self) -> None: ...

    @transition(event="spin", source=Kind.LOW, target=Kind.HIGH)
    def up(self) -> None: ...

    @transition(event="spin", source=Kind.LOW)
    def stay(self) -> None: ...


def test_the_one_enabled_transition_is_taken() -> None:
    sorter = Sorter()
    assert sorter.put(3) == 3
    assert (sorter.state, sorter.seen) == (Kind.LOW, [3])
    assert sorter.put(12) == 24
    assert (sorter.state, sorter.seen) == (Kind.HIGH, [3, 12])


def test_none_is_refused_with_every_reason() -> None:
    sorter = Sorter.lawful.state(state=Kind.HIGH)
    error = refused(lambda: sorter.put(3))
    assert [reason.transition for reason in error.reasons] == ["small", "large"]
    assert str(error) == "put: small, large: state is HIGH, not LOW"
    assert sorter.put(2) is None
    assert sorter.seen == []


def test_two_are_ambiguous() -> None:
    sorter = Sorter()
    with pytest.raises(Ambiguous, match="both small and large are enabled"):
        sorter.put(7)
    assert sorter == Sorter()
    assert sorter.lawful.may("put", 7)


def test_each_transition_can_be_called_by_its_name() -> None:
    sorter = Sorter()
    assert sorter.small(7) == 7
    assert str(refused(lambda: sorter.small(11))) == "put: not small (11 < 10 is false)"
    sorter.up()
    assert sorter.state is Kind.HIGH


def test_a_choice_is_the_callers() -> None:
    sorter = Sorter()
    with pytest.raises(Ambiguous, match="call one of them"):
        sorter.spin()
    sorter.stay()
    assert sorter.state is Kind.LOW


# Targets and families.


class Phase(State):
    IDLE = "idle"
    WANT = "want"
    IN = "in"


class Process(Sort):
    pass


class Ring(Machine):
    """Control states in a family, timers in a family, a sort that is iterated."""

    pc: dict[Process, Phase] = total(Phase.IDLE)
    lease: dict[Process, Timer] = {}
    turn: Process | None = None

    @transition(source=Phase.IDLE, target=Phase.WANT, of="pc[p]")
    def ask(self, p: Process) -> None: ...

    @transition(source=Phase.WANT, target=Phase.IN, of="pc[p]")
    def enter(self, p: Process) -> None:
        require(all(self.pc[q] != Phase.IN for q in Process), "somebody is in")
        self.turn = p

    @transition(source=Phase.IN, target=(Phase.IDLE, Phase.WANT), of="pc[p]")
    def leave(self, p: Process, to: Phase) -> None:
        self.pc[p] = to


def test_control_states_in_a_family() -> None:
    a, b, c = Process("a"), Process("b"), Process("c")
    ring = Ring(universe={Process: ["a", "b"]})
    assert ring.pc == {a: Phase.IDLE, b: Phase.IDLE}
    ring.ask(a)
    ring.ask(b)
    ring.enter(a)
    assert ring.pc == {a: Phase.IN, b: Phase.WANT}
    assert "somebody is in" in str(refused(lambda: ring.enter(b)))
    assert str(refused(lambda: ring.ask(a))) == "ask: pc[p] is IN, not IDLE"
    with pytest.raises(ValueError, match=r"ask: p: Process\('c'\) is no element"):
        ring.ask(c)
    with pytest.raises(PropertyViolated, match="bounds: the state after is IN, not IDLE or WANT"):
        ring.leave(a, Phase.IN)
    ring.leave(a, Phase.WANT)
    assert ring.pc == {a: Phase.WANT, b: Phase.WANT}


def test_a_sort_that_is_iterated_needs_its_elements() -> None:
    with pytest.raises(RuntimeError, match=r"universe=\{Process: \[\.\.\.\]\}"):
        Ring()


# Inheritance.


class Counting(Machine):
    n: Nat = 0
    log: list[Nat] = []

    def note(self) -> None:
        self.log.append(self.n)

    @transition()
    def up(self, by: Nat) -> Nat:
        require(by < 10, "too much")
        self.n += by
        self.note()
        return self.n

    @transition()
    def reset(self) -> None:
        self.n = 0


class Twice(Counting):
    no_reset = drop("reset")

    def note(self) -> None:
        self.log.append(self.n * 100)

    @transition()
    def up(self, by: Nat) -> Nat:
        first = super().up(by)
        again = super().up(by + 1)
        require(again < 15, "too much together")
        return first * 1000 + again


def test_super_runs_the_ancestors_whole_transition() -> None:
    twice = Twice()
    assert twice.up(2) == 2005
    assert twice.log == [200, 500]
    assert str(refused(lambda: twice.up(9))) == "up: too much (10 < 10 is false)"
    assert str(refused(lambda: twice.up(8))) == "up: too much together (22 < 15 is false)"
    assert (twice.n, twice.log) == (5, [200, 500])
    base = Counting()
    assert base.up(2) == 2
    assert base.log == [2]


def test_what_is_dropped_is_gone() -> None:
    assert not hasattr(Twice(), "reset")
    with pytest.raises(ValueError, match="no event reset"):
        Twice().lawful.take("reset")
    Counting().reset()


# Ghosts.


class Haunted(Machine):
    n: Nat = 0
    history: Ghost[list[Nat]] = []
    largest: Ghost[Nat] = 0

    @transition()
    def put(self, x: Nat) -> None:
        before = self.largest
        if x > before:
            self.largest = x
        self.history.append(x)
        self.n += 1

    @invariant
    def counted(self) -> bool:
        return self.n == len(self.history)


def test_ghosts_are_erased() -> None:
    haunted = Haunted()
    haunted.put(3)
    assert haunted.n == 1
    assert "history" not in haunted.lawful.snapshot()["variables"]
    with pytest.raises(AttributeError, match="is a ghost"):
        haunted.counted()


# Refusals inside.


class Nobody(Machine):
    owner: Nat | None = None

    @transition()
    def give(self, to: Nat) -> None:
        require(self.owner is None, "somebody owns it")
        self.owner = to

    @transition()
    def back(self, who: Nat) -> None:
        if self.owner is None:
            refuse("nobody owns it")
        require(self.owner == who and who > 0, f"{who} does not own it")
        self.owner = None


def test_refusals_say_what_was_false() -> None:
    nobody = Nobody()
    assert str(refused(lambda: nobody.back(1))) == "back: nobody owns it"
    nobody.give(3)
    assert str(refused(lambda: nobody.give(4))) == (
        "give: somebody owns it (owner is None is false: owner = 3)"
    )
    error = refused(lambda: nobody.back(1))
    assert str(error) == "back: 1 does not own it (3 == 1 is false)"
    assert error.values == {"owner": 3, "who": 1}
