"""Rows of a journal: one event of one instance each, as JSON lines or as columns.

    {"v": 1 | 2 | 3, "instance", "seq", "time", "machine", "fingerprint", "event", "transition",
     "args": {name: JSON}, "outcome": "made" | "attached" | "continued" | "done" | "refused"
     | "ignored", "before", "after", "changed": {name: JSON}, "output", "why", "wall", "sum"}

From `"v": 2` on a value in `changed` may be a change of a container, of which only the
entries that differ are told: `runtime.instances.container_changes` has the form.

`seq` counts from 0 without a gap within an instance; `time` is a finite number that never
decreases; `wall`, in seconds since 1970, may be missing and is not compared. Three outcomes stand
for a row with a whole state, with the parameters in `args`, the state in `changed`, and no event,
transition or `before`:

- `made`: the first row of a new instance. It may have a `universe`: the elements of the sorts.
- `attached`: the journal was attached to an instance that had earlier events, which no row
  records. Replay trusts the state. The clock may be another one.
- `continued`: the first row of a file after a rotation. Replay compares the state.

Where `attached` or `continued` is the first row of an instance, its `seq` may be any number. A row
with the outcome `done` names its transition.

No row is dropped silently. A row is rejected, with a reason, where its instance cannot be read,
where its checksum `sum` (see `runtime.instances.row_checksums`) is not that of its line, or where
one key occurs twice, because parsers disagree about that. A row that another program has written
anew has no checksum in this sense, nor has one in a table. A row of a known instance that
cannot be replayed has a flaw, and its instance is quarantined.

All engines parse rows with this module, so they agree on which row belongs to which instance.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from lawful.runtime.instances.row_checksums import SUM, seal_of
from lawful.spec.codec.as_json import is_object
from lawful.spec.integer_texts import beyond, is_beyond
from lawful.spec.ir import Json

from .flaws.row_texts import ANOTHER, kind_of, no_name, no_number

VERSIONS = (1, 2, 3)  # From 2 on rows hold changes of containers; 3 has checksums.
LARGEST = 2**63  # Sequence numbers are below it: a column of 64-bit integers holds them.
# Rows with a whole state, in which a replay can begin: see `runtime.journal`.
WHOLE = ("made", "attached", "continued")
OUTCOMES = (*WHOLE, "done", "refused", "ignored")
# The columns of a journal kept as a table; those in `RAW` hold JSON text.
RAW = ("args", "changed", "output", "before", "after", "time", "universe", "wall")
TEXTS = ("instance", "machine", "fingerprint", "event", "transition", "outcome", "why")


Seconds = float | Fraction  # Of a foreign row they are exact.


class Absent:
    """The value of a field that a foreign trace does not have: it is not compared."""

    def __str__(self) -> str:
        return "(absent)"

    def __reduce__(self) -> str:
        return "ABSENT"  # In each process there is one, so that rows are compared by identity.


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `seq` is -1 where the row has none; a `flaw` says why it cannot be replayed."""

    instance: str
    seq: int
    machine: str = ""
    fingerprint: str = ""
    event: str | None = None
    transition: str | Absent | None = ABSENT
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    outcome: str = ""
    before: Json | Absent = ABSENT
    after: Json | Absent = ABSENT
    changed: Mapping[str, Json] | Absent = ABSENT
    output: Json | Absent = ABSENT
    observed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    universe: Mapping[str, Json] = field(default_factory=dict[str, Json])
    time: Seconds | None = None
    flaw: str = ""
    process: str = ""  # Of a concurrent history: who calls, and whether it is a call or a return.
    phase: str = ""
    named: str = ""  # The event of a row with a flaw, where the row says it.
    sampled: str = ""  # Why other rows may be missing: the spans of the trace are a sample.


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that belongs to no instance; `text` is its beginning, in printable ASCII.

    `file` and `number` say where it is, counted from 1 in lines or rows, where that is known.
    """

    reason: str
    text: str
    file: str = ""
    number: int = 0

    def at(self, file: str, number: int) -> Rejected:
        """The same with its place."""
        return replace(self, file=file, number=number)


# None: a row that is left out.
RowOf = Callable[[dict[str, Any], str], Row | Rejected | None]


def content(row: Row) -> str:
    """What a row says, as text: rows that come twice are compared by it."""
    told = [getattr(row, each.name) for each in fields(Row)]
    return json.dumps(told, sort_keys=True, default=str)


def combined(one: Row, other: Row) -> Row | None:
    """The event of which these rows are parts; None where they say different things of it."""
    values: dict[str, Any] = {}
    for each in fields(Row):
        a, b = getattr(one, each.name), getattr(other, each.name)
        if each.name in ("args", "observed"):
            if any(a[name] != b[name] for name in a.keys() & b.keys()):
                return None
            values[each.name] = {**a, **b}
        elif a is ABSENT or b is ABSENT or a == b:
            values[each.name] = b if a is ABSENT else a
        else:
            return None
    return replace(one, **values)


FRACTION = "$fraction"


def row_json(row: Row) -> dict[str, Any]:
    """A row as JSON, without fields that are absent or as by default; `row_of_json` reads it."""
    out: dict[str, Any] = {"instance": row.instance, "seq": row.seq}
    plain = Row(row.instance, row.seq)
    for each in fields(Row):
        value = getattr(row, each.name)
        if value != getattr(plain, each.name):
            out[each.name] = seconds_json(value) if each.name == "time" else value
    return out


def row_of_json(data: Mapping[str, Any]) -> Row:
    """The row in a JSON object."""
    known: dict[str, Any] = {**data, "time": seconds_of(data.get("time"))}
    return Row(**known)


def seconds_json(value: Seconds | None) -> Any:
    """A time as JSON: an exact one is an object with its fraction."""
    return {FRACTION: str(value)} if isinstance(value, Fraction) else value


def seconds_of(data: Any) -> Seconds | None:
    """The time in JSON."""
    return Fraction(data[FRACTION]) if is_object(data) else data


class Twice(ValueError):
    """One object has a key twice."""


def loads(text: str) -> Any:
    """The JSON of a text; ValueError or RecursionError where it is none, Twice for a double key."""
    return json.loads(text, object_pairs_hook=unique)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs. Raises Twice for a key that two of them have."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Twice
    return made


def parse(line: str, row_of: RowOf) -> Row | Rejected | None:
    """The row of one line; `row_of` makes it of the JSON object."""
    data = _object_of_text(line)
    return data if isinstance(data, Rejected) else row_of(data, line)


def object_of(line: bytes) -> dict[str, Any] | Rejected:
    """The JSON object of one line; a line that is not UTF-8 is rejected."""
    try:
        return _object_of_text(line.decode())
    except UnicodeDecodeError:
        return Rejected("not UTF-8", plain(line.decode("latin-1")))


def _object_of_text(line: str) -> dict[str, Any] | Rejected:
    try:
        data = loads(line)
    except Twice:
        return Rejected("a key twice", plain(line))
    except ValueError as error:
        return Rejected(beyond() if is_beyond(error) else "not JSON", plain(line))
    except RecursionError:
        return Rejected("not JSON", plain(line))
    return data if is_object(data) else Rejected("not an object", plain(line))


def journal_row(data: dict[str, Any], text: str) -> Row | Rejected:
    """The row of a JSON object in the journal format; `text` is what a rejection shows."""
    if SUM in data:
        seal = seal_of(text.encode(errors="replace").rstrip())
        if seal is not None and not seal.kept:
            return Rejected("a wrong checksum", plain(text))
    instance, seq = data.get("instance"), data.get("seq")
    if not isinstance(instance, str):
        return Rejected(no_name("instance", instance, "a text"), plain(text))
    if not encodable(instance):
        return Rejected("an instance that is no text", plain(text))
    if type(seq) is not int or not 0 <= seq < LARGEST:
        return Row(instance, -1, flaw=_no_number(data))
    flaw = _flaw(data)
    if flaw:
        return Row(instance, seq, flaw=flaw)
    return Row(
        instance,
        seq,
        data["machine"],
        data["fingerprint"],
        data["event"],
        data["transition"],
        data["args"],
        data["outcome"],
        data["before"],
        data["after"],
        data["changed"],
        data["output"],
        universe=data.get("universe") or {},
        time=data["time"],
    )


def _no_number(data: Mapping[str, Any]) -> str:
    why = no_number("seq", data.get("seq"), "")
    return why if "v" in data else f"{why}; {ANOTHER}"


def _flaw(data: Mapping[str, Any]) -> str:
    """Why the object is no row; empty where it is one."""
    if type(data.get("v")) is not int or data["v"] not in VERSIONS:
        known = ", ".join(map(str, VERSIONS))
        told = f"a row of another format version than {known}: v is {kind_of(data.get('v'))}"
        return told if "v" in data else f"{told}; {ANOTHER}"
    for name, kinds in SHAPE.items():
        if name not in data:
            return f"a row without {name}"
        if not isinstance(data[name], kinds):
            wanted = " or ".join(JSON_NAMES[kind] for kind in kinds)
            return f"{name} is {kind_of(data[name])}, not {wanted}"
    if not _finite(data["time"]):
        return "time is no finite number"
    if data.get("wall") is not None and not _finite(data["wall"]):
        return "wall is no finite number"
    if not isinstance(data.get("universe"), dict | None):
        return f"universe is {kind_of(data.get('universe'))}, not an object"
    if data["outcome"] not in OUTCOMES:
        return f"an outcome that is none of {', '.join(OUTCOMES)}"
    whole = data["outcome"] in WHOLE
    if (data["event"] is None) != whole:
        both = f"an event in a row `{data['outcome']}`"
        return f"no event in a row `{data['outcome']}`" if data["event"] is None else both
    if whole and (data["transition"] is not None or data["before"] is not None):
        return f"a transition or a `before` in a row `{data['outcome']}`"
    return ""


def _finite(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and math.isfinite(value))


NONE = type(None)
JSON_NAMES = {str: "a text", dict: "an object", NONE: "null"}
SHAPE: dict[str, tuple[type, ...]] = {
    "time": (object,),
    "machine": (str,),
    "fingerprint": (str,),
    "event": (str, NONE),
    "transition": (str, NONE),
    "args": (dict,),
    "outcome": (str,),
    "before": (object,),
    "after": (object,),
    "changed": (dict,),
    "output": (object,),
    "why": (str, NONE),
}


def encodable(text: str) -> bool:
    """Whether the text can be encoded: JSON strings can have lone surrogates, which cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(text: str, most: int = 80) -> str:
    """The beginning of a text, with one `?` for each run of other than printable ASCII."""
    out: list[str] = []
    for char in text[: 4 * most]:
        if " " <= char <= "~":
            out.append(char)
        elif not out or out[-1] != "?":
            out.append("?")
    return "".join(out)[:most]


