"""Rows of a journal: one event of one instance each, as JSON lines or as columns.

    {"v": 1, "instance", "seq", "time", "machine", "fingerprint", "event", "transition",
     "args": {name: JSON}, "outcome": "made" | "attached" | "continued" | "done" | "refused"
     | "ignored", "before", "after", "changed": {name: JSON}, "output", "why"}

`seq` counts from 0 without a gap within an instance, whose `time`, a finite number, never goes
back. The first row, `made`, has no event, no transition and nothing before, the parameters as
`args` and the whole initial state as `changed`; it may also tell a `universe`, the elements of the
sorts that the machine iterates. `attached` and `continued` are of that form, too. `attached` tells
the state of an instance that had events of which no row tells, so replay takes it on trust, and
its clock may be another. `continued` begins a file after a rotation; replay compares it with the
state that it has. Where one of the two is an instance's first row, any `seq` may be the first. A
row that is done names its transition. A row that cannot be told
to belong to an instance is rejected, with the reason, and so is one in which a key stands twice,
for readers would differ over it; a row that belongs to one but says nothing that can be replayed
has a flaw, which puts its instance into quarantine. Nothing is dropped.

Every engine learns from here alone which row belongs to which instance: no other parser is asked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json

VERSION = 1
LARGEST = 2**63  # What no column of whole numbers holds is no sequence number.
# Rows that tell a whole state, in which a replay can begin: see `runtime.journal`.
WHOLE = ("made", "attached", "continued")
OUTCOMES = (*WHOLE, "done", "refused", "ignored")
# The columns of a journal kept as a table; those in `RAW` hold JSON text.
RAW = ("args", "changed", "output", "before", "after", "time", "universe")
TEXTS = ("instance", "machine", "fingerprint", "event", "transition", "outcome", "why")


class Absent:
    """Stands for what a foreign trace does not say: nothing is compared with it."""


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `seq` is -1 where it has none, `flaw` says why it cannot be replayed."""

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
    universe: Mapping[str, Json] = field(default_factory=dict[str, Json])
    time: float | None = None
    flaw: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """What belongs to no instance; `text` is its beginning, in plain characters."""

    reason: str
    text: str


RowOf = Callable[[dict[str, Any], str], Row | Rejected]


class Twice(ValueError):
    """A key stands twice in one object."""


def loads(text: str) -> Any:
    """The JSON of a text; ValueError or RecursionError where it is none, Twice for a double key."""
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Twice
    return made


def parse(line: str, row_of: RowOf) -> Row | Rejected:
    """The row of one line; `row_of` says which object is which row."""
    try:
        data = loads(line)
    except Twice:
        return Rejected("a key twice", plain(line))
    except (ValueError, RecursionError):
        return Rejected("not JSON", plain(line))
    if not is_object(data):
        return Rejected("not an object", plain(line))
    return row_of(data, line)


def journal_row(data: dict[str, Any], text: str) -> Row | Rejected:
    """The row that an object says; `text` is shown where it says none."""
    instance, seq = data.get("instance"), data.get("seq")
    if not isinstance(instance, str):
        return Rejected("no instance", plain(text))
    if not encodable(instance):
        return Rejected("an instance that is no text", plain(text))
    if type(seq) is not int or not 0 <= seq < LARGEST:
        return Row(instance, -1, flaw="a row without a sequence number")
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
        data.get("universe") or {},
        data["time"],
    )


def _flaw(data: Mapping[str, Any]) -> str:
    """Why the object is no row, or nothing."""
    if type(data.get("v")) is not int or data["v"] != VERSION:
        return "a row of another format version"
    for name, kinds in SHAPE.items():
        if name not in data:
            return f"a row without {name}"
        if not isinstance(data[name], kinds):
            return f"{name} is of another form"
    if not _finite(data["time"]):
        return "time is no finite number"
    if not isinstance(data.get("universe"), dict | None):
        return "universe is of another form"
    if data["outcome"] not in OUTCOMES:
        return "an unknown outcome"
    whole = data["outcome"] in WHOLE
    if (data["event"] is None) != whole:
        told = f"an event and `{data['outcome']}` at once"
        return "no event" if data["event"] is None else told
    beside = data["transition"] is not None or data["before"] is not None
    if beside and whole:
        return f"a transition or something before `{data['outcome']}`"
    return ""


def _finite(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and math.isfinite(value))


NONE = type(None)
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
    """Whether the text can be written: JSON can spell halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(text: str, most: int = 80) -> str:
    """The beginning of a text, one `?` for each stretch that is not printable ASCII."""
    out: list[str] = []
    for char in text[: 4 * most]:
        if " " <= char <= "~":
            out.append(char)
        elif not out or out[-1] != "?":
            out.append("?")
    return "".join(out)[:most]


def decoded(line: bytes, row_of: RowOf = journal_row) -> Row | Rejected:
    """The row of one line; bytes that are no text are rejected, not guessed at."""
    try:
        return parse(line.decode(), row_of)
    except UnicodeDecodeError:
        return Rejected("not UTF-8", plain(line.decode("latin-1")))


def columns_of(line: bytes) -> dict[str, Any]:
    """The line as columns; what is no whole row keeps its bytes in `corrupt`."""
    out: dict[str, Any] = dict.fromkeys(("v", "seq", *TEXTS, *RAW, "corrupt"))
    found = decoded(line)
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
    """The row that the columns of a table say: the inverse of `columns_of`."""
    corrupt = columns.get("corrupt")
    if corrupt is not None:
        return decoded(corrupt)
    data = {k: v for k, v in columns.items() if k not in RAW and k != "corrupt"}
    shown = json.dumps(data, sort_keys=True)
    for name in RAW:
        try:
            if columns.get(name) is not None:
                data[name] = loads(columns[name])
        except (ValueError, RecursionError):
            data["v"] = None
    return journal_row(data, shown)
