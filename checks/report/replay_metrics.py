"""Results of `replay` as metrics: counts in the text format of OpenMetrics, for alerts.

Source: the OpenMetrics specification 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..replay import ReplayResult

PREFIX = "lawful_replay"
Labels = Mapping[str, str]


def metrics(result: ReplayResult) -> str:
    """The counts of the result, one line each, all as gauges."""
    answer: Any = result.to_json()
    lines: list[str] = []
    for name, help, samples in _families(answer):
        lines += [f"# TYPE {PREFIX}_{name} gauge", f"# HELP {PREFIX}_{name} {help}"]
        lines += [f"{PREFIX}_{name}{_labels(labels)} {value}" for labels, value in samples]
    return "\n".join([*lines, "# EOF", ""])


def _families(answer: Any) -> Iterator[tuple[str, str, list[tuple[Labels, float]]]]:
    machines = answer["machines"]
    rows: list[tuple[Labels, float]] = [
        ({"machine": m["machine"], "verdict": verdict}, count)
        for m in machines
        for verdict, count in m["verdicts"].items()
    ]
    if answer["unknown_machine"]:
        rows.append(({"verdict": "quarantined"}, answer["unknown_machine"]))
    yield "instances", "Instances with a verdict; without `machine`, of no known machine.", rows
    yield (
        "events",
        "Events of the instances.",
        [({"machine": m["machine"]}, m["events"]) for m in machines],
    )
    rows = [
        ({"machine": m["machine"], "count": name}, count)
        for m in machines
        for name, count in m["counts"].items()
    ]
    yield "counts", "What docs/replay.md counts.", rows
    rows = [
        (
            {"machine": m["machine"]}
            | {k: str(each[k] or "") for k in ("verdict", "kind", "event", "state") if k in each},
            each["count"],
        )
        for m in machines
        for each in _by_signature(m["totals"])
    ]
    yield "problems", "Problems of one kind: verdict, category, event, control state.", rows
    rows = [
        ({"machine": m["machine"], "transition": name}, count)
        for m in machines
        for name, count in m["coverage"]["transitions"].items()
    ]
    yield "transitions", "How often a transition was taken.", rows
    rows = [({"reason": e["reason"]}, e["total"]) for e in answer["rejected"]["reasons"]]
    rows = rows or [({}, 0)]  # An alert on a metric without a sample would be silent.
    yield "rejected_rows", "Rows that belong to no instance.", rows
    yield "seconds", "How long the replay took.", [({}, answer["seconds"])]


def _by_signature(totals: Any) -> list[Mapping[str, Any]]:
    """The totals, those of quarantined instances together: each clause would be a time series."""
    kept = [each for each in totals if "clause" not in each]
    rest = sum(each["count"] for each in totals if "clause" in each)
    quarantined = {"verdict": "quarantined", "kind": "quarantined", "count": rest}
    return [*kept, *([quarantined] if rest else [])]


def _labels(labels: Labels) -> str:
    told = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{told}}}" if told else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
