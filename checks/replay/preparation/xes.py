"""Events of XES files (IEEE 1849), the format of process mining.

A record has the attributes of an event, and those of its trace under names that begin with
`case:`, as process-mining tools write them into tables. An attribute inside another one has both
names, with `/` between: `org:resource/org:role`. Where several have one name then, as in a list,
the field is the list of their values. Integers, floats and booleans are numbers and booleans,
unless their text is of another form; everything else is a text. A list has no value of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
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
                yield _record(element) | (case or {})
                element.clear()
            elif tag == "trace" and what == "start":
                case = {}
            elif case is not None and what == "end" and depth == 2 and "key" in element.attrib:
                case |= {f"case:{name}": value for name, value in _record([element]).items()}
            elif tag == "trace":
                element.clear()
                case = None
    except Xml.ParseError as error:
        raise ValueError(f"no XES: {error}") from error


def _record(elements: Iterable[Xml.Element]) -> Record:
    """The attributes that are these elements, and those inside them."""
    told: list[tuple[str, Any]] = []
    inner: dict[str, list[Any]] = {}
    for each in elements:
        if "key" in each.attrib:
            (_, own), *rest = _values(each, each.attrib["key"])
            told += [(each.attrib["key"], own)] if "value" in each.attrib else []
            for name, value in rest:
                inner.setdefault(name, []).append(value)
    record = named(told)
    for name, values in inner.items():
        record.setdefault(name.replace(".", "_"), values[0] if len(values) == 1 else values)
    return record


def _values(element: Xml.Element, name: str) -> Iterator[tuple[str, Any]]:
    """The value of an attribute, None where it has none, and the values inside it, each with its
    name. The attributes inside a list are in its `values`."""
    yield name, _value(element)
    waiting = [(name, each) for each in reversed(element)]
    while waiting:
        outer, each = waiting.pop()
        inner = f"{outer}/{each.attrib['key']}" if "key" in each.attrib else outer
        if inner != outer and "value" in each.attrib:
            yield inner, _value(each)
        if inner != outer or each.tag.rpartition("}")[2] == "values":
            waiting += [(inner, one) for one in reversed(each)]


def _value(element: Xml.Element) -> Any:
    """The value of an attribute; what is none of its type stays as it is."""
    kind, text = element.tag.rpartition("}")[2], element.attrib.get("value")
    if kind not in TYPES or text is None:
        return text
    form, made = TYPES[kind]
    return made(text.strip()) if form.fullmatch(text.strip()) else text
