"""Proposes a mapping from a sample of foreign traces: which field is what, by names and values.

Events and arguments are found by their names. Which field is the instance, and what the order is,
several candidates answer; each is tried by a replay of the sample, and the one with which most
instances fit is proposed. Nothing is guessed silently: what was not found is a note.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawful.spec import ir
from lawful.spec.codec.as_json import is_list

from ..fold import fold
from ..in_process import read_rows
from ..mapping import mapping_of
from ..preparation.path_templates import Record
from ..preparation.preparation_table import preparation_of
from ..preparation.record_paths import names_in, path_of
from ..preparation.toml_text import comment, tables
from ..program import ReplayProgram
from ..rows import Row
from ..sources import ReplayError, Sources, sources
from .argument_fields import cast_for, field_holding, field_named, members_for, plain_name
from .samples_of_records import formats_of, sample, values_at
from .troubled_samples import is_journal, notes_of, of_phase, one_phase, repeats
from .units_of_times import unit_of

TRIED = 2_000  # Records with which the candidates are tried.
CANDIDATES = 4  # Of instances, and of orders.
MOST = 0.8  # Of the records have the instance.
PAIRS = 3  # Candidates of instances with a key of two fields.
FEW_NAMES = 8  # Fields of which two may together be the name of the event.
JOINED, KEY = "joined event", "joined key"  # The fields that are added.
KEYS = ("instance", "case", "trace", "session", "conn", "key", "order", "id", "pid", "user")
NONE_FITS = "no instance fits: correct instance, order, events or arguments by hand"
NO_ACTION = "; a variable of the specification, such as `action`, has to name the step"
CONTAINERS = ("", ".$set", ".$map", ".$tuple")  # Tags of containers in ITF, and no tag.
CASE = "$.case:concept:name"  # The name of a trace of XES.


@dataclass(frozen=True)
class Inferred:
    """A mapping as JSON, and what is to be known of it.

    `fitting` of `instances` instances of the sample fit the machine, of `records` records.
    """

    mapping: dict[str, Any]
    notes: tuple[str, ...]
    records: int
    instances: int
    fitting: int

    @property
    def toml(self) -> str:
        """The mapping as TOML, with the notes as comments."""
        share = f"{self.fitting} of {self.instances} instances fit, of {self.records:,} records"
        told = [share, *self.notes, *([] if self.fitting else [NONE_FITS])]
        comments = [comment(each) for each in told]
        return "\n".join([*comments, "", *tables(self.mapping), ""])


@dataclass(frozen=True)
class _Log:
    """What the candidates are tried with; `again` records of the sample say the same as others."""

    files: Sources
    machine: ir.Machine
    again: int


@dataclass(frozen=True)
class _Tried:
    """A candidate: how many instances there are with it, how many of them fit, and the events that
    were judged before the first problem of their instance."""

    mapping: dict[str, Any]
    instances: int
    fitting: int
    judged: int

    def rank(self, again: int) -> tuple[float, int]:
        """The larger, the better; `again` records say the same as others, and by the order of
        their file they count twice."""
        twice = again if self.mapping.get("preparation", {}).get("order") == "file" else 0
        return self.fitting / max(1, self.instances), self.judged - twice


def inferred(paths: Iterable[str | Path], machine: ir.Machine) -> Inferred:
    """A proposal for these traces. Raises ReplayError where no field has names of events."""
    files = sources(paths, foreign=True)
    if not files.lines:
        raise ReplayError("a mapping is inferred from lines, not from Parquet")
    path = ", ".join(files.lines[:2]) + " ..." * (len(files.lines) > 2)
    how, *others = formats_of(files.lines[0])
    records = sample(files.lines, preparation_of(how))
    if is_journal(records):
        what = f"a journal of lawful, which needs no mapping: lawful replay {files.lines[0]} TARGET"
        raise ReplayError(f"{path}: {what}")
    events = _events(records, machine)
    while events is None and others:
        how = others.pop(0)
        records = sample(files.lines, preparation_of(how))
        events = _events(records, machine)
    joined = None if events is not None and events.sure else _joined(records, machine, events)
    if joined is not None:
        how["fields"] = {JOINED: {"$join": [joined.pair[0], "_", joined.pair[1]]}}
        events = joined.events
    if events is None:
        names = ", ".join(event.name for event in machine.events)
        times = [path for path in _paths(records) if _unit(path, values_at(records, path))]
        several = f"; one row may be several events, at {' and '.join(times)}: see `rows`"
        hint = several if len(times) > 1 else NO_ACTION if how.get("format") == "itf" else ""
        raise ReplayError(f"{path}: no field has names of events such as {names}{hint}")
    field, renamed, strange = events.path, events.renamed, events.strange
    args, changes, missing = _arguments(records, machine, events)
    base: dict[str, Any] = {"event": field, "events": renamed, "args": args}
    if strange:
        base["skip"] = strange
    how.update({key: each for key, each in changes.items() if each})
    bases = [base]
    if how.get("format") == "itf":
        # What holds records has another form there, so containers are tried, too.
        all_, plain = (_observed(records, machine, tags) for tags in (CONTAINERS, ("",)))
        bases = [
            {**base, "observed": told} for told in ([all_, plain] if plain != all_ else [all_])
        ]
    notes = [
        *missing,
        *([f"not events of the machine, so skipped: {', '.join(strange)}"] * bool(strange)),
        *([f"other fields: {', '.join(_unread(records, field, args))}"] * bool(missing)),
    ]
    log = _Log(files, machine, repeats(records))
    phases = [how] if joined is not None else [*one_phase(how, field, records)]
    tried = [
        each
        for one in phases
        for base in bases
        for each in _candidates(base, one, _rows(of_phase(one, records), field, strange), log)
    ]
    if not tried:
        raise ReplayError(f"{path}: no field could be the instance")
    best = max(tried, key=lambda each: each.rank(log.again))
    used = best.mapping.get("preparation", {})
    notes += notes_of(used, best.mapping, _rows(of_phase(used, records), field, strange))
    if log.again and "seq" in best.mapping:
        notes.append(f"{log.again} records came twice: replay counts them as duplicates")
    return Inferred(best.mapping, tuple(notes), len(records), best.instances, best.fitting)


def _candidates(
    base: Mapping[str, Any],
    how: Mapping[str, Any],
    rows: Sequence[Record],
    log: _Log,
) -> list[_Tried]:
    """The candidates of the instance, each with those of the order, tried."""
    field = base["event"]
    tried = [
        _tried({**base, "instance": instance, **order}, how, more, log)
        for instance in _known_instance(how) or _instances(rows, field)
        for order, more in _known_order(how) or _orders(rows, (instance,), field)
    ]
    if all(each.fitting < each.instances for each in tried):
        for pair in _pairs(rows, field):
            keyed = {**how, "fields": {**how.get("fields", {}), KEY: {"$key": [*pair]}}}
            with_key = [
                _tried({**base, "instance": f"$.{KEY}", **order}, keyed, more, log)
                for order, more in _orders(rows, pair, field)
            ]
            # With more instances of fewer rows some fit by chance.
            tried += [each for each in with_key if 2 * each.fitting > each.instances]
    return tried


def _paths(records: Sequence[Record]) -> list[str]:
    """All paths, those of most records first."""
    counts = Counter(path for record in records for path in record)
    return sorted(counts, key=lambda path: (-counts[path], path))


@dataclass(frozen=True)
class _Events:
    """The field of the event, names that differ, and names that are no events.

    `sure`: some name is that of an event of the machine, and not only like it.
    """

    path: str
    renamed: dict[str, str]
    strange: list[str]
    sure: bool

    def named(self, record: Record) -> str:
        """The event of the machine that a record has; empty where it has none."""
        text = record.get(self.path)
        return self.renamed.get(text, text) if isinstance(text, str) else ""


@dataclass(frozen=True)
class _Joined:
    """The two fields that together name the event."""

    pair: tuple[str, str]
    events: _Events


def _joined(
    records: Sequence[Record], machine: ir.Machine, single: _Events | None
) -> _Joined | None:
    """Two fields whose texts together are names of events, where more are than of a single one."""
    known = {plain_name(event.name): event.name for event in machine.events}
    most = 10 * len(known) + 20
    fields = {
        path: {r.get(path) for r in records if isinstance(r.get(path), str)}
        for path in _paths(records)
    }
    few = [path for path, texts in fields.items() if 1 < len(texts) <= most][:FEW_NAMES]
    best: tuple[int, tuple[str, str], Counter[str]] = (0, ("", ""), Counter())
    for pair in itertools.permutations(few, 2):
        texts = Counter(
            f"{r[pair[0]]}_{r[pair[1]]}"
            for r in records
            if all(isinstance(r.get(p), str) for p in pair)
        )
        hits = sum(count for text, count in texts.items() if plain_name(text) in known)
        if hits > best[0]:
            best = (hits, pair, texts)
    if not best[0]:
        return None
    found = {text: known.get(plain_name(text), "") for text in sorted(best[2])}
    renamed = {text: name for text, name in found.items() if name and name != text}
    strange = [text for text, name in found.items() if not name]
    return _Joined(best[1], _Events(f"$.{JOINED}", renamed, strange, sure=True))


def _events(records: Sequence[Record], machine: ir.Machine) -> _Events | None:
    """The field of the event; None where no field has names of events."""
    known = {plain_name(event.name): event.name for event in machine.events}
    best: tuple[int, str, Counter[str]] = (0, "", Counter())
    for path in _paths(records):
        texts = Counter(r[path] for r in records if isinstance(r.get(path), str))
        hits = sum(count for text, count in texts.items() if _event(text, known))
        if hits > best[0] and len(texts) <= 10 * len(known) + 20:
            best = (hits, path, texts)
    if not best[0]:
        return None
    found = {text: _event(text, known) for text in sorted(best[2])}
    renamed = {text: name for text, name in found.items() if name and name != text}
    strange = [text for text, name in found.items() if not name]
    return _Events(best[1], renamed, strange, any(plain_name(text) in known for text in found))


def _event(text: str, known: Mapping[str, str]) -> str:
    """The event of the machine that a text names; empty where it names none for sure."""
    name = plain_name(text)
    if name in known:
        return known[name]
    if len(name) <= 2:
        return ""
    inside = sorted((each for each in known if each in name), key=len)
    if inside:  # In `job_started` both `start` and `started` are.
        return known[inside[-1]] if all(each in inside[-1] for each in inside) else ""
    near = [event for each, event in known.items() if name in each]
    return near[0] if len(near) == 1 else ""


def _rows(records: Sequence[Record], event: str, strange: Sequence[str]) -> list[Record]:
    """The records that are not skipped, without those that say the same as one before."""
    without = [None, *strange]  # No set: the value of a field may be a list.
    kept = [r for r in records if event == f"$.{JOINED}" or r.get(event) not in without]
    plain = ({path: value for path, value in r.items() if not is_list(value)} for r in kept)
    return [dict(row) for row in dict.fromkeys(tuple(each.items()) for each in plain)]


def _arguments(
    records: Sequence[Record], machine: ir.Machine, events: _Events
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The arguments by event, the `casts` and `values` that they need, and what was not found."""
    paths = [path for path in _paths(records) if path != events.path]
    args: dict[str, Any] = {}
    casts: dict[str, str] = {}
    members: dict[str, dict[str, str]] = {}
    missing: list[str] = []
    for event in machine.events:
        for name, kind in event.params:
            found = field_named(paths, name) or field_holding(records, paths, kind)
            if found is None:
                missing.append(f"no field for the argument {name} of {event.name}")
                continue
            args.setdefault(event.name, {})[name] = found
            without = sum(found not in r for r in records if events.named(r) == event.name)
            if without:
                much = f"{without} record{'s' * (without > 1)} of {event.name} without {found}"
                missing.append(f"{much}: not judged, unless `defaults` has a value")
            values = [r.get(found) for r in records]
            if cast := cast_for(values, kind):
                casts[found] = cast
            if renamed := members_for(values, kind):
                members[found] = renamed
    return args, {"casts": casts, "values": members}, missing


