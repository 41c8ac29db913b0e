"""Results of `replay` as text and as a self-contained HTML page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from lawful.spec.ir import Json

from ..replay import ReplayResult
from ..replay.latencies import QUANTILES
from ..replay.problems import VERDICTS
from ..replay.tally import Tally
from .sequence_picture import row_label, sequence
from .traffic_picture import Traffic, picture

MEANING = {
    "fits": "all events agree with the machine; the instance may end in its last state",
    "open": "all events agree with the machine; the instance may not end in its last state",
    "deviates": "an event does not agree with the machine",
    "inconclusive": "the rows have too little information to compare them with the machine",
    "quarantined": "rows are malformed, missing or out of order",
    "empty": "every event was skipped, so none was judged",
}
PREFIX = {
    "refused": "the machine refuses it: ",
    "fault": "the machine would fail: ",
    "argument": "out of bounds: ",
    "inconclusive": "cannot be judged: ",
    "quarantined": "cannot be replayed: ",
}
UNJUDGED = ("inconclusive", "quarantined")
LISTED = 200  # Instances on the page.
KINDS = 100  # Kinds of problems in its table.
TOLD = {
    "deviations": "deviations",
    "uncertain": "rows that do not fit an uncertain state",
    "duplicates": "identical rows twice",
    "gaps": "gaps of sequence numbers",
    "regressions": "numbers or times that go back",
    "unknown_events": "unknown events",
    "ambiguous": "events that several transitions may have served",
    "late": "rows that came too late",
    "sampled": "rows of sampled traces",
    "hinges": "instances whose verdict hinges on something unseen",
}
SHOWN = 20  # Findings in the text.
SHORT = 80  # Characters of an argument in a sentence.
LONGEST = 2000  # Characters of one value on the page.

# Text.


def text(result: ReplayResult) -> str:
    """The result as text: verdicts, coverage, and the first findings."""
    answer: Any = result.to_json()
    lines = [f"no verdict: {why}" for why in answer["failures"]]
    lines += [line for machine in answer["machines"] for line in _machine_text(machine)]
    if len(answer["machines"]) > 1 or answer["unknown_machine"]:
        lines.append(f"in all: {_verdicts_text(answer['verdicts'])}")
    for each in answer["rejected"]["reasons"]:
        at = where(each["places"][0])
        example = f"{at}: {each['first'][0]}" if at else each["first"][0]
        lines.append(f"{_rows(each['total'])} rejected: {each['reason']}, for example {example}")
    for name, other in answer["other_machines"].items():
        lines.append(f"{_rows(other['rows'])} of {name} not replayed: it is not among the machines")
    lines += _findings_text(answer, None if result.program.every else SHOWN)
    lines.append(f"replayed by the {answer['engine']} engine in {answer['seconds']:.1f} s")
    lines += [result.remark] if result.remark else []
    return "\n".join(lines)


def _machine_text(machine: Mapping[str, Any]) -> list[str]:
    coverage = machine["coverage"]
    lines = [
        f"{machine['machine']} {machine['fingerprint']}: {machine['instances']} instances, "
        f"{machine['events']} events: {_verdicts_text(machine['verdicts'])}"
    ]
    for kind, counts in coverage.items():
        missed = [name for name, count in counts.items() if not count]
        rest = f"; never: {', '.join(missed)}" if missed else ""
        if counts:
            lines.append(f"  {len(counts) - len(missed)} of {len(counts)} {kind} covered{rest}")
    told = [f"{TOLD[name]}: {n:,}" for name, n in machine["counts"].items() if n and name in TOLD]
    return [*lines, f"  {', '.join(told)}"] if told else lines


def _verdicts_text(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in verdicts.items() if count) or "none"


def _findings_text(answer: Mapping[str, Any], most: int | None) -> list[str]:
    lines: list[str] = []
    shown = [*answer["deviations"], *answer["not_judged"]][:most]
    for f in shown:
        again = f" ({f['count']} times)" if f["count"] > 1 else ""
        lines.append(f"{headline(f)}: {clause(f)}{again}")
        if f["legal"]:
            lines.append(f"  possible events: {', '.join(f['legal'])}")
        lines += [f"  {each}" for each in advice(f)]
    rest = sum(each["count"] for each in answer["totals"]) - sum(f["count"] for f in shown)
    if rest:
        lines.append(f"and {rest:,} more")
    return lines


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def clause(finding: Mapping[str, Any]) -> str:
    """The problem of a finding, as a sentence."""
    found = f": {finding['found']}" if "found" in finding else ""
    return PREFIX.get(finding["kind"], "") + str(finding["clause"]) + found


def advice(finding: Mapping[str, Any]) -> Iterator[str]:
    """What would have helped at a deviation, where it is known."""
    if finding.get("nearest"):
        yield f"nearest possible event: {call(finding['nearest'])}"
    if finding.get("path"):
        yield f"possible after: {', then '.join(map(call, finding['path']))}"
    elif finding.get("searched"):
        yield f"no way to it found in {finding['searched']} states"


def call(step: Mapping[str, Any]) -> str:
    """An event with its arguments."""
    args = ", ".join(f"{name}={_cut(json.dumps(value))}" for name, value in step["args"].items())
    return f"{step['event']}({args})"


def _cut(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 4]} ..."


def headline(finding: Mapping[str, Any]) -> str:
    """Where a finding is: instance, row, event, control state."""
    number = finding.get("number", finding["index"])
    file = f" of {finding['file']}" if "file" in finding else ""
    row = f", row {number}{file}" if finding["index"] >= 0 or "number" in finding else ""
    row = f", row at {finding['time']}" if "time" in finding else row
    event = f", event {finding['event']}" if finding["event"] else ""
    control = f" in state {finding['control']}" if finding["control"] else ""
    machine = f"{finding['machine']}, " if "machine" in finding else ""
    name = finding["instance"] or '""'  # An empty text is a name, too.
    return f"{machine}instance {name}{row}{event}{control}"


# HTML.


def html(result: ReplayResult) -> str:
    """The page: verdicts, coverage, and the first findings with state and possible events."""
    answer: Any = result.to_json()
    names = ", ".join(machine["machine"] for machine in answer["machines"])
    found = [*answer["deviations"], *answer["not_judged"]]
    parts = [
        f"<h1>Replay of {escape(names)}</h1>",
        _summary(answer),
        _table("Verdicts", _verdict_rows(answer)),
        _section("Kinds of problems", _kinds(answer), ""),
        *(_coverage(result, machine) for machine in answer["machines"]),
        _section("First of each kind", _articles(found), ""),
        _section("Rejected rows", _rejected_rows(answer), ""),
        _section("Other machines in the journal", _other_rows(answer), ""),
        _instances(answer),
    ]
    return _page().substitute(title=escape(f"Replay of {names}"), body="\n".join(parts))


def _page() -> Template:
    """The page around the body, with its style sheet: `replay_page.html` beside this module."""
    return Template(
        files(__package__ or "").joinpath("replay_page.html").read_text(encoding="utf-8")
    )


def _summary(answer: Mapping[str, Any]) -> str:
    if answer["verdicts"]["deviates"]:
        count = answer["verdicts"]["deviates"]
        kind = "deviates"
        summary = f"{count:,} instance{'s deviate' if count > 1 else ' deviates'}"
    elif answer["failures"]:
        kind, summary = "quarantined", "No verdict: " + "; ".join(answer["failures"])
    elif any(answer["verdicts"][v] for v in UNJUDGED) or answer["rejected"]["rows"]:
        kind, summary = "quarantined", "Some instances could not be judged"
    else:
        kind, summary = "fits", "All instances agree with their machine"
    facts = (
        f"{answer['instances']:,} instances · {answer['events']:,} events · "
        f"{answer['engine']} engine · {answer['seconds']:.1f} s"
    )
    bar = "".join(
        f'<i class="{name}" style="flex:{count}" title="{name}: {count}"></i>'
        for name, count in answer["verdicts"].items()
        if count
    )
    line = f'<p class="sum {kind}"><b>{summary}</b><span>{facts}</span></p>'
    return f'{line}<div class="bar">{bar}</div>'


def _verdict_rows(answer: Mapping[str, Any]) -> list[list[str]]:
    machines = answer["machines"]
    rows = [["Verdict", *(f"Instances of {escape(m['machine'])}" for m in machines), "Meaning"]]
    for name in VERDICTS:
        counts = [f"{machine['verdicts'][name]:,}" for machine in machines]
        rows.append([f'<span class="chip {name}">{name}</span>', *counts, MEANING[name]])
    if answer["unknown_machine"]:
        rest = ["" for _ in machines[1:]]
        meaning = "quarantined instances whose rows do not name their machine"
        rows.append(["unknown machine", f"{answer['unknown_machine']:,}", *rest, meaning])
    return rows


def _table(title: str, rows: list[list[str]], numbers: bool = True) -> str:
    head, *body = rows
    cells = "".join(f"<th>{cell}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in body)
    kind = ' class="numbers"' if numbers else ""
    headed = f"<h2>{title}</h2>" if title else ""
    return f"{headed}<table{kind}><tr>{cells}</tr>{lines}</table>"


def _coverage(result: ReplayResult, machine: Mapping[str, Any]) -> str:
    name = escape(machine["machine"])
    halves = [_bars(kind, counts) for kind, counts in machine["coverage"].items() if counts]
    head = f"<h2>Coverage of {name} <code>{escape(machine['fingerprint'])}</code></h2>"
    picture = _picture(result, machine["machine"])
    waits = _latencies(machine["latencies"])
    return f'{head}{picture}<div class="halves">{"".join(halves)}</div>{waits}'


def _latencies(latencies: Mapping[str, Any]) -> str:
    """The times before each transition as a table."""
    what = "Seconds since the row before, at most 5 % too high"
    rows = [[what, "Times", "Median", "90 %", "99 %", "Most"]]
    for name, each in latencies.items():
        times = [f"{each[quantile]:g}" for quantile in QUANTILES]
        rows.append([escape(name), f"{each['count']:,}", *times])
    return _table("", rows) if latencies else ""


def _picture(result: ReplayResult, name: str) -> str:
    """The control states with what was seen of them; empty for a machine without any."""
    stepper, tally = result.program.steppers[name], result.tallies.machines.get(name, Tally())
    wrong: Counter[str] = Counter()
    for (verdict, _, _, where), count in tally.found.counts.items():
        wrong[where] += count if verdict == "deviates" else 0
    seen = Traffic(tally.transitions, tally.states, wrong)
    return picture(stepper.machine, stepper.form.control_states, stepper.first_control, seen)


def _bars(kind: str, counts: Mapping[str, int]) -> str:
    most = max(counts.values(), default=0) or 1
    covered = sum(1 for count in counts.values() if count)
    rows = "".join(
        f'<tr class="{"" if count else "never"}"><td>{escape(name)}</td>'
        f'<td class="meter"><i style="width:{100 * count / most:.1f}%"></i></td>'
        f"<td>{f'{count:,}' if count else 'never'}</td></tr>"
        for name, count in counts.items()
    )
    return (
        f'<div><h3>{covered} of {len(counts)} {kind}</h3><table class="bars">{rows}</table></div>'
    )


def _section(title: str, parts: Iterable[str], after: str) -> str:
    body = "\n".join(parts)
    return f"<h2>{title}</h2>{body}{after}" if body else ""


def _articles(found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The findings; the first deviation of each kind has a sequence diagram."""
    drawn: set[tuple[str, ...]] = set()
    for each in found:
        kind = (each["kind"], str(each["event"]), each["control"])
        first = kind not in drawn and each["kind"] not in VERDICTS
        drawn.add(kind)
        yield _article(each, sequence(each) if first else "")


