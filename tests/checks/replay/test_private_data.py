"""Personal data of a trace: hashed or dropped before rows are sorted, sent or shown."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Sort, transition
from lawful.checks.replay import (
    ReplayError,
    ReplayProgram,
    ReplayResult,
    replay,
    replay_frame,
    replay_increment,
)
from lawful.checks.replay.in_process import read_rows
from lawful.checks.replay.increments.state_files import read_states, states_text
from lawful.checks.replay.mapping import TraceMapping, mapping_of, read_mapping
from lawful.checks.replay.preparation.masks import hashed
from lawful.checks.replay.sources import sources
from lawful.checks.report import replays
from tests.checks.replay.conftest import MISSING

SECRETS = ("ada@example.org", "bob@example.org", "Main Street", "1815")
TOLD: list[dict[str, Any]] = [
    {"who": {"mail": "ada@example.org", "born": 1815}, "n": 1, "e": "buy", "at": "Main Street"},
    {"who": {"mail": "bob@example.org", "born": "1815"}, "n": 1, "e": "buy", "at": "Main Street"},
    {"who": {"mail": "ada@example.org", "born": 1815}, "n": 2, "e": "leave", "at": "Main Street"},
    {"who": {"mail": "ada@example.org", "born": 1815}, "n": 3, "e": "buy", "at": "Main Street"},
    {"n": 1, "e": "buy", "at": "bob@example.org"},
]


class Place(Sort):
    pass


class Customer(Machine):
    bought: Nat = 0
    left: bool = False

    @transition()
    def buy(self, by: Place, at: Place) -> None:
        self.bought += 1

    @transition()
    def leave(self) -> None:
        self.left = True


def mapping(**more: Any) -> TraceMapping:
    how = {"hash": ["$.who.mail", "$.who.born"], "drop": ["$.at"], "salt": "s3cret"} | more
    data = {"instance": "$.who.mail", "seq": "$.n", "event": "$.e", "preparation": how}
    return mapping_of(data | {"args": {"buy": {"by": "$.who.born", "at": "$.place"}}})


def replayed(folder: Path, how: TraceMapping) -> ReplayResult:
    path = folder / "r.jsonl"
    lines = [*map(json.dumps, TOLD), '{"ada@example.org"', '["bob@example.org"]']
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return replay([path], ReplayProgram((Customer.lawful.ir,), mapping=how))


def test_nothing_of_it_is_shown(tmp_path: Path) -> None:
    how = mapping(fields={"place": "$.at"}, hash=["$.who.mail", "$.who.born", "$.place"])
    result = replayed(tmp_path, how)
    answer: Any = result.to_json()
    ada, bob = (hashed(mail, "s3cret") for mail in SECRETS[:2])
    assert answer["by_instance"] == dict.fromkeys(sorted((ada, bob)), "fits")
    assert [len(ada), ada[0], ada == bob] == [33, "h", False]
    assert {each["reason"]: each["first"] for each in answer["rejected"]["reasons"]} == {
        "no value at $.who.mail": ["(withheld)"],
        "not JSON": ["(withheld)"],
        "not an object": ["(withheld)"],
    }
    program = result.program
    assert isinstance(program, ReplayProgram)
    rows = [*read_rows(sources([tmp_path / "r.jsonl"]), program)]
    page = replays.html(result) + replays.text(result) + json.dumps(answer)
    told = page + "".join(map(str, rows)) + pickle.dumps(rows).decode("latin-1")
    assert not [each for each in SECRETS if each in told]
    assert "s3cret" not in page + repr(program.mapping)


def test_what_is_dropped_is_no_value(tmp_path: Path) -> None:
    dropped = ["$.at", "$.place", "$.who.x.y", "$.n.x"]
    how = mapping(fields={"place": "$.at"}, drop=dropped)
    answer: Any = replayed(tmp_path, how).to_json()
    assert answer["verdicts"]["quarantined"] == 2
    assert {each["clause"] for each in answer["not_judged"]} == {"no value at $.place"}


def test_the_hash_depends_on_value_type_and_salt() -> None:
    # printf '"1815"' | openssl dgst -sha256 -hmac a
    assert hashed("1815", "a") == "h" + "788230d2d1ca424256d0139a41fe6fbd"
    values = [("1815", "a"), (1815, "a"), ("1815", "b"), ({"x": 1, "y": 2}, "a"), (None, "a")]
    assert len({hashed(*each) for each in values}) == len(values)
    assert hashed({"x": 1, "y": 2}, "a") == hashed({"y": 2, "x": 1}, "a")


def test_the_salt_is_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.toml"
    file.write_text(
        'instance = "$.who"\nseq = "$.n"\nevent = "$.e"\n'
        '[preparation]\nhash = ["$.who"]\nsalt_from = "LAWFUL_TEST_SALT"\n',
        encoding="utf-8",
    )
    why = "the environment variable LAWFUL_TEST_SALT, which salt_from names, is not set"
    with pytest.raises(ReplayError, match=f"m.toml: preparation: {why}"):
        read_mapping(file)
    monkeypatch.setenv("LAWFUL_TEST_SALT", "s3cret")
    found = read_mapping(file)
    monkeypatch.delenv("LAWFUL_TEST_SALT")
    assert found.preparation is not None and found.preparation.salt == "s3cret"
    assert mapping_of(found.to_json()) == found  # A worker does not have the variable.


def test_a_file_of_states_has_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, states = tmp_path / "m.toml", tmp_path / "states"
    path.write_text(
        'instance = "$.who"\nseq = "$.n"\nevent = "$.what"\nmachine = "Customer"\n'
        '[preparation]\nhash = ["$.who"]\nsalt_from = "LAWFUL_TEST_SALT"\n',
        encoding="utf-8",
    )

    def program(key: str) -> ReplayProgram:
        monkeypatch.setenv("LAWFUL_TEST_SALT", key)
        return ReplayProgram((Customer.lawful.ir,), mapping=read_mapping(path))

    day = tmp_path / "day.jsonl"
    day.write_text(json.dumps({"who": "Ada", "n": 1, "what": "none"}) + "\n", encoding="utf-8")
    kept = replay_increment([day], program("s3cret"), {}).states
    states.write_text(states_text(kept, program("s3cret")), encoding="utf-8")
    assert "s3cret" not in states.read_text(encoding="utf-8")
    assert read_states(states, program("s3cret")).states == kept
    with pytest.raises(ReplayError, match=r"preparation\.salt was .h[0-9a-f]{32}") as error:
        read_states(states, program("an0ther"))
    assert "s3cret" not in str(error.value) and "an0ther" not in str(error.value)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"hash": ["$.a"]}, "hash needs salt_from, the environment variable"),
        ({"hash": ["a"], "salt": "s"}, '"a" has to be a path'),
        ({"drop": [1]}, "preparation.drop has to be a list of texts"),
    ],
)
def test_a_wrong_table(how: dict[str, Any], why: str) -> None:
    data = {"instance": "$.a", "seq": "$.n", "event": "$.e", "preparation": how}
    with pytest.raises(ValueError, match=why):
        mapping_of(data)


@pytest.mark.nightly
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.xdist_group("spark")
def test_spark_shuffles_hashes(session: Any) -> None:
    how = mapping(fields={"place": "$.at"}, hash=["$.who.mail", "$.who.born", "$.place"])
    rows = session.createDataFrame([(json.dumps(row),) for row in TOLD], "value string")
    found = replay_frame(rows, Customer, how)
    told = {row.instance: row.verdict for row in found.verdicts.collect()}
    assert told == {hashed(mail, "s3cret"): "fits" for mail in SECRETS[:2]}
    assert [row.text for row in found.rejected.collect()] == ["(withheld)"]
    found.check()
    with pytest.raises(ReplayError, match="no event was judged, of 0"):
        replay_frame(rows.limit(0), Customer, how).check()
    strange = mapping(values={"$.e": {"leave": "vanish"}}, fields={"place": "$.at"})
    program = ReplayProgram((Customer.lawful.ir,), mapping=strange, pass_unknown=True)
    why = r"1 of 4 events \(25.0%\) are unknown; at most 1.0% may be"
    with pytest.raises(ReplayError, match=why):
        replay_frame(rows, program).check()