def _unread(records: Sequence[Record], event: str, args: Mapping[str, Any]) -> list[str]:
    """The fields that neither the event nor an argument is."""
    read = {event, *(path for each in args.values() for path in each.values())}
    return [path for path in _paths(records) if path not in read]


def _observed(
    records: Sequence[Record], machine: ir.Machine, tags: Sequence[str]
) -> dict[str, str]:
    """The variables of the machine that the states of ITF tell, in a form with one of the tags."""
    paths = {*_paths(records)}
    names = {each.name: path_of(("after", each.name)) for each in machine.variables}
    return {name: at for name, at in names.items() if any(at + tag in paths for tag in tags)}


def _known_instance(how: Mapping[str, Any]) -> list[str]:
    """The instance where the format says what it is."""
    return {"xes": [CASE], "itf": ["$.file"]}.get(how.get("format", ""), [])


def _known_order(how: Mapping[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The order where the format says what it is, as `_orders` has it."""
    return [({"seq": "$.index"}, {})] if how.get("format") == "itf" else []


def _instances(records: Sequence[Record], event: str) -> list[str]:
    """Fields that may be the instance: with several values, most of them more than once; hardly
    any record is without."""
    out: list[tuple[int, int, str]] = []
    for path in _paths(records):
        values = [r[path] for r in records if type(r.get(path)) in (str, int)]
        distinct, least = len(set(values)), MOST * len(records)
        no_key = path == event or bool(_unit(path, values))
        if no_key or len(values) < least or distinct > 0.8 * len(values) + 1:
            continue
        out.append((_hint(path), -distinct, path))
    return [path for *_, path in sorted(out)][:CANDIDATES]


def _pairs(records: Sequence[Record], event: str) -> list[tuple[str, str]]:
    """Pairs of fields that may be the instance together: with more values than each of them."""
    counts: dict[str, int] = {}
    for path in _paths(records):
        values = [r[path] for r in records if type(r.get(path)) in (str, int)]
        if path != event and len(values) == len(records) and len(set(values)) > 1:
            counts[path] = len(set(values))
    out: list[tuple[int, int, tuple[str, str]]] = []
    for one, other in itertools.combinations(counts, 2):
        distinct = len({(r[one], r[other]) for r in records})
        if max(counts[one], counts[other]) < distinct <= 0.8 * len(records) + 1:
            out.append((_hint(one) + _hint(other), -distinct, (one, other)))
    return [pair for *_, pair in sorted(out)][:PAIRS]


def _hint(path: str) -> int:
    """How much the name of a field is like that of a key; less is more."""
    last = plain_name(names_in(path)[-1])
    return next((i for i, key in enumerate(KEYS) if key in last), len(KEYS))


def _orders(
    records: Sequence[Record], instance: tuple[str, ...], event: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Orders of the rows of an instance: keys of the mapping, and of its preparation. Rows of no
    instance are rejected, so they have none."""
    records = [r for r in records if all(r.get(path) is not None for path in instance)]
    found = 0
    for path in _paths(records):
        numbers = [r.get(path) for r in records]
        pairs = {(*map(r.get, instance), r.get(path)) for r in records}
        whole = all(type(n) is int or (isinstance(n, str) and n.isdigit()) for n in numbers)
        unit = _unit(path, numbers)
        if path in (*instance, event) or found == CANDIDATES:
            continue
        if whole and len(pairs) == len(records) and not unit:
            found += 1
            texts = isinstance(numbers[0], str)
            yield {"seq": path}, {"casts": {path: "int"}} if texts else {}
        elif unit:
            found += 1
            yield {"time": path, "unit": unit}, {"order": "time"}
    yield {}, {"order": "file"}


def _unit(path: str, values: Sequence[Any]) -> str:
    """The unit of a field of times; empty where it has none."""
    return unit_of(plain_name(names_in(path)[-1]), values)


def _tried(
    data: dict[str, Any],
    how: Mapping[str, Any],
    order: Mapping[str, Any],
    log: _Log,
) -> _Tried:
    """A candidate with what a replay of the sample says of it, up to the first problems."""
    casts = {**how.get("casts", {}), **order.get("casts", {})}
    whole = {**how, **order, **({"casts": casts} if casts else {})}
    mapping = {name: value for name, value in data.items() if value}
    if whole:
        mapping["preparation"] = whole
    program = ReplayProgram((log.machine,), mapping=mapping_of(mapping), after="stop")
    rows: dict[str, list[Row]] = {}
    for row in itertools.islice(read_rows(log.files, program), TRIED):
        if isinstance(row, Row):
            rows.setdefault(row.instance, []).append(row)
    fitting = judged = 0
    for name, its in rows.items():
        found = fold(program, name, sorted(its, key=lambda row: row.seq))
        # Rows of several instances look like rows that came twice.
        twice = found.counts.get("duplicates", 0) > log.again
        fitting += found.verdict in ("fits", "open") and not twice
        judged += found.counts.get("judged", 0)
    return _Tried(mapping, len(rows), fitting, judged)