def _article(finding: Mapping[str, Any], diagram: str) -> str:
    kind = finding["kind"]
    verdict = kind if kind in VERDICTS else "deviates"
    out = [f'<article><h3><span class="chip {verdict}">{escape(kind)}</span> ']
    out.append(f"{escape(headline(finding))}</h3>")
    out.append(f'<p class="clause">{escape(clause(finding))}</p>')
    row = finding.get("row")
    if row:
        facts = [f"<b>{escape(k)}</b> {_value(v)}" for k, v in row.items() if v not in (None, {})]
        out.append(f'<p class="row">The row: {" · ".join(facts)}</p>')
    if finding.get("differs"):
        rows = [["Difference", "In the row", "In the machine"]]
        for name, both in finding["differs"].items():
            path = escape(name.removeprefix("changed."))
            rows.append([path, _value(both["row"]), _value(both["machine"])])
        out.append(_table("", rows, numbers=False))
    if finding["state"]:
        rows = [[escape(name), _value(value)] for name, value in finding["state"].items()]
        lines = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
        out.append(
            "<details open><summary>State before the event</summary>"
            f"<table>{lines}</table></details>"
        )
        legal = "".join(f"<code>{escape(name)}</code> " for name in finding["legal"])
        out.append(f"<p>Events possible in this state: {legal or 'none'}</p>")
        out += [f"<p>{escape(each[0].upper() + each[1:])}</p>" for each in advice(finding)]
    out += [diagram, _around(finding.get("around"))]
    return "".join(out) + "</article>"


