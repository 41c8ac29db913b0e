"""Spans and log records of OpenTelemetry in OTLP/JSON: one document, or one in each line.

A span gives a record when it starts (`phase` is "start"), one for each of its events ("event"), and
one when it ends ("end"). The record of a log record has the phase "log". Source: the OTLP
specification, JSON encoding (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).

    phase, name, time (nanoseconds since 1970), traceId, spanId, parentSpanId, kind, status,
    body, severityText, severityNumber, attributes, resource (its attributes), scope (its name)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.integer_texts import beyond, is_beyond

from ..flaws.row_texts import kind_of
from ..rows import ABSENT
from .names import named
from .path_templates import Record
from .sampling import sampled

SAMPLED = "lawful sampled"  # The field of a record that says why others may be missing.
WHOLE = re.compile(r"-?[0-9]{1,300}")
KEPT = ("traceId", "spanId", "parentSpanId", "kind", "severityText", "severityNumber")


def records(text: bytes) -> Iterator[Record]:
    """The records of a file. Raises ValueError where it is no OTLP/JSON."""
    documents = [*_documents(text)]
    for document in documents:
        if not is_object(document) or not document.keys() & {"resourceSpans", "resourceLogs"}:
            raise ValueError("no OTLP/JSON: a document has resourceSpans or resourceLogs")
    spans = [each for document in documents for each in _inside(document, *SPANS)]
    logs = [each for document in documents for each in _inside(document, *LOGS)]
    signs = {str(each.get("traceId")): _sign(each) for each, _ in spans if _sign(each)}
    for span, shared in spans:
        why = signs.get(str(span.get("traceId")), "")
        yield from (_marked(record, why) for record in _span(span, shared))
    for log, shared in logs:
        why = _sign(log) or signs.get(str(log.get("traceId")), "")
        yield _marked(_log(log, shared), why)


SPANS = ("resourceSpans", "scopeSpans", "spans")
LOGS = ("resourceLogs", "scopeLogs", "logRecords")


def _inside(document: Any, groups: str, scopes: str, owners: str) -> Iterator[tuple[Any, Record]]:
    """The spans or log records of a document, each with what all of its scope have."""
    for group in _list(document, groups):
        for scope in _list(group, scopes):
            shared = _shared(group, scope)
            yield from ((each, shared) for each in _list(scope, owners))


def _sign(owner: Any) -> str:
    """What says that a span or log record is of a sample."""
    return sampled(owner, dict(_pairs(owner, "attributes")))


def _marked(record: Record, why: str) -> Record:
    """The record; it says if it is of a trace of which others may be missing."""
    return record | {SAMPLED: why} if why else record


def _documents(text: bytes) -> Iterator[Any]:
    try:
        yield json.loads(text)
        return
    except ValueError as error:
        if is_beyond(error):
            raise ValueError(beyond()) from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                why = beyond() if is_beyond(error) else str(error)
                raise ValueError(f"no OTLP/JSON: line {number}: {why}") from error


def _span(span: Any, shared: Record) -> Iterator[Record]:
    common = shared | {name: span[name] for name in KEPT if name in span}
    common |= {"name": span.get("name") or "", "attributes": _attributes(span)}
    status = _object(span, "status").get("code")
    yield common | {"phase": "start", "time": _whole(span.get("startTimeUnixNano"))}
    for event in _list(span, "events"):
        own = {"name": event.get("name") or "", "attributes": _attributes(event)}
        yield common | own | {"phase": "event", "time": _whole(event.get("timeUnixNano"))}
    ended = common if status is None else common | {"status": status}
    yield ended | {"phase": "end", "time": _whole(span.get("endTimeUnixNano"))}


def _log(log: Any, shared: Record) -> Record:
    when = log.get("timeUnixNano") or log.get("observedTimeUnixNano")
    own = {name: log[name] for name in KEPT if name in log}
    out = shared | own | {"phase": "log", "attributes": _attributes(log), "time": _whole(when)}
    if "eventName" in log:
        out["name"] = log["eventName"]
    return out if "body" not in log else out | {"body": _value(log["body"])}


def _shared(group: Any, scope: Any) -> Record:
    """What all spans of a scope have."""
    name = _object(scope, "scope").get("name") or ""
    return {"resource": _attributes(_object(group, "resource")), "scope": name}


def _attributes(owner: Any, name: str = "attributes") -> Record:
    return named(_pairs(owner, name))


def _pairs(owner: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The keys and values in a list."""
    for each in _list(owner, name):
        key = each.get("key") or ""
        if not isinstance(key, str):
            raise ValueError(f"no OTLP/JSON: a key of {name} is {kind_of(key)}, not a text")
        yield key, _value(each.get("value"))


def _value(value: Any) -> Any:
    """The JSON of a value; 64-bit integers may be texts."""
    if not is_object(value) or not value:
        return None
    if len(value) > 1:
        raise ValueError(f"no OTLP/JSON: a value has {', '.join(value)}, and not one of these")
    ((kind, inside),) = value.items()
    if inside is None:
        return None
    match kind:
        case "intValue":
            return _whole(inside)
        case "arrayValue":
            return [_value(each) for each in _list(inside, "values")]
        case "kvlistValue":
            return _attributes(inside, "values")
        case _:
            return inside


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and WHOLE.fullmatch(value) else value


def _list(owner: Any, name: str) -> list[dict[str, Any]]:
    """The objects in the list of this name; none where it is null or missing, which in the JSON of
    Protobuf is one. ValueError where it is of another form."""
    found = owner.get(name) if is_object(owner) else owner
    if found is None:
        return []
    if not is_list(found):
        raise ValueError(f"no OTLP/JSON: {name} is no list")
    if (other := next((each for each in found if not is_object(each)), ABSENT)) is not ABSENT:
        raise ValueError(f"no OTLP/JSON: {kind_of(other)} in {name}, not an object")
    return found


def _object(owner: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object of this name; an empty one where it is null or missing."""
    found = owner.get(name)
    if found is None:
        return {}
    if not is_object(found):
        raise ValueError(f"no OTLP/JSON: {name} is {kind_of(found)}, not an object")
    return found
