"""Several machines with mappings over one log, which is read once: the verdicts of each machine are
those that were planted, and those of a replay of that machine alone."""

from __future__ import annotations

import dataclasses
import json
import pickle
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, State, ignore, require, terminal, transition
from lawful.checks.replay import (
    Demands,
    JointProgram,
    Preparation,
    ReplayError,
    ReplayResult,
    TraceMapping,
    joint_program,
    read_mappings,
    replay,
)
from lawful.checks.replay.in_process import tally_rows
from lawful.checks.replay.joint import joint_tallies
from lawful.checks.replay.joint.joint_tallies import tally_joint
from lawful.checks.replay.sources import sources
from lawful.checks.replay.tally import Tallies
from lawful.checks.report import ci_replays, deviation_tests, replay_metrics, replays
from lawful.cli import main
from tests.checks.replay.answers import Answer, of_tallies
from tests.checks.replay.journals import written

pa: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")


class Stage(State):
    NEW = "new"
    PAID = "paid"
    SENT = "sent"


class Order(Machine):
    """An order: it is sent after it is paid."""

    state: Stage = Stage.NEW

    @transition(source=Stage.NEW, target=Stage.PAID)
    def capture(self) -> None: ...

    @transition(source=Stage.PAID, target=Stage.SENT)
    def send(self) -> None: ...

    again = ignore("capture", source=(Stage.PAID, Stage.SENT), because="more than one payment")

    @terminal
    def sent(self) -> bool:
        return self.state == Stage.SENT


class Payment(Machine):
    """A payment, in cents."""

    held: Nat = 0
    taken: Nat = 0

    @transition()
    def authorize(self, cents: Nat) -> None:
        require(self.held == 0, "authorized twice")
        self.held = cents

    @transition()
    def capture(self, cents: Nat) -> None:
        require(self.taken + cents <= self.held, "more than authorized")
        self.taken += cents


class Courier(Machine):
    """A courier, who has one parcel at a time."""

    loaded: bool = False

    @transition()
    def load(self) -> None:
        require(not self.loaded, "has a parcel already")
        self.loaded = True

    @transition()
    def unload(self) -> None:
        require(self.loaded, "has no parcel")
        self.loaded = False


MACHINES: tuple[type[Machine], ...] = (Order, Payment, Courier)
ORDER = TraceMapping(
    "$.order",
    "$.n",
    "$.type",
    skip=("PING",),
    machine="Order",
    events={"CAPTURED": "capture", "SENT": "send"},
)
PAYMENT = dataclasses.replace(
    ORDER,
    instance="$.payment",
    machine="Payment",
    events={"AUTHORIZED": "authorize", "CAPTURED": "capture"},
    args={"authorize": {"cents": "$.cents"}, "capture": {"cents": "$.cents"}},
)
COURIER = dataclasses.replace(
    ORDER, instance="$.by", machine="Courier", events={"SENT": "load", "DELIVERED": "unload"}
)
MAPPINGS = (ORDER, PAYMENT, COURIER)
# Order 1 fits, 2 is sent before it is paid, 3 gets an event that nobody knows, and 4 is open.
# Payment 2 takes too much; its name is that of an order.
LOG: list[dict[str, Any]] = [
    {"n": 0, "type": "PING"},
    {"n": 1, "type": "AUTHORIZED", "payment": "1", "cents": 500},
    {"n": 2, "type": "CAPTURED", "order": "1", "payment": "1", "cents": 500},
    {"n": 3, "type": "SENT", "order": "1", "by": "ann"},
    {"n": 4, "type": "SENT", "order": "2", "by": "bob"},
    {"n": 5, "type": "AUTHORIZED", "payment": "2", "cents": 100},
    {"n": 6, "type": "CAPTURED", "order": "2", "payment": "2", "cents": 101},
    {"n": 7, "type": "TELEPORTED", "order": "3"},
    {"n": 8, "type": "DELIVERED", "by": "ann"},
    {"n": 9, "type": "DELIVERED", "by": "cyd"},
    {"n": 10, "type": "AUTHORIZED", "payment": "4", "cents": 7},
    {"n": 11, "type": "CAPTURED", "order": "4", "payment": "4", "cents": 7},
    {"n": 12, "type": "WEATHER"},
]
PLANTED = {
    "Order": {'"1"': "fits", '"2"': "deviates", '"3"': "quarantined", '"4"': "open"},
    "Payment": {'"1"': "fits", '"2"': "deviates", '"4"': "fits"},
    "Courier": {"ann": "fits", "bob": "fits", "cyd": "deviates"},
}
LINES = [*map(json.dumps, LOG), '{"n": 13, "type":']