def _around(around: Mapping[str, Any] | None) -> str:
    """The rows before and after that of the finding."""
    if not around or not (around["before"] or around["after"]):
        return ""
    rows = [["Row", "Event", "Outcome"]]
    for each in (*around["before"], *around["after"]):
        made = call(each) if each["event"] else ""
        rows.append(
            [
                row_label(each, each["seq"]),
                f"<code>{escape(made)}</code>",
                escape(each.get("outcome", "")),
            ]
        )
    table = _table("", rows, numbers=False)
    return f"<details><summary>Rows around it</summary>{table}</details>"


def _value(value: Json) -> str:
    full = value if isinstance(value, str) else json.dumps(value)
    return f"<code>{escape(full[:LONGEST])}{' ...' if len(full) > LONGEST else ''}</code>"


def _kinds(answer: Mapping[str, Any]) -> list[str]:
    """The kinds of problems as a table, the most frequent first."""
    ranked = sorted(answer["totals"], key=lambda each: (-each["count"], -each["total"]))
    if not ranked:
        return []
    rows = [["Verdict", "Kind", "Event or reason", "State", "Instances", "Problems"]]
    for each in ranked[:KINDS]:
        what = each.get("clause") or each.get("event") or ""
        chip = f'<span class="chip {each["verdict"]}">{each["verdict"]}</span>'
        cells = [each["kind"], what, each.get("state", "")]
        rows.append([chip, *map(escape, cells), f"{each['total']:,}", f"{each['count']:,}"])
    left = len(ranked) - KINDS
    more = f"<p>and {left:,} more kinds</p>" if left > 0 else ""
    return [_table("", rows) + more]


