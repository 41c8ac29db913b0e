"""`lawful lock`: what was established of machines, in a file that is kept beside them.

    file    := {"version": 1, "machines": {"module:Class": machine}}
    machine := {"fingerprint", "scope": {name: bound}, "check": found, "prove": found}
    found   := {"engine", "properties": {name: {"verdict", "covers"?}}} and counts of states

A machine whose fingerprint is another one is stale: what stands there was said of something else.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from lawful.checks.conform.trace_player import played
from lawful.checks.explore import Limits, explore
from lawful.checks.prove import How, prove
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.checks.smt.solver import cache
from lawful.runtime.instance import Machine
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve

from . import targets
from .output import OutOfReach
from .progress import Tell
from .proving import effort

Row = dict[str, Any]


def read(path: Path) -> dict[str, Row]:
    """The machines in a file; none where there is no file.

    Raises OutOfReach for what is no such file.
    """
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise OutOfReach(f"{path} cannot be read: {error}") from error
    kept = cast(Row, data).get("machines") if isinstance(data, dict) else None
    if not isinstance(kept, dict) or cast(Row, data).get("version") != 1:
        raise OutOfReach(f"{path} is no file of lawful lock: version 1 and machines are expected")
    return cast(dict[str, Row], kept)


def write(path: Path, machines: Mapping[str, Row]) -> None:
    """Write the file, as a whole or not at all; equal findings are equal texts.

    Raises OutOfReach where it cannot be written.
    """
    text = json.dumps({"version": 1, "machines": machines}, indent=1, sort_keys=True) + "\n"
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OutOfReach(f"cannot write {path}: {error.strerror}") from error


def established(cls: type[Machine], given: argparse.Namespace, tell: Tell) -> Row:
    """What exploration and proofs say of a machine now."""
    found, scope = resolve(cls), targets.scope_of(cls, [])
    flat = lower(found.machine, scope, abstract_scopes(found))
    tell("checking")
    limits = Limits(seconds=given.max_seconds)
    try:
        explored = explore(flat, found.world, found.expects, limits=limits)
        explored = played(cls, scope, explored)
    except ValueError as error:
        raise OutOfReach(str(error)) from error
    tell("proving")
    sizes = {name: size for name, size in scope.bounds.items() if type(size) is int}
    with cache.kept_in(cache.users()):
        proofs = prove(
            found.machine,
            sizes=sizes,
            how=How(effort=effort(given)),
            progress=tell,
            transitions_seen=lambda: transitions_seen(flat, found.world),
        )
    counts = ("complete", "distinct", "generated", "depth", "cuts")
    return {
        "fingerprint": cls.lawful.fingerprint.whole,
        "scope": dict(explored.scope),
        "check": {
            "engine": "exploration",
            **{name: getattr(explored, name) for name in counts},
            "properties": {p.name: {"verdict": p.verdict.value} for p in explored.properties},
        },
        "prove": {
            "engine": "induction",
            "properties": {
                p.name: {"verdict": p.verdict.value, "covers": p.covers}
                for p in proofs.properties
                if p.method != "none"
            },
        },
    }


def changes(old: Row | None, new: Row) -> Iterator[str]:
    """What is said now and was not said before."""
    if old is None:
        yield "new"
        return
    for kind in ("check", "prove"):
        before, after = old[kind]["properties"], new[kind]["properties"]
        for name in sorted({*before, *after}):
            one, two = (row.get(name, {}).get("verdict", "not asked") for row in (before, after))
            if one != two:
                yield f"{kind} {name}: {one} -> {two}"
    for count in ("distinct", "generated", "depth"):
        one, two = old["check"][count], new["check"][count]
        if one != two:
            yield f"{count}: {one:,} -> {two:,}"


def stale(row: Row | None, cls: type[Machine]) -> str:
    """Why what is kept of a machine is not of the machine as it is; nothing where it is."""
    if row is None:
        return "is not in the file"
    now = cls.lawful.fingerprint.whole
    return "" if row["fingerprint"] == now else f"is another one now: {row['fingerprint']} -> {now}"