def joint(mappings: Sequence[TraceMapping] = MAPPINGS, **options: Any) -> JointProgram:
    return joint_program((each.lawful.ir for each in MACHINES), mappings, **options)


def replayed(tmp_path: Path, lines: Sequence[str] = LINES, **options: Any) -> ReplayResult:
    path = written(tmp_path / "shop.jsonl", [*lines])
    return replay([path], joint(**options))


def named(tallies: Tallies) -> dict[str, dict[str, str]]:
    return {name: dict(sorted(each.named.items())) for name, each in tallies.machines.items()}


def answers(tallies: Tallies) -> dict[str, Answer]:
    """The answer of each machine, without the rejected rows."""
    return {
        name: of_tallies(Tallies(every=True, machines={name: tally}))
        for name, tally in tallies.machines.items()
    }


def alone(path: Path, program: JointProgram) -> dict[str, Answer]:
    """A replay for each machine, row by row."""
    out: dict[str, Answer] = {}
    for name in program.steppers:
        tallies = tally_rows(sources([path], foreign=True), program.of(name))
        out[name] = of_tallies(Tallies(every=True, machines={name: tallies.of(name)}))
    return out


def test_each_machine_judges_what_was_planted_for_it(tmp_path: Path) -> None:
    result = replayed(tmp_path)
    assert named(result.tallies) == PLANTED
    assert result.exit_code == 2
    answer: Any = result.to_json()
    assert [(m["machine"], m["verdicts"]["deviates"]) for m in answer["machines"]] == [
        ("Order", 1),
        ("Payment", 1),
        ("Courier", 1),
    ]
    found = [(f["machine"], f["instance"], f["index"], f["clause"]) for f in answer["deviations"]]
    assert found == [
        ("Order", '"2"', 4, "state is NEW, not PAID"),
        ("Payment", '"2"', 6, "more than authorized (101 <= 100 is false)"),
        ("Courier", "cyd", 9, "has no parcel (loaded is false)"),
    ]
    paths = {f["machine"]: f["path"] for f in answer["deviations"]}
    assert paths["Order"] == [{"event": "capture", "args": {}}], paths
    assert answer["by_instance"]['Order."2"'] == answer["by_instance"]['Payment."2"'] == "deviates"
    assert answer["counts"]["unknown_events"] == 1
    # A broken line is rejected once, and so is a row that is nobody's.
    assert {e["reason"]: e["total"] for e in answer["rejected"]["reasons"]} == {
        "not JSON": 1,
        "no value at $.order": 1,
    }


def test_reports_name_the_machine(tmp_path: Path) -> None:
    result = replayed(tmp_path)
    text, page, told = replays.text(result), replays.html(result), replay_metrics.metrics(result)
    assert 'Order, instance "2", row 4, event send in state NEW' in text
    assert "in all: 5 fits, 1 open, 3 deviates, 1 quarantined" in text
    assert "Coverage of Courier" in page and "Payment, instance &quot;2&quot;" in page
    assert 'lawful_replay_instances{machine="Courier",verdict="deviates"} 1' in told
    suites = {each.name: each.cases for each in ci_replays.suites(result)}
    assert [case.outcome for case in suites["Courier"] if case.name == "deviates"] == ["failed"]
    made = deviation_tests.deviation_tests([tmp_path / "shop.jsonl"], result)
    assert [(e.machine, [row.seq for row in e.rows]) for e in made] == [
        ("Order", [4]),
        ("Payment", [6]),
        ("Courier", [9]),
    ]
    traces = ci_replays.traces([tmp_path / "shop.jsonl"], result)
    assert [(m.name, instance, len(trace.steps)) for m, instance, _, trace in traces] == [
        ("Order", '"2"', 1),
        ("Payment", '"2"', 1),
        ("Courier", "cyd", 1),
    ]


