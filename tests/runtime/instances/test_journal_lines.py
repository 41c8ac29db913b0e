"""Lines, and the rows of stores, are the texts of rows that are made as data."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Opaque, State, event, require, transition
from lawful.runtime.databases.tables import sum_of_event
from lawful.runtime.instances import change_forms, container_changes
from lawful.runtime.instances.container_changes import Teller
from lawful.runtime.instances.journal_lines import LineWriter
from lawful.runtime.instances.journal_rows import RowWriter, former
from lawful.runtime.instances.row_code import Function
from lawful.runtime.json_text import text_of
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.kernel.plan import Plan
from lawful.runtime.store_rows import Position
from lawful.runtime.stored_instance import StoredInstance, form_of
from lawful.runtime.timers import Clock, SimulatedClock
from tests.runtime.declarations.every_variable import Desk, Parcel, Who
from tests.runtime.instances import test_container_changes as containers
from tests.runtime.kernel.test_before_images import Shelves, run
from tests.runtime.kernel.test_before_images import acts as shelved
from tests.runtime.services.interrupting import at_every_place


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 43_200.5)


class Kept:
    """In the place of a store."""

    transactions: Any = None
    outbox = frozenset[str]()

    def __init__(self) -> None:
        self.stale = set[str]()

    def write(self, logged: StoredInstance, done: Stepped) -> None: ...


class Both:
    """Writes the rows of an instance in both ways."""

    def __init__(self, machine: Any, instance: str = "ä\n") -> None:
        self.texts, self.lines = list[str](), list[str]()
        self.told = list[tuple[Any, Any]]()
        rows = RowWriter(machine, instance, self.row)
        lines = LineWriter(machine, instance, self.line)
        plan: Plan = machine.lawful.plan
        forms = partial(form_of, plan)
        teller, teller_of_store = Teller(plan, former), Teller(plan, forms)
        self.stored = StoredInstance(Kept(), machine, instance, Position(0, 0.0, 0.0, (), 0))

        def hear(done: Stepped) -> None:
            rows.stepped(done)
            lines.stepped(done)
            self.told.append((teller.text(done), text_of(teller.changes(done))))
            if done.outcome == "done":
                assert done.transition is not None
                row, at = self.stored.event(done, done.transition, "ab")
                args = zip(done.way.params, done.given, strict=True)
                given = {name: forms(kind)(value) for (name, kind), value in args}
                changed = {"variables": teller_of_store.changes(done)}
                if any(after not in self.stored.at.timers for after in at.timers):
                    changed["started"] = json.loads(row[8])["started"]
                self.told.append((row[6:], (text_of(given), done.after, text_of(changed))))
                self.told.append((at.sum, sum_of_event("ab", row)))

        machine.lawful.observe(hear)

    def row(self, writer: RowWriter, row: dict[str, Any]) -> None:
        writer.at = writer.next
        self.texts.append(text_of(row)[:-1])

    def line(self, writer: RowWriter, line: str) -> None:
        writer.at = writer.next
        self.lines.append(line)

    def agree(self) -> int:
        assert self.lines == self.texts
        assert all(ours == theirs for ours, theirs in self.told)
        return len(self.lines)


@settings(max_examples=40, deadline=None)
@given(shelved)
def test_lines_of_containers_in_containers(acts: list[tuple[str, int, int, bool]]) -> None:
    some = set(range(8))  # With one more, changes are told.
    held: dict[str, Any] = {
        "shelves": {key: {*some} for key in some},
        "tables": {1: dict.fromkeys(some, 0)},
    }
    machine: Any = Shelves.lawful.state(known={*some}, counts=dict.fromkeys(some, 0), **held)
    both = Both(machine)
    for name, key, by, _ in acts:
        run(machine, name, key, by)
    both.agree()


@settings(max_examples=40, deadline=None)
@given(acts=containers.acts)
def test_lines_of_containers_and_timers(acts: list[tuple[str, tuple[Any, ...]]]) -> None:
    machine = containers.Store(clock=SimulatedClock())
    machine.fill(9)
    both = Both(machine)
    for name, args in acts:
        getattr(machine, name)(*args)
    assert both.agree() == len(acts)


def test_lines_of_every_type_of_variable() -> None:
    desk = Desk(universe={Who: ["a", "b"]}, clock=SimulatedClock())
    both = Both(desk)
    desk.take(Who("a"), Parcel(1, b"x"))
    desk.take(Who("b"), Parcel(2, b"y"))
    desk.lawful.take("close")
    assert both.agree() == 3


Text = Annotated[str, Opaque("Text")]


class Gear(State):
    FIRST = "first"
    ZWEITER_ÄÖ = "second"  # noqa: PLC2401  # JSON escapes it


class Gears(Machine):
    """Scalars, two transitions of an event, outputs."""

    state: Gear = Gear.FIRST
    speed: int = 0
    on: bool = False
    old: bool | None = None

    @event
    def push(self, by: int, hard: bool, gear: Gear) -> bool:
        raise NotImplementedError

    @transition(event="push", target=Gear.ZWEITER_ÄÖ)
    def up(self, by: int, hard: bool, gear: Gear) -> bool:
        require(hard, "it is not")
        self.speed = self.speed + by
        self.old = self.on
        self.on = not self.on
        return self.on

    @transition(event="push", target=Gear.FIRST)
    def down(self, by: int, hard: bool, gear: Gear) -> bool:
        require(not hard, "it is")
        self.speed = by
        return False

    @transition()
    def look(self) -> Gear:
        return self.state


class Plug(Machine):
    """Its control states are texts; its names are those that generated code has."""

    state: Literal["in", "it's \\ out"] = "in"
    name: int = 0
    call: bool = False
    changed: Gear = Gear.FIRST

    @transition()
    def changes(self, seq: bool, wall: Gear, name_text: Text, rest: Literal["a", "b"]) -> str:
        require(self.state == "in", "it is out")
        self.state = "it's \\ out"
        self.call = seq
        self.changed = wall
        self.name += 1
        return f"{rest}'"

    @transition()
    def done(self, head: int) -> None:
        self.name = head


class Wheel(Machine):
    turns: Nat = 0

    @transition()
    def turn(self) -> None:
        self.turns += 1


class Engine(Gears):
    """With a part, whose changes are told whole."""

    wheel: Wheel = Wheel()

    @transition()
    def roll(self) -> None:
        self.wheel.turn()


LARGE = [0, -1, 2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 10**40]


@pytest.mark.parametrize("cls", [Gears, Engine])
@given(acts=st.lists(st.tuples(st.sampled_from(LARGE), st.booleans()), max_size=6))
def test_lines_of_scalars_outputs_and_parts(cls: type[Gears], acts: list[tuple[int, bool]]) -> None:
    gears = cls()
    both = Both(gears)
    for by, hard in acts:
        gears.push(by, hard, Gear.ZWEITER_ÄÖ)
        gears.look()
        if hard:
            gears.lawful.take("up", by, hard, Gear.FIRST)
        if isinstance(gears, Engine):
            gears.roll()
    assert both.agree() >= 2 * len(acts)


@pytest.mark.parametrize("text", ["", "it's", '"', "\ud800\n\\"])
def test_lines_of_texts_and_of_names_that_rows_have(text: str) -> None:
    plug = Plug()
    both = Both(plug, "it's")
    plug.changes(True, Gear.ZWEITER_ÄÖ, text, "b")
    plug.done(2**60)
    assert both.agree() == 2


class Places(Machine):
    """Each event changes one place of one container."""

    ids: set[int] = set()
    counts: dict[int, int] = {}
    queue: list[int] = []
    groups: dict[int, set[int]] = {}

    @transition()
    def add(self, k: int) -> None:
        self.ids.add(k)

    @transition()
    def discard(self, k: int) -> None:
        self.ids.discard(k)

    @transition()
    def put(self, k: int) -> None:
        self.counts[k] = 7

    @transition()
    def lose(self, k: int) -> None:
        if k in self.counts:
            del self.counts[k]

    @transition()
    def append(self, k: int) -> None:
        self.queue.append(k)

    @transition()
    def pop(self, k: int) -> int:
        return self.queue.pop(0) + k

    @transition()
    def group(self, k: int) -> None:
        self.groups[k] = {1, k}

    @transition()
    def regroup(self, k: int) -> None:
        self.groups[k] = self.groups[0] | {k + 50}

    @transition()
    def within(self, k: int) -> None:
        if k in self.groups:
            self.groups[k].add(77)

    @transition()
    def renew(self, k: int) -> None:
        self.counts = {i: 1 for i in range(10)}
        self.counts[k] = 2


CHANGED = {
    "within": "{}",
    "renew": f'{{"counts":{{"$map":[{",".join(f"[{i},1]" for i in range(10))},[90,2]]}}}}',
    "add": '{"ids":{"$changed":{"added":[90],"removed":[]}}}',
    "discard": "{}",
    "put": '{"counts":{"$changed":{"set":[[90,7]],"removed":[]}}}',
    "lose": "{}",
    "append": '{"queue":{"$changed":{"at":20,"removed":0,"added":[90]}}}',
    "pop": '{"queue":{"$changed":{"at":0,"removed":1,"added":[]}}}',
    "regroup": '{"groups":{"$changed":{"set":[[90,{"$set":[0,1,2,3,4,5,6,7,8,9,140]}]],'
    '"removed":[]}}}',
    "group": '{"groups":{"$changed":{"set":[[90,{"$set":[1,90]}]],"removed":[]}}}',
}


@pytest.mark.parametrize("size", [1, 8, 9, 20])
@pytest.mark.parametrize("name", CHANGED)
def test_lines_of_one_place(name: str, size: int) -> None:
    """Of an entry that is there, of one that is not, and of the value that is there."""
    some = range(size)
    held = {"ids": {*some}, "counts": dict.fromkeys(some, 0), "queue": [*some]}
    full: dict[str, Any] = {**held, "groups": {key: {*range(10), key} for key in some}}
    machines = [Places.lawful.state(**copy.deepcopy(full)) for _ in range(3)]
    for machine, key in zip(machines, (0, 90, 1), strict=True):
        both = Both(machine)
        machine.lawful.take(name, key)
        machine.lawful.take("put", key)
        assert both.agree() == 2
        if (key, size) == (90, 20):
            assert both.told[0][0] == CHANGED[name]


class Hours:
    def now(self) -> int:
        return 12


@pytest.mark.parametrize(
    "clock", [SimulatedClock(), SimulatedClock(1e300), Hours()], ids=["none", "long", "whole"]
)
def test_lines_of_any_time(clock: Clock) -> None:
    machine = containers.Store(clock=clock)
    both = Both(machine)
    machine.put(1, 1)
    assert both.agree() == 1


def test_an_interrupt_leaves_a_teller_as_good_as_new() -> None:
    kept = list[Stepped]()
    places = Places.lawful.state(counts=dict.fromkeys(range(20), 0))
    places.lawful.observe(kept.append)
    places.put(3)

    def play(attempt: Callable[..., bool]) -> None:
        teller = Teller(Places.lawful.plan, former)
        attempt(lambda: teller.text(kept[0]))
        assert teller.text(kept[0]) == '{"counts":{"$changed":{"set":[[3,7]],"removed":[]}}}'

    assert at_every_place((container_changes.__file__, change_forms.__file__), play) > 10


LINE = """\
def tell_turn(done, head, seq, wall):
    _, _, (), _, before, after, output, _, time, _, old_turns, new_turns = done.record
    changed = ''
    if old_turns is not new_turns and old_turns != new_turns:
        changed += f',"turns":{(+new_turns if -EXACT <= new_turns <= EXACT else\
 text_of_new_turns(new_turns))}'
    changed = f'{{{changed[1:]}}}'
    return f'{head}{seq},"time":{time_text(time)},"machine":"Wheel","fingerprint":"...",\
"event":"turn","transition":"turn","args":{{}},"outcome":"done","before":null,"after":null,\
"changed":{changed},"output":null,"why":null,"wall":{wall}'"""


def test_the_code_of_a_line() -> None:
    lines = LineWriter(Wheel(), "a", Both.line).lines  # type: ignore[arg-type]  # it is not called
    shown = Function(lines, ("turn", "turn", ("turns",))).source()
    assert shown.replace(Wheel.lawful.fingerprint.behaviour, "...") == LINE
