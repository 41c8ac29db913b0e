"""What the executor writes is what a replay accepts, and any lie told in it is caught."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest

from lawful import (
    Ghost,
    Machine,
    Nat,
    Opaque,
    OrderedSort,
    Param,
    Refused,
    Sort,
    State,
    Timer,
    event,
    initial,
    require,
    terminal,
    transition,
)
from lawful.checks.replay import ReplayProgram, ReplayResult, replay
from lawful.checks.replay import rows as rows_of
from lawful.checks.replay.fold import fold
from lawful.checks.replay.rows import journal_row
from lawful.machines.unicast import declaration
from lawful.machines.unicast.service.relay import Faults
from lawful.machines.unicast.service.run import exchange
from lawful.runtime.journal import HIDDEN, Hidden, Journal
from lawful.spec.codec.as_json import is_list, is_object
from tests.checks.replay.journals import Job, Row, Worker, written
from tests.root import PATIENCE

Token = Annotated[bytes, Opaque("Token")]


class Node(Sort): ...


class Seat(State):
    FREE = "free"
    TAKEN = "taken"


class Place(Machine):
    state: Seat = Seat.FREE
    guest: Node | None = None
    warm: Timer = Timer()

    @transition(source=Seat.FREE, target=Seat.TAKEN)
    def sit(self, who: Node) -> None:
        self.guest = who
        self.warm.start(1.0)

    @transition(source=Seat.TAKEN, target=Seat.FREE)
    def rise(self) -> None:
        self.guest = None


class Table(Machine):
    """Parts, sorts, tokens, a choice: what a journal can hold."""

    host: Place = Place()
    other: Place = Place()
    tokens: dict[int, Token] = {}
    seen: dict[Node, bool] = {}

    @transition()
    def seat(self, who: Node) -> None:
        self.other.sit(who)
        self.seen[who] = True

    @transition()
    def welcome(self, who: Node) -> None:
        self.host.sit(who)

    @transition()
    def keep(self, number: int, token: Token) -> Token:
        self.tokens[number] = token
        return token

    @event(choice=True)
    def leave(self, who: Node) -> bool | None: ...

    @transition(event="leave")
    def politely(self, who: Node) -> bool | None:
        require(self.other.guest == who, "sits elsewhere")
        self.other.rise()
        return True

    @transition(event="leave")
    def suddenly(self, who: Node) -> bool | None:
        require(who in self.seen, "was never here")
        self.host.rise()
        return False

    @terminal
    def empty(self) -> bool:
        return self.host.guest is None


class Counter(Machine):
    """Begins where an `@initial` says."""

    count: Nat
    step: Param[int] = 1

    @initial
    def from_nothing(self) -> None:
        self.count = 0

    @transition()
    def up(self) -> Nat:
        self.count += self.step
        return self.count


class Shelf(Machine):
    """Has one @initial with an argument, and goes over all nodes."""

    marks: dict[Node, bool]

    @initial
    def all_alike(self, mark: bool) -> None:
        self.marks = {n: mark for n in Node}

    @transition()
    def flip(self) -> None:
        require(any(self.marks[n] for n in Node), "nothing is marked")
        self.marks = {n: not self.marks[n] for n in Node}


class Tier(OrderedSort):
    """A row of seats."""


class Hall(Machine):
    """Its ghosts go out of their bounds, and read where nothing is; it compares rows."""

    front: Tier | None = None
    taken: dict[Tier, Nat] = {}
    left: Ghost[Nat] = 2
    last: Ghost[Nat] = 0

    @transition()
    def take(self, row: Tier) -> Tier:
        seen = self.taken.get(row, 0)
        self.last = self.taken[row]
        self.taken[row] = seen + 1
        self.left -= 1
        self.front = min(self.taken)
        require(self.front <= row, "before all others")
        return max((each for each in self.taken), default=row)

    @terminal
    def many(self) -> bool:
        return len(self.taken) > 1


class Full(Hall):
    """Whether it may rest is told by a ghost, too."""

    @terminal
    def full(self) -> bool:
        return self.left == 0


def attempt(call: Callable[..., object], *args: object) -> bool:
    try:
        call(*args)
    except Refused:
        return False
    return True


def judged(path: Path, *classes: type[Machine], anywhere: bool = False) -> ReplayResult:
    return replay([path], ReplayProgram(tuple(c.lawful.ir for c in classes), anywhere))


def worked(path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with Journal(path) as journal:
        workers = [Worker(limit=3) for _ in range(3)]
        for number, each in enumerate(workers):
            journal.attach(each, instance=f"w{number}")
        for _ in range(60):
            each = rng.choice(workers)
            job = Job(rng.randrange(3), frozenset(rng.sample(range(9), 2)))
            if rng.random() < 0.4:
                attempt(each.take, job)
            else:
                attempt(rng.choice((each.finish, each.lose_patience)))


@pytest.mark.parametrize("seed", range(5))
def test_what_workers_did_fits(seed: int, tmp_path: Path) -> None:
    worked(tmp_path / "j.jsonl", seed)
    result = judged(tmp_path / "j.jsonl", Worker)
    assert result.exit_code == 0, json.dumps(result.to_json(), indent=1)
    assert result.total.instances == 3 and result.total.rows == 63


@pytest.mark.parametrize("more", [(), ("state",)], ids=str)
def test_what_is_hidden_is_not_compared_and_all_else_is(
    more: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        worker = Worker(limit=1)
        journal.attach(worker, "w", Hidden(frozenset({"sizes", "done", "finish.output", *more})))
        assert not attempt(worker.finish)
        worker.take(Job(3, frozenset()))
        worker.finish()
        worker.finish()
    result = judged(path, Worker)
    assert (result.verdicts["fits"], result.exit_code) == (1, 0), result.to_json()
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[3]["changed"]["sizes"] == rows[3]["output"] == {HIDDEN: "excluded"}
    for name, value in [("state", "OVER"), ("patience", False), ("job", None)]:
        told = copy.deepcopy(rows)
        told[2]["changed"][name] = value
        assert judged(written(path, told), Worker).verdicts["deviates"] == 1, name
    silent = copy.deepcopy(rows)
    del silent[3]["changed"]["sizes"]  # That it changed is told.
    assert judged(written(path, silent), Worker).verdicts["deviates"] == 1


@pytest.mark.parametrize("name", ["job", "limit"])
def test_without_a_hidden_argument_or_parameter_nothing_is_established(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        worker = Worker()
        journal.attach(worker, "w", Hidden(hashed=frozenset({name}), key=b"k"))
        worker.take(Job(3, frozenset()))
        worker.finish()
    result = judged(path, Worker)
    assert result.verdicts["inconclusive"] == 1, result.to_json()
    assert f"{name} is hidden in the row" in json.dumps(result.to_json())


def test_parts_sorts_tokens_and_choices(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    a, b = Node("a"), Node("b")
    with Journal(path) as journal:
        table = Table()
        journal.attach(table, instance="t")
        table.seat(b)
        table.welcome(a)
        assert not attempt(table.seat, a)
        assert table.keep(3, b"bytes") == b"bytes"
        assert not attempt(table.politely, a)
        table.suddenly(b)
        table.politely(b)
    result = judged(path, Table)
    assert result.verdicts["fits"] == 1, json.dumps(result.to_json(), indent=1)
    assert judged(path, Table, anywhere=True).tallies == result.tallies
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    for name, value in [("other", 7), ("other", {"state": "FREE"}), ("host", {"state": 3})]:
        told = copy.deepcopy(rows)
        told[0]["changed"][name] = value
        assert judged(written(path, told), Table, anywhere=True).verdicts["quarantined"] == 1
    seat = next(i for i, row in enumerate(rows) if row["event"] == "seat")
    for name, value in [("guest", "c"), ("state", "FREE"), ("warm", False)]:
        told = copy.deepcopy(rows)
        told[seat]["changed"]["other"][name] = value
        finding = findings(judged(written(path, told), Table))[0]
        assert finding["index"] == seat and finding["clause"].startswith("other is {")


def findings(result: ReplayResult) -> list[Any]:
    answer: Any = result.to_json()
    found: list[Any] = answer["deviations"]
    return found


def test_an_initial_is_called_before_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        counter = Counter(step=2)
        counter.from_nothing()
        journal.attach(counter, instance="c")
        counter.up()
    assert judged(path, Counter).verdicts["fits"] == 1
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["changed"]["count"] = 2
    rows[1]["changed"]["count"] = rows[1]["output"] = 4
    (finding,) = findings(judged(written(path, rows), Counter))
    assert finding["clause"] == "count is 2 in the row, 0 in the machine"
    assert judged(path, Counter, anywhere=True).exit_code == 0


def test_a_sort_is_iterated_where_its_elements_are_told(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        shelf = Shelf(universe={Node: [Node("a"), Node("b")]})
        shelf.all_alike(True)
        journal.attach(shelf, instance="s")
        shelf.flip()
        assert not attempt(shelf.flip)
    assert judged(path, Shelf).verdicts["fits"] == 1
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row.pop("universe", None) for row in rows] == [{"Node": ["a", "b"]}, None, None]
    result = judged(written(path, rows), Shelf)
    assert result.verdicts["inconclusive"] == 1 and result.exit_code == 3
    rows[0]["universe"] = {"Node": ["a", "b"]}
    assert judged(written(path, rows), Shelf).verdicts["fits"] == 1
    rows[0]["universe"] = {"Node": ["a"]}
    assert judged(written(path, rows), Shelf).verdicts["deviates"] == 1
    rows[0]["universe"] = 7
    assert judged(written(path, rows), Shelf).verdicts["quarantined"] == 1


@pytest.mark.parametrize("cls", [Hall, Full])
@pytest.mark.parametrize("universe", [{}, {Tier: ["z", "y"]}])
def test_ghosts_are_not_judged_and_rows_without_a_universe_go_by_text(
    cls: type[Hall], universe: dict[type[Sort], list[str]], tmp_path: Path
) -> None:
    path, hall = tmp_path / "j.jsonl", cls(universe=universe)
    y, z = Tier("y"), Tier("z")
    with Journal(path) as journal:
        journal.attach(hall, instance="h")
        assert (hall.take(y), hall.take(y)) == (y, y)
        journal.flush()
        if cls is Full:  # Not over yet, unless a ghost says so.
            assert judged(path, cls).verdicts["inconclusive"] == 1
        assert hall.take(z) == (y if universe else z)
        assert hall.front == (z if universe else y)
    result = judged(path, cls)
    assert result.verdicts["fits"] == 1 and result.exit_code == 0


def test_what_is_legal_is_what_the_executor_says(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    rng = random.Random(3)
    worker = Worker(limit=2)
    enabled = [worker.lawful.enabled()]
    with Journal(path) as journal:
        journal.attach(worker, instance="w")
        for size in range(40):
            call = rng.choice((worker.finish, worker.lose_patience, None))
            if call is None:
                attempt(worker.take, Job(size, frozenset()))
            else:
                attempt(call)
            enabled.append(worker.lawful.enabled())
    program = ReplayProgram((Worker.lawful.ir,))
    stepper, state = program.steppers["Worker"], None
    legal: list[tuple[str, ...]] = []
    for line in path.read_text().splitlines():
        row = journal_row(json.loads(line), line)
        assert isinstance(row, rows_of.Row)
        state, _ = stepper.follow(state, row)
        legal.append(stepper.legal(state))
    # The timer is armed and never due here: for a replay it may fire, for the executor not yet.
    without = [tuple(name for name in names if name != "lose_patience") for names in legal]
    assert without == enabled and len(set(legal)) > 2


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a short exchange through a bad network."""
    path = tmp_path_factory.mktemp("real") / "journal.jsonl"
    faults = Faults(loss=0.1, duplicate=0.05, reorder=0.1)
    asyncio.run(asyncio.wait_for(exchange(30, faults, 7, path), PATIENCE))
    return path