def test_the_log_as_a_whole_is_a_basis_for_each_machine(tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in LOG[:4]]
    assert replayed(tmp_path, lines).exit_code == 0
    payments = [json.dumps(row) for row in LOG[1:3]]
    assert replayed(tmp_path, payments).failures == ("no event of Courier was judged",)
    strange = [*lines, json.dumps(LOG[7])]
    assert replayed(tmp_path, strange).exit_code == 3
    passed = replay(
        [tmp_path / "shop.jsonl"], joint(pass_unknown=True), demands=Demands(False, 0.2)
    )
    # Each row counts for each machine that takes it: five, and the one that nobody takes.
    assert (passed.exit_code, passed.total.events) == (0, 6)
    passed = replay([tmp_path / "shop.jsonl"], joint(pass_unknown=True))
    assert passed.failures == ("1 of 6 events (16.7%) are unknown; at most 1.0% may be",)


def always(answer: bool) -> Callable[..., bool]:
    """A function that gives this answer."""

    def told(*_rest: object, **_more: object) -> bool:
        return answer

    return told


def generated(seed: int, rows: int) -> list[dict[str, Any]]:
    """A random log of some orders, payments and couriers, mostly legal; now and then a row lacks
    something, or has a name that nobody knows."""
    pick = random.Random(seed)
    out: list[dict[str, Any]] = []
    for n in range(rows):
        kind = pick.choice(("AUTHORIZED", "CAPTURED", "SENT", "DELIVERED", "PING", "WEATHER"))
        row: dict[str, Any] = {"n": n, "type": kind, "cents": pick.choice((1, 5, 1000))}
        for key in ("order", "payment", "by"):
            if pick.random() < (0.9 if kind != "WEATHER" else 0.3):
                row[key] = pick.choice((f"{key}{pick.randrange(rows // 6)}", pick.randrange(3)))
        if pick.random() < 0.02:
            row["n"] = pick.choice(("x", None, n - 1))
        if pick.random() < 0.02:
            row["type"] = pick.choice((None, 7, ["SENT"]))
        out.append(row)
    return out


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("pass_unknown", [False, True])
def test_a_machine_alone_gives_the_same(
    columns: bool, pass_unknown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint_tallies, "is_few", always(not columns))
    program = joint(every=True, pass_unknown=pass_unknown)
    path = written(tmp_path / "log.jsonl", [json.dumps(row) for row in generated(3, 120)])
    found = tally_joint(sources([path], foreign=True), program)
    mine = answers(found)
    assert mine == alone(path, program)
    assert {v for each in mine.values() for v in each.verdicts.values()} >= {"fits", "deviates"}
    rows = [pa.Table.from_pylist([row]) for row in LOG]
    table = pa.concat_tables(rows, promote_options="default")
    parquet.write_table(table, tmp_path / "log.parquet")
    found = tally_joint(sources([tmp_path / "log.parquet"], foreign=True), program)
    unquoted = {m: {k.strip('"'): v for k, v in each.items()} for m, each in PLANTED.items()}
    if pass_unknown:
        unquoted["Order"]["3"] = "empty"
    assert named(found) == unquoted
    other = "null or missing, not a text or a whole number"
    assert found.rejected.totals == {(f"no instance: $.order is {other}",): 1}


