"""Mappings that are inferred from documents, logfmt, XES and ITF, and replayed as proposed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Record, require, transition
from lawful.checks.replay import ReplayError, ReplayProgram, replay
from lawful.checks.replay.inference.mapping_inference import inferred
from lawful.checks.replay.inference.units_of_times import unit_of
from lawful.checks.replay.mapping import mapping_of


class Lamp(Machine):
    """A lamp; one of its instances is lit twice in each log of this module."""

    lit: bool = False
    times: Nat = 0

    @transition()
    def light(self) -> None:
        require(not self.lit, "is lit")
        self.lit, self.times = True, self.times + 1

    @transition()
    def dim(self) -> None:
        require(self.lit, "is dark")
        self.lit = False


SEEN = [("a", "light"), ("b", "light"), ("a", "dim"), ("b", "light"), ("c", "light"), ("c", "dim")]
TOLD: list[Any] = [
    {"lamp": lamp, "what": what, "at": f"2026-03-12T09:00:00.{n:09d}Z", "tags": [{"k": 1}]}
    for n, (lamp, what) in enumerate(SEEN)
]


def proposed(folder: Path, texts: dict[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The mapping that is proposed for files, and the verdicts with it."""
    paths = [folder / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    data = tomllib.loads(inferred(paths, Lamp.lawful.ir).toml)
    answer: Any = replay(
        paths, ReplayProgram((Lamp.lawful.ir,), mapping=mapping_of(data))
    ).to_json()
    return data, answer["by_instance"]


VERDICTS = {"a": "fits", "b": "deviates", "c": "fits"}


@pytest.mark.parametrize("indent", [None, 1])
def test_documents(indent: int | None, tmp_path: Path) -> None:
    """A list of records, and one in each element of another list; `tags` are no records."""
    text = json.dumps({"kind": "List", "items": TOLD}, indent=indent)
    data, verdicts = proposed(tmp_path, {"list.json": text})
    assert verdicts == VERDICTS
    assert data["preparation"] == {"format": "json", "spread": "$.items", "order": "time"}
    assert (data["instance"], data["unit"]) == ("$.items.lamp", "iso-ns")
    nested = {"data": [{"id": n, "spans": [each]} for n, each in enumerate(TOLD)]}
    data, verdicts = proposed(tmp_path, {"nested.json": json.dumps(nested, indent=indent)})
    assert verdicts == VERDICTS
    assert data["preparation"]["spread"] == ["$.data", "$.data.spans"]
    data, verdicts = proposed(tmp_path, {"plain.json": json.dumps(TOLD, indent=indent)})
    assert verdicts == VERDICTS and data["preparation"]["format"] == "json"


def test_logfmt(tmp_path: Path) -> None:
    lines = [f'at={each["at"]} lamp={each["lamp"]} what={each["what"]} msg="a, b"' for each in TOLD]
    data, verdicts = proposed(tmp_path, {"app.log": "\n".join(lines)})
    assert verdicts == VERDICTS and data["preparation"]["format"] == "logfmt"


def test_logfmt_with_a_line_of_another_program(tmp_path: Path) -> None:
    lines = [f"at={each['at']} lamp={each['lamp']} what={each['what']}" for each in TOLD]
    lines.insert(3, "panic: runtime error: index out of range [1] with length 1")
    data, verdicts = proposed(tmp_path, {"app.log": "\n".join(lines)})
    assert verdicts == VERDICTS
    assert data["preparation"]["format"] == "logfmt" and data["preparation"]["pass_unmatched"]


def test_the_instance_of_xes_is_its_case(tmp_path: Path) -> None:
    """Even where another attribute fits better: here what each resource did."""
    traces = ""
    for lamp in VERDICTS:
        events = "".join(
            f'<event><string key="concept:name" value="{each["what"]}"/>'
            f'<string key="org:resource" value="{[0, 1, 0, 2, 3, 3][n]}"/></event>'
            for n, each in enumerate(TOLD)
            if each["lamp"] == lamp
        )
        traces += f'<trace><string key="concept:name" value="{lamp}"/>{events}</trace>'
    data, verdicts = proposed(tmp_path, {"lamps.xes": f"<log>{traces}</log>"})
    assert verdicts == VERDICTS and data["instance"] == "$.case:concept:name"


def test_a_file_of_itf_is_an_instance(tmp_path: Path) -> None:
    """What the states tell of the machine's variables is compared."""

    def itf(times: Sequence[int]) -> str:
        states = [{"what": "init", "times": {"#bigint": "0"}}]
        states += [
            {"what": ["light", "dim"][n % 2], "times": {"#bigint": str(each)}}
            for n, each in enumerate(times)
        ]
        return json.dumps({"vars": ["what", "times"], "states": states})

    data, verdicts = proposed(tmp_path, {"a.itf.json": itf([1, 1, 2]), "b.itf.json": itf([1, 2])})
    assert verdicts == {"a.itf.json": "fits", "b.itf.json": "deviates"}
    assert data["observed"] == {"times": "$.after.times"}


class User(Enum):
    alice = 1
    bob = 2


class Entry(Record):
    cents: Nat


class Coin(Machine):
    """The coin of Quint's tutorial, with two users."""

    balances: dict[User, Nat] = {User.alice: 0, User.bob: 0}
    last: Entry | None = None

    @transition()
    def mint(self, receiver: User, amount: Nat) -> None:
        self.balances[receiver] += amount

    @transition()
    def send(self, sender: User, receiver: User, amount: Nat) -> None:
        require(self.balances[sender] >= amount)
        self.balances[sender] -= amount
        self.balances[receiver] += amount
        self.last = Entry(amount)


def of_quint(states: Sequence[tuple[str, dict[str, Any], int, int]], more: dict[str, Any]) -> str:
    """A trace as `quint run --mbt` writes it: `mbt::actionTaken` names the step, the options in
    `mbt::nondetPicks` are its arguments."""
    out: list[Any] = []
    for n, (action, picks, alice, bob) in enumerate(states):
        chosen = {name: {"tag": "Some", "value": value} for name, value in picks.items()}
        none: Any = {"tag": "None", "value": {"#tup": []}}
        names = ("sender", "receiver", "amount")
        told = {
            "#meta": {"index": n},
            "balances": {
                "#map": [[k, {"#bigint": str(v)}] for k, v in (("bob", bob), ("alice", alice))]
            },
            "mbt::actionTaken": action,
            "mbt::nondetPicks": {name: chosen.get(name, none) for name in names},
        }
        out.append(told | more)
    return json.dumps({"#meta": {"format": "ITF"}, "vars": ["balances"], "states": out})


@pytest.mark.parametrize("more", [{}, {"last": {"#map": [["cents", 3]]}}])
def test_a_trace_of_quint(more: dict[str, Any], tmp_path: Path) -> None:
    """What a state tells of a container is compared, unless then no trace fits."""
    three = {"#bigint": "3"}
    sent = {"sender": "bob", "receiver": "alice", "amount": three}
    minted = ("mint", {"receiver": "bob", "amount": {"#bigint": "7"}}, 0, 7)
    (path := tmp_path / "coin.itf.json").write_text(
        of_quint([("init", {}, 0, 0), minted, ("send", sent, 3, 4)], more)
    )
    found = inferred([path], Coin.lawful.ir)
    picks = "$.after.mbt::nondetPicks"
    assert (found.fitting, found.instances, found.mapping["event"]) == (
        1,
        1,
        "$.after.mbt::actionTaken",
    )
    assert found.mapping["args"]["send"] == {name: f"{picks}.{name}.value" for name in sent}
    assert found.mapping["seq"] == "$.index"
    assert found.mapping.get("observed") == (None if more else {"balances": "$.after.balances"})
    if not more:
        path.write_text(of_quint([("init", {}, 0, 0), minted, ("send", sent, 3, 5)], {}))
        program = ReplayProgram((Coin.lawful.ir,), mapping=mapping_of(found.mapping))
        assert replay([path], program).verdicts["deviates"] == 1


class Level(Enum):
    LOW = 1
    VERY_HIGH = 2


class Ticket(Machine):
    level: Level = Level.LOW

    @transition()
    def open(self, level: Level) -> None:
        require(self.level == Level.LOW)
        self.level = level


@pytest.mark.parametrize("field", ["level", "priority"])
def test_values_of_an_enum_in_another_case(field: str, tmp_path: Path) -> None:
    """By the name of the argument, or by the values."""
    levels = ["low", "very-high", "LOW", "LOW"]
    told = [
        {"k": k, "n": n, "e": "open", field: levels[2 * k + n]} for k in range(2) for n in range(2)
    ]
    (path := tmp_path / "t.jsonl").write_text("".join(json.dumps(each) + "\n" for each in told))
    found = inferred([path], Ticket.lawful.ir)
    assert found.mapping["args"] == {"open": {"level": f"$.{field}"}}
    renamed = {"low": "LOW", "very-high": "VERY_HIGH"}
    assert found.mapping["preparation"]["values"] == {f"$.{field}": renamed}
    program = ReplayProgram((Ticket.lawful.ir,), mapping=mapping_of(found.mapping))
    assert replay([path], program).verdicts["fits"] == found.instances == 2


@pytest.mark.parametrize(
    "text",
    [
        '10.0.0.1 - - [12/Mar/2026:09:00:00 +0000] "GET /light HTTP/1.1" 200 5 "-" "X (a; b)"\n',
        "[2026-03-12 09:00:00,123] INFO [Lamp 1]: light (lamps.Lamp)\n",
        '<134>1 2026-03-12T09:00:00Z host lamps 41 LIGHT [lamp@32473 id="1"] light\n',
        'a,light,,"two\nlines, and more"\nb,light,,x\n',
    ],
)
def test_what_needs_a_pattern_or_names_by_hand(text: str, tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text(text * 20)
    with pytest.raises(ReplayError, match="a text log needs a `line` by hand, and CSV without"):
        inferred([path], Lamp.lawful.ir)


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        (["12/Mar/2026:09:00:00 +0100"], "%d/%b/%Y:%H:%M:%S %z"),
        (["2026-03-12 09:00:00.123 UTC"], "iso"),
        (["31.12.2026 09:00:00", "01.02.2026 09:00:00"], "%d.%m.%Y %H:%M:%S"),
        (["2026-03-12T09:00:00.1234560Z"], "iso"),
        (["2026-03-12", "2026-03-12T09:00:00.1234567Z"], "iso-ns"),
        (["20260312"], ""),
        (["soon"], ""),
        ([1773306000123], "ms"),
        ([True], ""),
        ([], ""),
    ],
)
def test_units_of_times(values: list[Any], unit: str) -> None:
    assert unit_of("time", values) == unit
