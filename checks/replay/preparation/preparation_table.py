"""Preparations: how the files of a foreign trace become records, and what is done with each record.

It is the table `[preparation]` of a mapping. Each record passes these steps, in this order:

    format = "text"            # lines (JSON, the default), text, logfmt, json, csv, xes,
                               # otlp or itf
    line = "(?P<pid>[0-9]+) (?P<message>.*)"  # text: the named groups of a line are its fields
    begins = "[0-9]{4}-"       # text: a record begins with a line that begins so; the lines after
                               # it are of the same record, up to the next one that begins so
    file = "(?P<host>[^/]+)[.]log$"  # the named groups of what is found in a file's path, too
    columns = ["a", "b"]       # csv: the names of the columns; without it the first row has them
    delimiter = ";"            # csv

    [[preparation.patterns]]   # the first whose pattern is found adds its groups, and the field
    of = "$.message"           # `event` with its event
    pattern = "Accepted password for (?P<user>.*) from"
    event = "accept"

    pass_unmatched = true      # leave out records that match no `line` or no pattern
    spread = "$.blocks"        # a list: a record for each element of it; ["$.a", "$.a.b"] spreads
                               # the list `a`, and then the list `b` of each element
    defaults = {"$.n" = 0}     # values where a record has none
    casts = {"$.n" = "int"}    # texts as int, float or bool, anything as text; "fixed(2)": 12.5
                               # as 1250, a number of the unit that has so many decimal digits;
                               # "fixed(2, comma)": "1.012,5" as 101250
    values."$.status" = {"200" = "OK", "*" = "failed"}  # other values; "*" is any other one
    fields.key = {"$join" = ["$.host", "-", "$.pid"]}   # more fields: see `path_templates`
    when = {"$.level" = "INFO"}  # only records with these values

    [[preparation.rows]]       # several rows of a record, each with conditions and fields
    when = {"$.phase" = "start"}
    fields.name = {"$join" = ["$.name", "_begins"]}

    order = "time"             # in place of `seq`: file, the order in the files, or time
    ties = ["OPEN", "CLOSE"]   # time: which of these events is first at one time; "any": nobody
                               # knows, so the rows may have happened in any order
    since = "2020-01-01"       # time: the day at which numbers begin (1970)

    hash = ["$.user"]          # last of all: hashes in the place of these values; see `masks`
    drop = ["$.email"]         # ... and these are removed
    salt_from = "TRACE_SALT"   # the environment variable that has the secret key of the hashes
    trust_samples = true       # otlp: sampled spans are judged as if none were missing

A value that cannot be cast stays as it is; then the machine refuses its form.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object, is_tuple
from lawful.spec.errors import nearest
from lawful.spec.ir import Json

from .path_templates import conditions_in, wrong_condition, wrong_pattern, wrong_template
from .record_paths import names_in, wrong_path

FORMATS = ("lines", "text", "logfmt", "json", "csv", "xes", "otlp", "itf")
LINE_FORMATS = ("lines", "text", "logfmt")  # A line is a record by itself.
ORDERS = ("", "file", "time")
ANY = "any"  # The ties of rows that may have happened in any order.
OR_TEXT = {"spread": " or a list of texts", "ties": ' or "any"'}  # Keys with a second type.
CASTS = ("int", "float", "bool", "text")
# Whole numbers of a unit with so many decimal digits, of texts with a point or a comma.
FIXED = re.compile(r"fixed\(([0-9])(, *comma)?\)")


@dataclass(frozen=True)
class LinePattern:
    """Where `pattern` is found in the text at `of`, its named groups are fields of the record, and
    its field `event` is this one."""

    of: str
    pattern: str
    event: str


@dataclass(frozen=True)
class RowForm:
    """One of several rows of a record: more fields, and the conditions under which it is one."""

    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    when: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True)
class Preparation:
    """What is done with a foreign trace before it is mapped; see the top of this module."""

    format: str = "lines"
    line: str = ""
    begins: str = ""
    file: str = ""
    columns: tuple[str, ...] = ()
    delimiter: str = ","
    patterns: tuple[LinePattern, ...] = ()
    pass_unmatched: bool = False
    spread: str | tuple[str, ...] = ""
    defaults: Mapping[str, Json] = field(default_factory=dict[str, Json])
    casts: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    when: Mapping[str, Json] = field(default_factory=dict[str, Json])
    rows: tuple[RowForm, ...] = ()
    order: str = ""
    ties: tuple[str, ...] | str = ()
    since: str = "1970-01-01"
    hash: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    salt_from: str = ""
    salt: str = field(default="", repr=False)
    trust_samples: bool = False

    @property
    def private(self) -> bool:
        """Whether records have values that may not be shown."""
        return bool(self.hash or self.drop)

    @property
    def any_order(self) -> bool:
        """Whether rows of an instance at one time may have happened in any order."""
        return self.ties == ANY

    @property
    def ranks(self) -> tuple[str, ...]:
        """The events in the order in which they come at one time, if the table says one."""
        return () if isinstance(self.ties, str) else self.ties

    @property
    def of_lines(self) -> bool:
        """Whether each line of a file is a record by itself, wherever it stands."""
        apart = self.order != "file" and not self.file and not self.begins
        return self.format in LINE_FORMATS and apart

    @cached_property
    def spreads(self) -> tuple[str, ...]:
        """The paths of the lists that are spread, in their order."""
        told = (self.spread,) if isinstance(self.spread, str) else self.spread
        return tuple(filter(None, told))

    def wrong(self) -> str:
        """What is wrong in it, as a sentence; empty where nothing is."""
        return next(filter(None, (check(self) for check in CHECKS)), "")


def _words(of: Preparation) -> str:
    if of.format not in FORMATS:
        return f"format has to be one of {', '.join(FORMATS)}, not {of.format}"
    if of.order not in ORDERS:
        return f"order has to be file or time, not {of.order}"
    if of.ties and of.order != "time":
        return 'ties are for order = "time"'
    if isinstance(of.ties, str) and not of.any_order:
        return f'ties has to be a list of events, or "{ANY}" for any order, not {of.ties}'
    if len(of.delimiter) != 1:
        return f"delimiter has to be one character, not {of.delimiter!r}"
    try:
        date.fromisoformat(of.since)
    except ValueError:
        return f"since has to be a day such as 2020-01-01, not {of.since}"
    return ""


def _lines(of: Preparation) -> str:
    if (of.format == "text") != bool(of.line):
        return "format text needs `line`, and no other format has one"
    if of.begins and of.format != "text":
        return "begins is for format text"
    for each in (of.line, of.begins, of.file, *(each.pattern for each in of.patterns)):
        if why := wrong_pattern(each):
            return why
    for name, each in (("line", of.line), ("file", of.file)):
        if each and not re.compile(each).groupindex:
            return f"{name} has no named group such as (?P<pid>[0-9]+)"
    return ""


def _paths(of: Preparation) -> str:
    named = [*of.defaults, *of.casts, *of.values, *(each.of for each in of.patterns)]
    named += [*of.hash, *of.drop]
    named += of.spreads
    for path in named:
        if why := wrong_path(path):
            return why
    for path, cast in of.casts.items():
        if cast not in CASTS and not FIXED.fullmatch(cast):
            kinds = ", ".join((*CASTS, "fixed(2)", "fixed(2, comma)"))
            return f"casts of {path} has to be one of {kinds}, not {cast}"
    return ""


def _templates(of: Preparation) -> str:
    for form in (RowForm(of.fields, of.when), *of.rows):
        for name, template in form.fields.items():
            if why := wrong_template(template, functions=True):
                return f"fields.{name}: {why}"
        if why := wrong_condition(form.when):
            return f"when: {why}"
    return ""


def _never(of: Preparation) -> str:
    """Conditions come after casts, and a regular expression is found in texts alone."""
    casts = {names_in(path): kind for path, kind in of.casts.items()}
    for form in (RowForm(of.fields, of.when), *of.rows):
        for asked in (form.when, *conditions_in(dict(form.fields))):
            for path, wanted in asked.items():
                kind = casts.get(names_in(path), "text")
                if is_object(wanted) and kind != "text":
                    what = f"$matches finds nothing at {path}, which is cast to {kind} before"
                    return f"{what}; ask for a value, or leave the cast out"
    return ""


def _salt(of: Preparation) -> str:
    if of.hash and not of.salt and not of.salt_from:
        return "hash needs salt_from, the environment variable that has the key of the hashes"
    if of.hash and not of.salt:
        return f"the environment variable {of.salt_from}, which salt_from names, is not set"
    return ""


CHECKS = (_words, _lines, _paths, _templates, _never, _salt)
TEXT_LISTS = ("columns", "ties", "hash", "drop")
KIND_NAMES = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}
KINDS: dict[str, type] = {
    "format": str,
    "line": str,
    "begins": str,
    "file": str,
    "columns": list,
    "delimiter": str,
    "patterns": list,
    "pass_unmatched": bool,
    "spread": str,
    "defaults": dict,
    "casts": dict,
    "values": dict,
    "fields": dict,
    "when": dict,
    "rows": list,
    "order": str,
    "ties": list,
    "since": str,
    "hash": list,
    "drop": list,
    "salt_from": str,
    "salt": str,
    "trust_samples": bool,
}


def preparation_of(data: Any) -> Preparation:
    """The preparation in a JSON object. Raises ValueError, which says what is wrong."""
    if not is_object(data):
        raise ValueError("preparation has to be a table")
    known: dict[str, Any] = {}
    for name, value in data.items():
        if name not in KINDS:
            how = nearest(name, KINDS, f"the keys are {', '.join(KINDS)}")
            raise ValueError(f"preparation.{name} is no key of a preparation; {how}")
        told = value.isoformat() if isinstance(value, date) else value  # TOML has dates.
        second = _texts(told) if name == "spread" else name == "ties" and isinstance(told, str)
        if type(told) is not KINDS[name] and not second:
            also = OR_TEXT.get(name, "")
            what = f"{KIND_NAMES[KINDS[name]]}{also}, not {value!r}"
            raise ValueError(f"preparation.{name} has to be {what}")
        known[name] = (*told,) if is_list(told) else told
    for name in TEXT_LISTS:
        if not isinstance(known.get(name), str) and not _texts(known.get(name, ())):
            raise ValueError(f"preparation.{name} has to be a list of texts")
    known["patterns"] = tuple(_made(LinePattern, each) for each in known.get("patterns", ()))
    known["rows"] = tuple(_made(RowForm, each) for each in known.get("rows", ()))
    known.setdefault("salt", os.environ.get(known.get("salt_from", ""), ""))
    made = Preparation(**known)
    if why := made.wrong():
        raise ValueError(f"preparation: {why}")
    return made


def _texts(told: Any) -> bool:
    return (is_list(told) or is_tuple(told)) and all(isinstance(each, str) for each in told)


def _made(kind: Any, data: Any) -> Any:
    """One of the tables of a list, as a data class."""
    rows = {each.name: each.type for each in dataclasses.fields(kind)}
    if not is_object(data) or not data.keys() <= rows.keys():
        raise ValueError(f"a table of a preparation has the keys {', '.join(rows)}, not {data}")
    for name, value in data.items():
        if isinstance(value, str) != (rows[name] == "str"):
            raise ValueError(f"preparation: {name} has another form: {value!r}")
    try:
        return kind(**data)
    except TypeError as error:
        raise ValueError(f"preparation: {error}") from error


def to_json(made: Preparation) -> Json:
    """The preparation as JSON; `preparation_of` reads it."""
    out: dict[str, Any] = dataclasses.asdict(made)
    for name in (*TEXT_LISTS, "patterns", "rows"):
        out[name] = out[name] if isinstance(out[name], str) else list(out[name])
    if not isinstance(made.spread, str):
        out["spread"] = list(made.spread)
    for name in ("file", "begins"):
        if not out[name]:
            del out[name]  # Versions that do not know it can read the rest.
    return out