def test_rows_are_rejected_once_in_columns_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "log.jsonl", [*LINES, "", *LINES[:3]])
    told: list[Any] = []
    for few in (True, False):
        monkeypatch.setattr(joint_tallies, "is_few", always(few))
        found = tally_joint(sources([path], foreign=True), joint(every=True)).rejected
        told.append([(k, f.index, f.details) for k, rows in found.rows.items() for _, f in rows])
    assert sorted(told[0]) == sorted(told[1])
    assert [number for _, number, _ in sorted(told[0])] == [13, 14]


def test_numbers_without_a_gap_count_the_rows_of_all(tmp_path: Path) -> None:
    """Two machines follow one connection, whose rows are numbered through."""
    order = dataclasses.replace(ORDER, instance="$.c", dense=True, skip=())
    courier = dataclasses.replace(
        COURIER, instance="$.c", dense=True, skip=(), events={"LOAD": "load", "UNLOAD": "unload"}
    )
    events = ("CAPTURED", "LOAD", "SENT", "UNLOAD")
    rows = [{"c": "c", "n": n, "type": each} for n, each in enumerate(events)]
    path = written(tmp_path / "c.jsonl", [json.dumps(row) for row in rows])
    both = joint_program((Order.lawful.ir, Courier.lawful.ir), (order, courier))
    for prepared in (None, Preparation()):
        program = joint_program(
            both.machines,
            [dataclasses.replace(each, preparation=prepared) for each in both.mappings],
        )
        assert named(replay([path], program).tallies) == {
            "Order": {"c": "fits"},
            "Courier": {"c": "fits"},
        }
    path = written(tmp_path / "c.jsonl", [json.dumps(row) for row in rows if row["n"] != 1])
    assert named(replay([path], both).tallies)["Order"] == {"c": "quarantined"}


def test_rows_that_are_made_in_different_ways(tmp_path: Path) -> None:
    """Each machine makes its own rows of a record. A record that no machine takes is not lost, and
    what only one of two ways finds is left out by the other."""
    of_order = Preparation("csv", when={"$.kind": "o"}, casts={"$.n": "int"})
    of_payment = Preparation("csv", when={"$.kind": "p"}, casts={"$.n": "int", "$.cents": "int"})
    mappings = [
        dataclasses.replace(ORDER, instance="$.id", preparation=of_order),
        dataclasses.replace(PAYMENT, instance="$.id", preparation=of_payment),
    ]
    text = (
        "kind,id,n,type,cents\np,1,1,AUTHORIZED,5\np,1,2,CAPTURED,5\no,1,3,CAPTURED,\n"
        "o,1,4,SENT,\np,2,5,SENT,\nx,3,6,SENT,\n"
    )
    path = tmp_path / "log.csv"
    path.write_text(text)
    program = joint_program((Order.lawful.ir, Payment.lawful.ir), mappings)
    result = replay([path], program)
    # An event of orders in a row of a payment is unknown to payments, and no order's row.
    assert named(result.tallies) == {
        "Order": {"1": "fits"},
        "Payment": {"1": "fits", "2": "quarantined"},
    }


def test_what_cannot_be_judged_together_is_refused(tmp_path: Path, capsys: Any) -> None:
    machines = [each.lawful.ir for each in MACHINES]
    with pytest.raises(ValueError, match="no mapping is of Courier"):
        joint_program(machines, MAPPINGS[:2])
    with pytest.raises(ValueError, match="of Courier; the machines are Order, Payment"):
        joint_program(machines[:2], MAPPINGS)
    with pytest.raises(ValueError, match="does not name its machine; the machines are Order"):
        joint_program(machines, [dataclasses.replace(ORDER, machine=""), *MAPPINGS[1:]])
    with pytest.raises(ValueError, match="machines of different names"):
        joint_program(machines, [*MAPPINGS, ORDER])
    other = dataclasses.replace(PAYMENT, preparation=Preparation("csv"))
    told = "format of the preparation is the same for all machines; Order has 'lines', Payment has"
    with pytest.raises(ValueError, match=told):
        joint([ORDER, other, COURIER])
    with pytest.raises(ValueError, match="a replay in increments judges by one mapping"):
        joint(resumable=True)
    with pytest.raises(ReplayError, match=r"machines\.A: instance has to be a path"):
        wrong = tmp_path / "wrong.toml"
        wrong.write_text('seq = "$.n"\n[machines.A]\nevent = "$.e"\n[machines.B]\n')
        read_mappings(wrong)
    again = pickle.loads(pickle.dumps(joint(every=True)))
    assert (again.mappings, again.every) == (MAPPINGS, True)


