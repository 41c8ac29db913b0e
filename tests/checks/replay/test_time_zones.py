"""Times of texts: zones by name and by offset, and local times that are twice or never."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.times import seconds
from lawful.checks.replay.preparation.zones import LocalTimes, UnclearTime
from tests.checks.replay.foreign_logs import Span

NOON = int(datetime(2026, 7, 1, 10, tzinfo=UTC).timestamp())
STRPTIME = "%d/%b/%Y:%H:%M:%S %z"
NAMED = "%Y-%m-%d %H:%M:%S %Z"


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        *((f"2026-07-01T12:00:00{offset}", "iso") for offset in ("+02", "+0200", "+02:00")),
        *((f"01/Jul/2026:12:00:00 {each}", STRPTIME) for each in ("+02", "+0200", "+02:00")),
        ("2026-07-01 +02 12:00:00", "%Y-%m-%d %z %H:%M:%S"),
        ("2026-07-01 12:00:00 +0200", "iso"),
        ("2026-07-01 10:00:00 UTC", "iso"),
        ("2026-07-01T12:00:00.0000000[Europe/Berlin]", "iso-ns"),
        ("2026-07-01 06:00:00 America/New_York", "iso"),
        # The offset says more than the name.
        ("2026-07-01T12:00:00+02:00[America/New_York]", "iso"),
        ("2026-07-01 12:00:00 Europe/Berlin", NAMED),
        ("2026-07-01 10:00:00 GMT", NAMED),
        ("2026-07-01 19:00:00", "iso"),
        ("2026-07-01 19:00:00", "%Y-%m-%d %H:%M:%S"),
    ],
)
def test_one_time_in_all_forms(text: str, unit: str) -> None:
    assert seconds(text, unit, LocalTimes("Asia/Tokyo")) == NOON


@pytest.mark.parametrize("zone", ["CEST", "Europe/Nowhere", "../passwd"])
def test_a_name_that_is_no_zone(zone: str) -> None:
    for unit in ("iso", NAMED):
        assert seconds(f"2026-07-01 12:00:00 {zone}", unit) is None
    assert "Europe/Berlin, not" in LocalTimes(zone).wrong()


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_local_times_that_are_twice_or_never(zone: str) -> None:
    day, spring = ("10-25", "03-29") if zone.startswith("Europe") else ("11-01", "03-08")
    hour = "02:30" if zone.startswith("Europe") else "01:30"
    twice = f"2026-{day} {hour}:00"
    with pytest.raises(UnclearTime, match=f"{zone} has twice: {twice}"):
        seconds(twice, "iso", LocalTimes(zone))
    first, second = (seconds(twice, "iso", LocalTimes(zone, at)) for at in ("first", "second"))
    assert first is not None and second is not None and second - first == 3600
    for policy in (LocalTimes(zone), LocalTimes(zone, "first"), LocalTimes(zone, "second")):
        with pytest.raises(UnclearTime, match=f"{zone} never has"):
            seconds(f"2026-{spring} 02:30:00", "iso", policy)


TIMED: dict[str, Any] = {
    "instance": "$.k",
    "event": "$.e",
    "time": "$.t",
    "unit": "iso",
    "zone": "Europe/Berlin",
    "preparation": {"order": "time"},
}


@pytest.mark.parametrize(
    ("twice", "verdict"), [("refuse", "quarantined"), ("first", "deviates"), ("second", "fits")]
)
def test_the_policy_decides_the_order(twice: str, verdict: str, tmp_path: Path) -> None:
    """In another process, too: the program travels as text."""
    file = tmp_path / "spans.jsonl"
    rows = [
        {"k": "a", "t": "2026-10-25T02:15:00+01:00", "e": "start"},
        {"k": "a", "t": "2026-10-25T02:45:00", "e": "end"},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    program = ReplayProgram((Span.lawful.ir,), mapping=mapping_of(TIMED | {"twice": twice}))
    found = replay([file], pickle.loads(pickle.dumps(program)))
    assert found.verdicts[verdict] == 1
    if twice == "refuse":
        assert "has twice: 2026-10-25 02:45:00" in json.dumps(found.to_json())


@pytest.mark.parametrize(
    "wrong", [{"unit": "s"}, {"zone": "CET"}, {"zone": "Mars/Base"}, {"twice": "both"}]
)
def test_a_wrong_zone_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"unit has to be iso|zone has to be|twice has to be"):
        mapping_of(TIMED | wrong)
