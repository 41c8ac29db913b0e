"""Steps of traces in the Informal Trace Format (ITF), as Apalache, Quint and lawful write it.

A record is a step: `action` (what the trace says of it under `#meta`), `index`, the variables
`before` and `after` it. Values have the form of lawful's JSON. Source: Apalache, ADR-015.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.integer_texts import beyond, is_beyond, read

from .path_templates import Record

TAGS = {"#set": "$set", "#tup": "$tuple", "#map": "$map"}


def steps(text: bytes) -> Iterator[Record]:
    """The steps of a trace. Raises ValueError where the file is no ITF."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(beyond()) if is_beyond(error) else error from error
    states = document.get("states") if is_object(document) else None
    if not is_list(states) or not all(map(is_object, states)):
        raise ValueError("no ITF: it has no list of states")
    before: Any = None
    for index, state in enumerate(states):
        meta: Any = state.get("#meta") or {}
        if not is_object(meta):
            raise ValueError("no ITF: `#meta` of a state is no object")
        after = {name: _value(value) for name, value in state.items() if not name.startswith("#")}
        if before is not None:
            record: Record = {"index": index, "before": before, "after": after}
            yield record | {k: v for k, v in meta.items() if k != "index"}
        before = after


def _value(data: Any) -> Any:
    if is_list(data):
        return [_value(each) for each in data]
    if not is_object(data):
        return data
    if "#bigint" in data:
        return read(str(data["#bigint"]))
    return {TAGS.get(name, name): _value(value) for name, value in data.items()}