MAPPING_FILE = """
seq = "$.n"
event = "$.type"
skip = ["PING"]

[machines.Order]
instance = "$.order"
events = { CAPTURED = "capture", SENT = "send" }

[machines.Payment]
instance = "$.payment"
events = { AUTHORIZED = "authorize", CAPTURED = "capture" }
args.authorize.cents = "$.cents"
args.capture.cents = "$.cents"

[machines.Courier]
instance = "$.by"
events = { SENT = "load", DELIVERED = "unload" }
"""


def test_one_command_replays_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "shop.jsonl", [*LINES])
    mapping = tmp_path / "shop.toml"
    mapping.write_text(MAPPING_FILE)
    assert read_mappings(mapping) == MAPPINGS
    orders, rest = tmp_path / "orders.py", tmp_path / "rest.py"
    source = Path(__file__).read_text(encoding="utf-8")
    head = "from lawful import *\nfrom lawful import Machine, Nat, State\n"
    begin, middle, end = (source.index(f"class {n}") for n in ("Stage", "Payment", "Courier"))
    orders.write_text(head + source[begin:middle])
    rest.write_text(head + source[middle : source.index("MACHINES:")])
    assert end > middle
    given = [str(path), str(orders), "--also", f"{rest}", "--mapping", str(mapping)]
    assert main(["replay", *given, "--json", "-"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert {m["machine"]: m["by_instance"] for m in answer["machines"]} == PLANTED
    assert main(["replay", *given, "--store", str(tmp_path / "s")]) == 5
    assert "--store judges by one mapping" in capsys.readouterr().err
    assert main(["replay", str(path), str(orders), "--mapping", str(mapping)]) == 5
    assert "the mapping is of Payment" in capsys.readouterr().err


def test_what_one_machine_takes_is_left_out_for_others(tmp_path: Path) -> None:
    """Because another skips it, and by another name of its event."""
    order = dataclasses.replace(ORDER, instance="$.c")
    by_kind = dataclasses.replace(PAYMENT, instance="$.c", event="$.kind", skip=())
    rows = [
        {"c": "a", "n": 1, "type": "PING", "kind": "AUTHORIZED", "cents": 1},
        {"c": "a", "n": 2, "type": "PING", "kind": "PONG"},
        {"c": "a", "n": 3, "type": "CAPTURED", "kind": "PONG"},
        {"c": "a", "n": 4, "type": "SENT", "kind": "SENT"},
    ]
    path = written(tmp_path / "c.jsonl", [json.dumps(row) for row in rows])
    both = joint_program((Order.lawful.ir, Payment.lawful.ir), (order, by_kind))
    assert named(replay([path], both).tallies) == {"Order": {"a": "fits"}, "Payment": {"a": "fits"}}


def test_rows_of_others_are_none_of_an_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint_tallies, "is_few", always(False))
    order = dataclasses.replace(ORDER, instance="$.c", skip=())
    courier = dataclasses.replace(
        COURIER, instance="$.c", skip=(), events={"LOAD": "load", "UNLOAD": "unload"}
    )
    events = ("CAPTURED", "LOAD", "SENT", "UNLOAD")
    rows = [{"c": f"c{i}", "n": n, "type": e} for i in range(80) for n, e in enumerate(events)]
    path = written(tmp_path / "c.jsonl", [json.dumps(row) for row in rows])
    program = joint_program((Order.lawful.ir, Courier.lawful.ir), (order, courier))
    found = tally_joint(sources([path], foreign=True), program).machines
    assert [(each.instances, each.rows, each.verdicts) for each in found.values()] == [
        (80, 160, {"fits": 80})
    ] * 2
