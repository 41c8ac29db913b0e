"""Logs in the forms of other systems, with planted faults: each verdict is as planted."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.replay import (
    ReplayError,
    ReplayProgram,
    replay,
    replay_frame,
    replay_increment,
)
from lawful.checks.replay.columnar import kernel, vector_batches
from lawful.checks.replay.columnar.layout import layout_of_prepared
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.fold import Fold
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.steps import cast
from lawful.checks.replay.problems import FittingInstances
from lawful.checks.replay.sources import sources
from lawful.checks.replay.tally import Judged, Tallies
from lawful.checks.report import replays
from tests.checks.replay import planted_logs as logs
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import written


def program(machine: type[Machine], data: dict[str, Any]) -> ReplayProgram:
    return ReplayProgram((machine.lawful.ir,), mapping=mapping_of(data))


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def all_logs(folder: Path) -> list[tuple[Path, ReplayProgram, dict[str, str]]]:
    """Each log, how it is read, and its verdicts."""
    cards = written(folder / "cards.jsonl", logs.CARDS)
    clients = put(folder / "clients.log", logs.MONDAY + logs.TUESDAY)
    return [
        (
            put(folder / "payments.csv", logs.PAYMENTS),
            program(logs.Payment, logs.OF_PAYMENTS),
            logs.VERDICTS_OF_PAYMENTS,
        ),
        (
            clients,
            program(logs.Client, logs.OF_CLIENTS),
            {"a": "fits", "b": "deviates"},
        ),
        (
            logs.write_runs(folder / "runs"),
            program(logs.Lock, logs.OF_RUNS),
            logs.VERDICTS_OF_RUNS,
        ),
        (cards, program(logs.Card, logs.OF_CARDS), logs.VERDICTS_OF_CARDS),
    ]


def told(answer: Any) -> list[str]:
    """Each problem, as the text of `lawful replay` has it."""
    found = [*answer["deviations"], *answer["not_judged"]]
    return [f"{replays.headline(each)}: {replays.clause(each)}" for each in found]


def test_amounts_with_a_decimal_comma(tmp_path: Path) -> None:
    """A bank writes 1.012,50: the verdicts are those of the same amounts with points."""
    text = logs.PAYMENTS.replace(";12.50;", ";1.012,50;").replace(";12.5;", ";1 012,5;")
    text = text.replace("0.01", "0,01").replace("7.001", "7,001")
    casts = {"$.amount": "fixed(2, comma)"}
    how = {**logs.OF_PAYMENTS["preparation"], "casts": casts}
    path = put(tmp_path / "bank.csv", text)
    found = replay([path], program(logs.Payment, {**logs.OF_PAYMENTS, "preparation": how}))
    assert found.total.named == logs.VERDICTS_OF_PAYMENTS
    assert found.to_json()["counts"] == counts_of_points(tmp_path)


def counts_of_points(folder: Path) -> Any:
    path = put(folder / "payments.csv", logs.PAYMENTS)
    return replay([path], program(logs.Payment, logs.OF_PAYMENTS)).to_json()["counts"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.234,5", 123450),
        ("-12,50", -1250),
        ("1'234'567", 123456700),
        ("1\u202f234,00", 123400),
        ("7", 700),
        ("12.50", "12.50"),  # No group of three digits: it has a point, and no comma.
        ("1.2345,00", "1.2345,00"),
        ("1,234.50", "1,234.50"),
        ("0,005", "0,005"),
        (12.5, 1250),
    ],
)
def test_what_is_a_number_with_a_decimal_comma(text: Any, number: Any) -> None:
    assert cast(text, "fixed(2, comma)") == number


def test_every_verdict_is_as_planted(tmp_path: Path) -> None:
    for path, how, wanted in all_logs(tmp_path):
        answer: Any = replay([path], how).to_json()
        assert answer["by_instance"] == wanted


def test_problems_say_when_and_what_was_found(tmp_path: Path) -> None:
    payments, clients, runs, cards = (replay([path], how) for path, how, _ in all_logs(tmp_path))
    assert told(payments.to_json()) == [
        'instance ["M1","2"], row at 2026-03-01T12:00:01, event capture: the machine refuses it: '
        "more than authorized (1 <= 0 is false)",
        'instance ["M2","2"], row at 2026-03-01T12:00:03: cannot be replayed: '
        'the value of cents is no Nat: "n/a"',
        'instance ["M2","3"], row at 2026-03-01T12:00:04: cannot be replayed: '
        'the value of cents is no Nat: "7.001"',
    ]
    assert told(runs.to_json()) == [
        'instance run2, row 2, event grant: observed.holder is "p" in the row, "q" in the machine',
        "instance run3, row 1, event grant: the machine refuses it: 0 > 0 is false",
    ]
    assert told(cards.to_json()) == [
        "instance b, row 2, event withdraw in state INSERTED: the machine refuses it: "
        "dispenses something else (30 == 20 is false)",
        "instance c, row 2: cannot be replayed: a sequence number is missing",
        "instance d, row 1: cannot be replayed: a sequence number is missing",
        f"instance e, row 11 of {tmp_path}/cards.jsonl: cannot be replayed: "
        "a sequence number before 1, the first one",
    ]
    answer: Any = clients.to_json()
    (late,) = answer["deviations"]
    # What is possible is said of the time of the row, at which a ping comes too late.
    assert (late["number"], late["state"]["clock"], late["legal"]) == (5, 98, ["time_out"])
    assert late["nearest"] == {"event": "time_out", "transition": "time_out", "args": {}}


def test_files_of_two_days_are_in_the_order_of_the_days(tmp_path: Path) -> None:
    how = program(logs.Client, logs.OF_CLIENTS)
    monday, tuesday = (
        put(tmp_path / f"{name}.log", text)
        for name, text in (("z", logs.MONDAY), ("y", logs.TUESDAY))
    )
    first = replay_increment([monday], how, {})
    both = replay_increment([tuesday], how, first.states, files=first.files)
    tally = both.tallies.machines["Client"]
    assert (dict(tally.named), tally.counts["late"]) == ({"a": "fits", "b": "deviates"}, 0)
    assert tally.transitions == {"connect": 2, "ping": 1, "time_out": 1}
    wednesday = put(tmp_path / "x.log", "1300: Received PINGREQ from a\n")
    again = replay_increment([wednesday], how, both.states, files=both.files)
    assert dict(again.tallies.machines["Client"].named) == {"a": "deviates", "b": "deviates"}


@pytest.mark.nightly
def test_numbers_from_one_in_columns(tmp_path: Path) -> None:
    rows = [{**row, "amount": 30, "notes": 3} for row in logs.CARDS]
    path = written(tmp_path / "rows.jsonl", rows)
    data = {**logs.OF_CARDS, "combine": False}
    how = dataclasses.replace(program(logs.Card, data), every=True)
    layout = layout_of_prepared(how)
    assert layout is not None
    assert tally_columns(sources([path]), how, layout) == replay([path], how).tallies
    many = [{**row, "card": f"{row['card']}{i}"} for i in range(200) for row in rows]
    path = written(tmp_path / "many.jsonl", many)
    found = tally_columns(sources([path]), how, layout)
    assert found == replay([path], how).tallies
    assert found.machines["Card"].verdicts["fits"] == 200


@pytest.mark.parametrize("few", [2, 10**6], ids=["arrays", "compiled steps"])
def test_numbers_from_one_are_not_left_to_the_row_fold(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row before the first number is the only one that no column holds."""
    folded: list[str] = []
    together: list[int] = []
    tally = Tallies.add

    def noting(program: ReplayProgram, instance: str) -> Fold:
        folded.append(instance)
        return Fold(program, instance)

    def counting(self: Tallies, judged: Judged) -> None:
        if isinstance(judged, FittingInstances):
            together.append(len(judged.names))
        tally(self, judged)

    monkeypatch.setattr(kernel, "Fold", noting)
    monkeypatch.setattr(vector_batches, "FEW", few)
    monkeypatch.setattr(Tallies, "add", counting)
    how = program(logs.Card, {**logs.OF_CARDS, "combine": False})
    layout = layout_of_prepared(how)
    assert layout is not None
    told = [logs.card(f"a{i}", (1, "insert", {}), (2, "eject", {})) for i in range(5)]
    told.append(logs.card("late", (2, "insert", {})))
    told.append(logs.card("zero", (0, "insert", {}), (1, "insert", {})))
    path = written(tmp_path / "rows.jsonl", [row for rows in told for row in rows])
    found = tally_columns(sources([path]), how, layout)
    assert found.machines["Card"].verdicts == {"fits": 5, "quarantined": 2}
    assert folded == ["late", "zero"]
    assert together == ([5] if few == 2 else [])