def decoded(line: bytes, row_of: RowOf) -> Row | Rejected | None:
    """The row of one line; a line that is not UTF-8 is rejected. None for one that is left out."""
    try:
        return parse(line.decode(), row_of)
    except UnicodeDecodeError:
        return Rejected("not UTF-8", plain(line.decode("latin-1")))


def journal_line(line: bytes) -> Row | Rejected:
    """The row of one line of a journal."""
    found = object_of(line)
    return found if isinstance(found, Rejected) else journal_row(found, line.decode())


def columns_of(line: bytes) -> dict[str, Any]:
    """The line as columns; a line that is no complete row is kept as bytes in `corrupt`."""
    out: dict[str, Any] = dict.fromkeys(("v", "seq", *TEXTS, *RAW, "corrupt"))
    found = journal_line(line)
    if isinstance(found, Rejected):
        return out | {"corrupt": line}
    data = loads(line.decode())
    out["instance"] = found.instance
    out["seq"] = found.seq if found.seq >= 0 else None
    if found.flaw or not all(encodable(data.get(name) or "") for name in TEXTS):
        return out | {"corrupt": line}
    out.update({name: data.get(name) for name in ("v", *TEXTS)})
    out.update({name: json.dumps(data.get(name)) for name in RAW})
    return out


def row_of_columns(columns: Mapping[str, Any]) -> Row | Rejected:
    """The row in the columns of a table: the inverse of `columns_of`."""
    corrupt = columns.get("corrupt")
    if corrupt is not None:
        return journal_line(corrupt)
    data = {k: v for k, v in columns.items() if k not in RAW and k != "corrupt"}
    shown = json.dumps(data, sort_keys=True)
    for name in RAW:
        try:
            if columns.get(name) is not None:
                data[name] = loads(columns[name])
        except (ValueError, RecursionError):
            data["v"] = None
    return journal_row(data, shown)