def _rejected_rows(answer: Mapping[str, Any]) -> list[str]:
    return [
        f"<p><b>{_rows(each['total'])}</b>: {escape(each['reason'])}, for example "
        f"{' '.join(map(_example, each['first'], each['places']))}</p>"
        for each in answer["rejected"]["reasons"]
    ]


def _example(text: str, place: Mapping[str, Any]) -> str:
    at = where(place)
    return _value(text) + (f" ({escape(at)})" if at else "")


def where(place: Mapping[str, Any]) -> str:
    """The place of a rejected row: its file, and the number of the line or row."""
    at = f":{place['number']}" if place["number"] else ""
    return f"{place['file']}{at}" if place["file"] else ""


def _other_rows(answer: Mapping[str, Any]) -> list[str]:
    return [
        f"<p>{escape(name)}: {_rows(other['rows'])} in {other['instances']:,} "
        f"instance{'' if other['instances'] == 1 else 's'}, not replayed</p>"
        for name, other in answer["other_machines"].items()
    ]


def _instances(answer: Mapping[str, Any]) -> str:
    named = list(answer["by_instance"].items())
    rows = "".join(
        f'<li><span class="chip {verdict}">{verdict}</span> {escape(name)}</li>'
        for name, verdict in named[:LISTED]
    )
    rest = answer["instances"] - min(len(named), LISTED)
    more = f"<p>and {rest:,} more</p>" if rest > 0 else ""
    return f"<details><summary>All instances</summary><ul>{rows}</ul>{more}</details>"