def test_a_path_that_does_not_match(tmp_path: Path) -> None:
    runs = logs.write_runs(tmp_path / "runs")
    put(runs / "other.json", (runs / "run1.itf.json").read_text(encoding="utf-8"))
    with pytest.raises(ReplayError, match=r"other\.json: nothing in this path matches `file`"):
        replay([runs], program(logs.Lock, logs.OF_RUNS))


def test_what_a_log_lacks_is_shown(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", json.dumps({"who": "a"}) + "\n")
    with pytest.raises(ReplayError, match=r'no value at \$.card, for example \{"who": "a"\}'):
        replay([path], program(logs.Card, logs.OF_CARDS))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"first": 1}, "first has to be a number from 0 on, and is for dense = true"),
    ({"first": -1, "dense": True}, "first has to be a number"),
    ({"preparation": {"file": "x"}}, "file has no named group"),
    ({"preparation": {"file": "("}}, "is no regular expression"),
    ({"preparation": {"casts": {"$.a": "fixed"}}}, r"casts of \$.a has to be one of .* fixed\(2\)"),
]


@pytest.mark.parametrize(("more", "why"), WRONG)
def test_what_is_no_mapping(more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        mapping_of({"instance": "$.a", "seq": "$.n", "event": "$.e", **more})


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
def test_every_verdict_on_spark(session: Any, tmp_path: Path) -> None:
    for path, how, wanted in all_logs(tmp_path):
        answer: Any = replay([path], how, engine="spark").to_json()
        assert answer["by_instance"] == wanted
    lines = session.createDataFrame([("{}",)], "value string")
    with pytest.raises(ReplayError, match="a data frame has no path of a file"):
        replay_frame(lines, program(logs.Lock, logs.OF_RUNS))
