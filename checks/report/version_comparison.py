"""Two versions of a machine over one trace, as text and as JSON."""

from __future__ import annotations

from typing import Any

from lawful.spec.ir import Json

from ..replay.studies.version_comparison import Change, VersionComparison
from ..replay.validation import ReplayResult
from . import replays


def text(found: VersionComparison) -> str:
    """What is newly illegal and newly legal, with an example of each kind."""
    old, new = (
        ", ".join(f"{name} {s.fingerprint}" for name, s in each.program.steppers.items())
        for each in (found.old, found.new)
    )
    lines = [f"{old} -> {new}"]
    for before, now in found.moved:
        count = found.moved[before, now]
        arrow = f"{before} -> {now}" if before != now else f"{now} in both"
        lines.append(f"  {count:,} instance{'s' * (count != 1)}: {arrow}")
    kinds = (("illegal", found.illegal, found.new), ("legal", found.legal, found.old))
    for name, changes, result in kinds:
        rows = sum(each.rows for each in changes)
        lines.append(f"newly {name}: {rows:,} event{'s' * (rows != 1)}")
        lines += [f"  {_change(each, result)}" for each in changes]
    return "\n".join(lines)


def _change(each: Change, result: ReplayResult) -> str:
    """A kind of row, with the first of them; `result` is of the version that deviates."""
    told = result.told(each.machine, each.instance, each.finding)
    much = f"{each.rows:,} rows of {each.instances:,} instances, the first: " * (each.rows > 1)
    return f"{much}{replays.headline(told)}: {replays.clause(told)}"


def _finding(each: Change) -> dict[str, Any]:
    found = each.finding
    return {
        "instance": each.instance,
        "index": found.index,
        "kind": found.kind,
        "event": found.event,
        "control": found.control,
        "clause": found.clause,
        "state": dict(found.state),
        "details": dict(found.details),
    }


def to_json(found: VersionComparison) -> dict[str, Json]:
    """The comparison as `lawful replay --against` writes it."""
    steppers = found.new.program.steppers
    fingerprints: dict[str, Json] = {
        name: [found.old.program.steppers[name].fingerprint, stepper.fingerprint]
        for name, stepper in steppers.items()
    }
    moved: list[Json] = [
        {"old": old, "new": new, "instances": n} for (old, new), n in found.moved.items()
    ]
    return {
        "version": 1,
        "command": "replay",
        "fingerprints": fingerprints,
        "verdicts": moved,
        "newly_illegal": [_to_json(each) for each in found.illegal],
        "newly_legal": [_to_json(each) for each in found.legal],
    }


def _to_json(each: Change) -> Json:
    counts: dict[str, Json] = {"rows": each.rows, "instances": each.instances}
    return {"machine": each.machine, **counts, "first": _finding(each)}
