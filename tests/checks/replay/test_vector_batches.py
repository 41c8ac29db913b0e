"""Lockstep: instances that advance together have the verdicts and counts of the row fold."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from annotated_types import Interval

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Refused,
    Serial,
    Sort,
    State,
    before,
    event,
    ignore,
    needed,
    refuse,
    require,
    terminal,
    transition,
)
from lawful.checks.replay import ReplayProgram, TraceMapping
from lawful.checks.replay.columnar import kernel, vector_batches
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.in_process import tally_rows
from lawful.checks.replay.parquet import arrow
from lawful.checks.replay.problems import FittingInstances
from lawful.checks.replay.sources import sources
from lawful.checks.replay.tally import Judged, Tallies
from tests.checks.replay import test_columnar

pytest.importorskip("pyarrow")
pa = arrow()
Line = dict[str, Any]


class Level(State):
    LOW = "low"
    HIGH = "high"
    OFF = "off"


class Client(Sort): ...


class Offer(Record):
    who: Client
    price: Nat


class Lot(Machine):
    """Everything of fixed width: records, optional values, serial numbers, helpers, branches."""

    state: Level = Level.LOW
    best: Offer | None = None
    last: Client | None = None
    round: Annotated[int, Serial(bits=4)] = 14
    sold: bool = False
    spare: int = 0
    step: Param[Nat] = 5

    def price(self) -> int:
        best = self.best
        if best is None:
            return 0
        return best.price

    def note(self, who: Client) -> None:
        if self.last != who:
            self.last = who
            self.spare -= 1

    @event
    def bid(self, who: Client, price: Nat, spare: int) -> Nat | None: ...

    @transition(source=Level.LOW, target=(Level.LOW, Level.HIGH), event="bid")
    def bid_first(self, who: Client, price: Nat, spare: int) -> Nat | None:
        require(self.best is None)
        require(spare != 0 and price // spare < 90, "too much")
        self.best = Offer(who, price)
        self.note(who)
        if price > 50:
            self.state = Level.HIGH
            return None
        return price

    @transition(source=Level.LOW, target=(Level.LOW, Level.HIGH), event="bid")
    def bid_more(self, who: Client, price: Nat, spare: int) -> Nat | None:
        best = needed(self.best, "nobody has bid")
        require(price >= best.price + self.step)
        if best.who == who:
            refuse("against oneself")
        self.best = Offer(who, min(price, 1000))
        self.note(who)
        self.spare += spare * 2 if price > 20 or spare > 3 else abs(spare)
        if price > 60:
            self.state = Level.HIGH
        return best.price

    late = ignore("bid", source=Level.OFF, because="it is over")

    @transition()
    def turn(self, far: bool) -> bool:
        new = self.round + (9 if far else 3)
        require(before(self.round, new))
        self.round = new
        return self.state != Level.OFF

    @transition(source=(Level.LOW, Level.HIGH), target=Level.OFF)
    def close(self, gone: bool) -> None:
        require(not gone or self.price() > 0)
        self.sold = self.price() > 0
        assert self.spare < 90

    @terminal
    def over(self) -> bool:
        return self.state == Level.OFF and (self.sold or self.price() == 0)


ARGS: dict[str, Any] = {
    "bid": {"who": "$.who", "price": "$.price", "spare": "$.spare"},
    "turn": {"far": "$.far"},
    "close": {"gone": "$.gone"},
}
MAPPING = TraceMapping(
    "$.lot", "$.n", "$.what", skip=("PING",), args=ARGS, parameters={"step": 3}, output="$.gave"
)
PROGRAM = ReplayProgram((Lot.lawful.ir,), mapping=MAPPING)


def history(rng: random.Random, name: str, wrong: float) -> list[Line]:
    """What a lot does, now and then with something that it does not do."""
    lot, told = Lot(step=3), list[Line]()
    level = 0
    for _ in range(rng.randrange(1, 12)):
        line: Line = {"lot": name, "n": len(told)}
        line["what"] = what = rng.choice(["bid", "bid", "turn", "PING", "close"])
        if what == "close" and rng.random() < 0.6:
            continue
        level += rng.randrange(12)
        line |= {"who": rng.choice("abc"), "price": level, "spare": rng.randrange(-3, 9)}
        line |= {"far": rng.random() < 0.3, "gone": rng.random() < 0.3}
        try:
            line["gave"] = taken(lot, line)
        except Refused:
            if rng.random() > wrong:
                continue
            line["gave"] = None
        if rng.random() < wrong / 4:
            line["gave"] = rng.choice([None, 3, True])
        told.append(line)
    return told


def taken(lot: Lot, line: Line) -> Any:
    match line["what"]:
        case "bid":
            return lot.bid(Client(line["who"]), line["price"], line["spare"])
        case "turn":
            return lot.turn(line["far"])
        case "close":
            return lot.close(line["gone"])
        case _:
            return None


def trace(seed: int, lots: int = 60, wrong: float = 0.02) -> list[Line]:
    rng = random.Random(seed)
    return [line for i in range(lots) for line in history(rng, f"lot-{i}", wrong)]


def both(path: Path, program: ReplayProgram, together: list[Judged]) -> tuple[Tallies, Tallies]:
    """By rows and by columns; `together` gets the instances that advanced together."""
    files, tally = sources([path]), Tallies.add

    def noting(self: Tallies, judged: Judged) -> None:
        if isinstance(judged, FittingInstances):
            together.append(judged)
        tally(self, judged)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_batches, "FEW", 2)
        patch.setattr(Tallies, "add", noting)
        columns = tally_columns(files, program, test_columnar.the_layout(program))
    return tally_rows(files, program), columns


@pytest.mark.one_in(3)
@pytest.mark.parametrize("output", ["$.gave", None])
@pytest.mark.parametrize("seed", range(6))
def test_lots(
    seed: int, output: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "ROWS", [90, 10**6][seed % 2])  # Some span batches.
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(trace(seed, wrong=0 if seed == 0 else 0.02)))
    mapping = replace(MAPPING, output=output)
    program = ReplayProgram((Lot.lawful.ir,), mapping=mapping)
    together: list[Any] = []
    rows, columns = both(path, program, together)
    assert columns == rows
    verdicts = rows.machines["Lot"].verdicts
    assert verdicts["fits"] and verdicts["open"] and (seed == 0 or verdicts["deviates"])
    fitting = verdicts["fits"] + verdicts["open"]
    share = 0.6 if output is None else 0.3  # Outputs of `turn` have another type than the column.
    assert sum(len(each.names) for each in together) > share * fitting


def test_dense_numbers_begin_at_zero(tmp_path: Path) -> None:
    told = trace(3, wrong=0)
    for line in told:
        line["n"] += line["lot"] == "lot-7"
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(told))
    program = ReplayProgram((Lot.lawful.ir,), mapping=replace(MAPPING, dense=True, output=None))
    together: list[Any] = []
    rows, columns = both(path, program, together)
    assert columns == rows
    assert rows.machines["Lot"].verdicts["quarantined"] == 1
    assert all("lot-7" not in each.names for each in together)


class Meter(Machine):
    """Its numbers become large, and its bounds are small."""

    total: int = 0
    gauge: Annotated[int, Interval(ge=0, le=9)] = 0
    marks: set[Nat] = set()

    @transition()
    def add(self, n: int) -> int:
        self.total = self.total * n + n
        return self.total

    @transition()
    def set(self, n: Nat) -> None:
        self.gauge = n

    @transition()
    def double(self) -> None:
        self.total += self.total

    @transition()
    def zero(self) -> None:
        require(self.total == 0)

    @transition()
    def mark(self, n: Nat) -> None:
        self.marks.add(n)


METER = TraceMapping(
    "$.id",
    "$.n",
    "$.what",
    output="$.gave",
    args={"add": {"n": "$.by"}, "set": {"n": "$.by"}, "mark": {"n": "$.by"}},
)


@pytest.mark.parametrize("large", [2**20, 2**31, 2**52, 2**62, 2**63 - 1])
def test_large_numbers_are_left_to_python(large: int, tmp_path: Path) -> None:
    """Sums and products beyond 64 bits are exact; instances with a container are not held up."""
    told: list[Line] = []
    for i in range(20):
        meter, by = Meter(), large if i % 3 else -large
        for n in range(4):
            what = ("add", "add", "mark" if i % 5 == 0 else "add", "add")[n]
            line: Line = {"id": f"m{i}", "n": n, "what": what, "by": by if n % 2 else i}
            if what == "mark":
                line["by"] = n
            gave = getattr(meter, what)(line["by"])
            line["gave"] = gave if gave is None or abs(gave) < 2**63 else 0
            told.append(line)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(told))
    program = ReplayProgram((Meter.lawful.ir,), mapping=METER)
    together: list[Any] = []
    rows, columns = both(path, program, together)
    assert columns == rows
    assert bool(together and sum(len(each.names) for each in together)) == (large < 2**30)
    unsaid = replace(METER, output=None)
    rows, columns = both(path, ReplayProgram((Meter.lawful.ir,), mapping=unsaid), [])
    assert columns == rows
    assert rows.machines["Meter"].verdicts["fits"] == 20


def test_bounds(tmp_path: Path) -> None:
    """A value out of the bounds of its variable is no step."""
    told = [
        {"id": f"m{i}", "n": n, "what": "set", "by": 12 if i == 7 and n == 1 else n}
        for i in range(20)
        for n in range(3)
    ]
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(told))
    program = ReplayProgram((Meter.lawful.ir,), mapping=replace(METER, output=None))
    together: list[Any] = []
    rows, columns = both(path, program, together)
    assert columns == rows
    assert rows.machines["Meter"].verdicts == {"fits": 19, "deviates": 1}
    assert sum(len(each.names) for each in together) > 15


def test_sums_do_not_wrap(tmp_path: Path) -> None:
    """2**64 is not 0, and a number that arrays cannot hold is left to Python in time."""
    what = ["add", *["double"] * 64, "zero"]
    told = [
        {"id": f"m{i}", "n": n, "what": each, "by": i % 2}
        for i in range(20)
        for n, each in enumerate(what)
    ]
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(told))
    program = ReplayProgram((Meter.lawful.ir,), mapping=replace(METER, output=None))
    rows, columns = both(path, program, [])
    assert columns == rows
    assert rows.machines["Meter"].verdicts == {"fits": 10, "deviates": 10}


def test_another_output_is_no_step(tmp_path: Path) -> None:
    """Of an event with one transition, and of one with two."""
    told = trace(4, wrong=0)
    kept = [line for line in told if line["gave"] is not None]
    for n, line in enumerate(kept):
        line["n"] = n
    turns = [line for line in kept if line["what"] == "turn"]
    bids = [line for line in kept if line["what"] == "bid" and line["price"] > 0]
    assert len(turns) > 9 and len(bids) > 9
    for line in turns[::9]:
        line["gave"] = not line["gave"]
    for line in bids[::9]:
        line["gave"] += 1
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(kept))
    together: list[Any] = []
    rows, columns = both(path, PROGRAM, together)
    assert columns == rows
    assert rows.machines["Lot"].verdicts["deviates"] > 5 and together


class Door(Machine):
    """Both transitions of `push` are possible while it is heavy."""

    heavy: bool = False
    open: bool = False

    @event
    def push(self, force: Nat) -> None: ...

    @transition(event="push")
    def hard(self, force: Nat) -> None:
        require(force > 3)
        self.heavy = not self.heavy

    @transition(event="push")
    def soft(self, force: Nat) -> None:
        require(force < 3 or self.heavy)
        self.open = True


def test_two_transitions_at_once_are_left_to_the_row_fold(tmp_path: Path) -> None:
    rng = random.Random(1)
    told = [
        {"id": f"d{i}", "n": n, "what": "push", "by": rng.choice([1, 2, 5]) if i % 3 else 1}
        for i in range(40)
        for n in range(3)
    ]
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(told))
    mapping = TraceMapping("$.id", "$.n", "$.what", args={"push": {"force": "$.by"}})
    together: list[Any] = []
    rows, columns = both(path, ReplayProgram((Door.lawful.ir,), mapping=mapping), together)
    assert columns == rows
    counts = rows.machines["Door"].counts
    assert counts["ambiguous"] or rows.machines["Door"].verdicts["deviates"]
    assert 5 < sum(len(each.names) for each in together) < 40


class Lamp(Machine):
    """Its guards and its property look for values among others that are written out."""

    state: Level = Level.LOW
    last: Level | None = None
    sum: int = 0

    @transition()
    def go(self, to: Level, n: Nat) -> bool:
        require(to in {Level.LOW, Level.HIGH} or n in [1, self.sum])
        require(self.last not in (to, None) or n not in (7, 8))
        self.last = self.state
        self.state = to
        self.sum += n
        return self.last in (Level.OFF, self.state)

    @terminal
    def lit(self) -> bool:
        return self.state in (Level.LOW, Level.HIGH)


def test_membership_in_values_that_are_written_out(tmp_path: Path) -> None:
    rng = random.Random(11)
    told: list[Line] = []
    for i in range(200):
        lamp = Lamp()
        for n in range(rng.randrange(1, 6)):
            to, by = rng.choice([*Level]), rng.randrange(10)
            line: Line = {"id": f"l{i}", "n": n, "what": "go", "to": to.name, "by": by}
            try:
                line["gave"] = lamp.go(to, by)
            except Refused:
                if rng.random() < 0.8:
                    continue
                line["gave"] = False
            told.append(line)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(told))
    args: dict[str, Any] = {"go": {"to": "$.to", "n": "$.by"}}
    mapping = TraceMapping("$.id", "$.n", "$.what", output="$.gave", args=args)
    together: list[Any] = []
    rows, columns = both(path, ReplayProgram((Lamp.lawful.ir,), mapping=mapping), together)
    assert columns == rows
    verdicts = rows.machines["Lamp"].verdicts
    assert min(verdicts["fits"], verdicts["open"], verdicts["deviates"]) > 5
    fitting = verdicts["fits"] + verdicts["open"]
    assert sum(len(each.names) for each in together) >= fitting - 2  # Not the first and the last.
