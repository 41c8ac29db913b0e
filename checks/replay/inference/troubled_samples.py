"""What is odd about a sample: a journal, spans of which each is two records, records that came
twice, numbers that two different records have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lawful.spec.codec.as_json import is_list

from ..preparation.path_templates import Record

MOST = 0.8  # Of the records have a number of their own, if a field is a number of records.
PHASE, STARTS, ENDS = "$.phase", "start", "end"
OF_JOURNALS = ("$.instance", "$.seq", "$.machine", "$.fingerprint", "$.outcome")


def is_journal(records: Sequence[Record]) -> bool:
    """Whether the records are rows of a journal of lawful, which needs no mapping."""
    return bool(records) and all(path in records[0] for path in OF_JOURNALS)


def one_phase(
    how: Mapping[str, Any], event: str, records: Sequence[Record]
) -> Iterator[dict[str, Any]]:
    """The preparations that make one record of each span, where its start and its end are two; or
    else the preparation as it is."""
    phases = {str(record[PHASE]) for record in records if PHASE in record}
    if how.get("format") != "otlp" or event == PHASE or not {STARTS, ENDS} <= phases:
        yield {**how}
        return
    for phase in (STARTS, ENDS):
        yield {**how, "when": {PHASE: sorted(phases - {STARTS, ENDS} | {phase})}}


def of_phase(how: Mapping[str, Any], records: Sequence[Record]) -> list[Record]:
    """The records that such a preparation leaves."""
    kept = how.get("when", {}).get(PHASE)
    return [r for r in records if kept is None or r.get(PHASE) in kept]


def notes_of(
    how: Mapping[str, Any], mapping: Mapping[str, Any], rows: Sequence[Record]
) -> list[str]:
    """What is to be known of the order and the phase of a proposal; no two of `rows` are alike."""
    out: list[str] = []
    kept = how.get("when", {}).get(PHASE)
    if kept:
        phase = STARTS if STARTS in kept else ENDS
        other = ENDS if phase == STARTS else STARTS
        out.append(f"each span is one event, at its {phase}; `when` may say {other} instead")
    if mapping.get("preparation", {}).get("order") == "file":
        instance = mapping["instance"]
        out += [
            f"{path} is no order, though most records have a number of their own: {twice}"
            for path, twice in _numbers_twice(rows, instance)
        ]
    return out


def _numbers_twice(rows: Sequence[Record], instance: str) -> Iterator[tuple[str, str]]:
    """Fields that number the records of each instance, but for some that have one number."""
    rows = [row for row in rows if row.get(instance) is not None]
    for path in dict.fromkeys(path for row in rows for path in row):
        values = [row.get(path) for row in rows]
        if path == instance or not all(type(each) is int for each in values):
            continue
        pairs = Counter((row.get(instance), row.get(path)) for row in rows)
        if len(pairs) < len(rows) and len(pairs) >= MOST * len(rows) and len(pairs) > 1:
            (name, number), count = pairs.most_common(1)[0]
            yield path, f"{count} different records of {name} have {number}"


def repeats(records: Sequence[Record]) -> int:
    """How many records say the same as one before."""
    plain = ({p: v for p, v in record.items() if not is_list(v)} for record in records)
    return len(records) - len({tuple(sorted(each.items(), key=str)) for each in plain})