ENTRIES = (declaration.SenderEntryFixed, declaration.ReceiverEntryFixed)


def test_what_the_service_did_fits(real: Path) -> None:
    result = judged(real, *ENTRIES)
    assert result.verdicts["fits"] == 4 and result.exit_code == 0
    answer: Any = result.to_json()
    covered = answer["coverage"]["transitions"]
    assert covered["SenderEntryFixed.send"] == covered["ReceiverEntryFixed.deliver"] == 60


def lied(value: Any, rng: random.Random) -> Any:
    """Another value of about the same form."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + rng.choice((-1, 1, 1000))
        case str():
            return value + "x"
        case _ if is_list(value):
            return value[:-1] if value else [0]
        case _ if is_object(value) and value:
            key = rng.choice(sorted(value))
            return value | {key: lied(value[key], rng)}
        case _:
            return 1


def test_every_lie_about_what_was_done_is_caught(real: Path) -> None:
    told: dict[str, list[Row]] = {}
    for line in real.read_text().splitlines():
        row: Row = json.loads(line)
        told.setdefault(row["instance"], []).append(row)
    program = ReplayProgram(tuple(c.lawful.ir for c in ENTRIES))
    rng = random.Random(1)
    for _ in range(150):
        name = rng.choice(sorted(told))
        rows = told[name]
        i = rng.choice([i for i, row in enumerate(rows) if row["outcome"] == "done"])
        key = rng.choice(["changed", "output", "before", "after", "transition", "outcome"])
        lie = rows[i] | {key: lied(rows[i][key], rng)}
        parsed = [journal_row(row, "") for row in (*rows[:i], lie)]
        found = fold(program, name, [row for row in parsed if isinstance(row, rows_of.Row)])
        assert found.verdict in ("deviates", "quarantined"), (rows[i], key, lie[key])
        assert found.finding is not None and found.finding.index == i
