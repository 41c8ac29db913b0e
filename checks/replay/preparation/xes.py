"""Events of XES files (IEEE 1849), the format of process mining.

A record has the attributes of an event, and those of its trace under names that begin with
`case:`, as process-mining tools write them into tables. Attributes inside attributes are left out.
Integers, floats and booleans are numbers and booleans, unless their text is of another form;
everything else is a text. A list has no value of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import IO, Any
from xml.etree import ElementTree as Xml

from .names import named
from .path_templates import Record

WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|-?INF|NaN")
TRUTH = re.compile(r"true|false|1|0", re.IGNORECASE)
# By the type of an attribute: the texts that XML Schema has for it, and their values.
TYPES: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "int": (WHOLE, int),
    "float": (DECIMAL, float),
    "boolean": (TRUTH, lambda text: text.lower() in ("true", "1")),
}


def events(file: IO[bytes]) -> Iterator[Record]:
    """The events of a log, in their order. Raises ValueError where the file is no XES."""
    case: Record | None = None  # The attributes of the trace; None for an event of no trace.
    depth = 0
    try:
        for what, element in Xml.iterparse(file, ("start", "end")):
            tag = element.tag.rpartition("}")[2]
            depth += 1 if what == "start" else -1
            if depth == 1 and what == "start" and tag != "log":
                raise ValueError(f"no XES: it begins with <{tag}>, not with <log>")
            if what == "end" and tag == "event":
                yield named(_attributes(element)) | (case or {})
                element.clear()
            elif tag == "trace" and what == "start":
                case = {}
            elif case is not None and what == "end" and depth == 2 and "key" in element.attrib:
                case |= named((f"case:{name}", value) for name, value in _attributes([element]))
            elif tag == "trace":
                element.clear()
                case = None
    except Xml.ParseError as error:
        raise ValueError(f"no XES: {error}") from error


def _attributes(elements: Any) -> list[tuple[str, Any]]:
    """The attributes that are these elements."""
    rows: list[tuple[str, Any]] = []
    for each in elements:
        if "key" in each.attrib and "value" in each.attrib:
            kind = each.tag.rpartition("}")[2]
            rows.append((each.attrib["key"], _value(kind, each.attrib["value"])))
    return rows


def _value(kind: str, text: str) -> Any:
    """The value of an attribute; a text of another form stays as it is."""
    if kind not in TYPES:
        return text
    form, made = TYPES[kind]
    return made(text.strip()) if form.fullmatch(text.strip()) else text
