"""Steps: the language page's own example, atomicity, order, choice, inheritance, parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from annotated_types import Interval, MaxLen

from lawful import (
    Ambiguous,
    Ghost,
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Record,
    Refused,
    Scope,
    Sort,
    State,
    Timer,
    Undefined,
    can,
    drop,
    event,
    ignore,
    invariant,
    needed,
    refuse,
    require,
    step_property,
    terminal,
    total,
    transition,
)


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


def refused(call: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


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


# Containers, atomically.


class Item(Record):
    key: Nat
    tags: frozenset[Nat] = frozenset()


Short = Annotated[list[int], MaxLen(3)]
Digit = Annotated[int, Interval(ge=0, le=9)]


class Store(Machine):
    """One container of each kind, and bodies that fail after they have changed them."""

    known: set[int] = {1}
    queue: list[int] = [1, 2]
    short: Short = []
    by_key: dict[Nat, int] = {1: 10}
    groups: dict[Nat, set[Nat]] = {1: {1}}
    grid: dict[Nat, dict[Nat, list[int]]] = {1: {1: [1]}}
    bag: Counter[int] = Counter([7])
    items: set[Item] = set()
    last: Item | None = None
    digit: Digit = 0
    n: Nat = 0

    def spoil(self) -> None:
        """Change everything where it stands."""
        self.known.add(99)
        self.queue.append(99)
        self.by_key[99] = 99
        self.groups[1].add(99)
        self.grid[1][1].append(99)
        self.bag[99] += 1
        self.items.add(Item(99))
        self.last = Item(99)
        self.n += 99

    @transition()
    def spoil_and_refuse(self) -> None:
        self.spoil()
        require(self.n < 0, "never")

    @transition()
    def spoil_and_lack(self, key: Nat) -> None:
        self.spoil()
        self.n = self.by_key[key]

    @transition()
    def spoil_and_assert(self) -> None:
        self.spoil()
        assert self.n == 0

    @transition()
    def spoil_and_sink(self) -> None:
        self.spoil()
        self.n -= 1_000

    @transition()
    def spoil_and_output(self) -> Nat:
        self.spoil()
        return self.n - 1_000

    @transition()
    def spoil_it(self) -> None:
        self.spoil()

    @transition()
    def first(self) -> int:
        return self.queue.pop(0)

    @transition()
    def half(self, by: Nat) -> int:
        return 10 // by

    @transition()
    def smallest(self) -> int:
        return min(q for q in self.queue)

    @transition()
    def whose(self) -> Nat:
        return needed(self.last, "there is none").key

    @transition()
    def push(self, x: int) -> None:
        self.short.append(x)

    @transition()
    def dial(self, x: Digit) -> None:
        self.digit = x + 1

    @transition()
    def lend(self, key: int) -> None:
        """Below 0 in between, and in a container, is no breach: bounds are judged at the end."""
        self.n -= 5
        self.by_key[self.n + 5] = 1
        self.groups[1].add(key)
        self.groups[1].discard(-1)
        self.n += 5

    @transition()
    def take(self, x: int) -> None:
        self.bag[x] -= 1

    @transition()
    def add(self, items: frozenset[Item]) -> None:
        for item in items:
            self.items.add(item)
        self.known = {i.key for i in self.items if i.key not in self.known}


FAILING: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("spoil_and_refuse", (), Refused, "spoil_and_refuse: never (99 < 0 is false)"),
    ("spoil_and_lack", (5,), Undefined, "KeyError: 5"),
    ("spoil_and_assert", (), PropertyViolated, "asserts: n == 0 is false (n = 99)"),
    ("spoil_and_sink", (), PropertyViolated, "bounds: n: -901 is below 0"),
    ("spoil_and_output", (), PropertyViolated, "bounds: the output: -901 is below 0"),
    ("half", (0,), Undefined, "ZeroDivisionError"),
    ("whose", (), Refused, "whose: there is none"),
    ("dial", (9,), PropertyViolated, "bounds: digit: 10 is above 9"),
    ("lend", (-2,), PropertyViolated, "bounds: groups[1]: -2 is below 0"),
    ("take", (8,), PropertyViolated, "bounds: bag: the count of 8 is below 0"),
]


@pytest.mark.parametrize(("name", "args", "kind", "text"), FAILING)
def test_what_fails_changes_nothing(
    name: str, args: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    store = Store()
    with pytest.raises(kind) as caught:
        store.lawful.take(name, *args)
    assert text in str(caught.value)
    assert store == Store()
    assert store.lawful.snapshot() == Store().lawful.snapshot()
    store.spoil_it()
    assert (store.n, store.known, store.bag[99]) == (99, {1, 99}, 1)
    assert store.grid == {1: {1: [1, 99]}}


def test_instances_share_nothing() -> None:
    one, two = Store(), Store()
    one.spoil_it()
    assert two == Store() != one


def test_a_view_stays_as_it_was_read() -> None:
    store = Store()
    known, queue, by_key, grid = store.known, store.queue, store.by_key, store.grid
    store.spoil_it()
    assert (known, queue, by_key) == ({1}, [1, 2], {1: 10})
    assert grid == {1: {1: [1]}}


def test_lists_are_fifo_and_run_empty() -> None:
    store = Store()
    assert (store.first(), store.first()) == (1, 2)
    with pytest.raises(Undefined, match="IndexError"):
        store.first()
    with pytest.raises(Undefined, match="ValueError"):
        store.smallest()


def test_the_greatest_length_is_a_bound() -> None:
    store = Store()
    for x in range(3):
        store.push(x)
    with pytest.raises(PropertyViolated, match="short: length 4 is above 3"):
        store.push(3)
    assert store.short == [0, 1, 2]


def test_bounds_are_judged_at_the_end() -> None:
    store = Store()
    store.lend(-1)  # Added and discarded again.
    assert (store.n, store.groups) == (0, {1: {1}})
    assert store.by_key == {0: 1, 1: 10}
    store.lend(3)
    assert store.groups == {1: {1, 3}}


def test_what_has_count_0_is_absent_from_a_bag() -> None:
    store = Store()
    store.take(7)
    assert store.bag == {}
    assert 7 not in store.bag


def test_arguments_of_another_type_are_no_refusal() -> None:
    store = Store()
    wrong: list[tuple[str, object, type[Exception], str]] = [
        ("half", "x", TypeError, r"half: by is a Nat, not 'x', a str"),
        ("half", True, TypeError, "by is a Nat, not True, a bool"),
        ("half", -1, ValueError, "half: by: -1 is below 0"),
        ("add", {Item(1)}, TypeError, "items is a frozenset"),
        ("add", frozenset({Item(-1)}), ValueError, "-1 is below 0"),
        ("add", frozenset({Item(1, frozenset({-2}))}), ValueError, "-2 is below 0"),
        ("add", frozenset({1}), TypeError, "an element of add: items is a Item, not 1"),
        ("dial", 10, ValueError, "10 is above 9"),
    ]
    for name, value, kind, text in wrong:
        with pytest.raises(kind, match=text):
            store.lawful.take(name, value)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        store.lawful.take("half")
    assert store == Store()
    store.add(items=frozenset({Item(1), Item(2)}))
    assert store.known == {2}


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
    assert str(error) == "put: state is HIGH, not LOW; state is HIGH, not LOW"
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
    assert str(refused(lambda: ring.ask(c))) == "ask: pc has no c"
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


# Parts.


class Cell(Machine):
    size: Param[Nat] = 2
    held: list[Nat] = []
    closed: bool = False

    @transition()
    def put(self, x: Nat) -> Nat:
        require(len(self.held) < self.size, "is full")
        self.held.append(x)
        return len(self.held)

    @transition()
    def close(self) -> None:
        require(not self.closed, "is closed")
        self.closed = True

    again = ignore("close", because="it is")

    def room(self) -> Nat:
        return self.size - len(self.held)


class Rack(Machine):
    main: Cell = Cell()
    cells: dict[Nat, Cell] = {}
    moves: Nat = 0

    @transition()
    def add(self, key: Nat, size: Nat) -> None:
        require(key not in self.cells, "is there")
        self.cells[key] = Cell(size=size)

    @transition()
    def remove(self, key: Nat) -> None:
        del self.cells[key]

    @transition()
    def both(self, key: Nat, x: Nat) -> Nat:
        self.moves += 1
        count = self.main.put(x)
        return count * 10 + self.cells[key].put(x)

    @transition()
    def fill(self, x: Nat) -> None:
        """Into every cell, or none."""
        for key in self.cells:
            self.cells[key].put(x)

    @transition()
    def somewhere(self, x: Nat) -> bool:
        if can(self.main.put, x):
            self.main.put(x)
            return True
        if self.main.room() == 0 and can(self.main.close):
            self.main.close()
        return False

    @transition()
    def sink(self, x: Nat) -> None:
        self.main.put(x)
        self.moves -= 1


def test_a_composed_step_is_atomic() -> None:
    rack = Rack()
    rack.add(1, 1)
    rack.add(2, 5)
    assert rack.both(1, 7) == 11
    before = rack.lawful.snapshot()
    error = refused(lambda: rack.both(1, 8))
    assert str(error) == "both: is full (1 < 1 is false)"
    assert error.reasons[0].transition == "both"
    assert "fill: is full" in str(refused(lambda: rack.fill(1)))
    with pytest.raises(Undefined, match="KeyError: 9"):
        rack.both(9, 1)
    with pytest.raises(PropertyViolated, match="moves: -1 is below 0"):
        Rack().sink(1)
    assert rack.lawful.snapshot() == before
    rack.remove(1)
    rack.fill(4)
    assert rack.cells[2].held == [4]
    assert rack.main.held == [7]


def test_can_changes_nothing() -> None:
    rack = Rack()
    assert [rack.somewhere(x) for x in range(4)] == [True, True, False, False]
    assert rack.main.held == [0, 1]
    assert rack.main.closed


def test_a_part_changes_by_its_whole_only() -> None:
    rack = Rack()
    with pytest.raises(RuntimeError, match="by the transitions of its whole"):
        rack.main.put(1)
    assert rack.main.room() == 2


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
