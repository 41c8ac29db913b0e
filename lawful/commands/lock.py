"""`lawful lock`: a file of what was established of machines, which is committed beside them.

    file    := {"version": 1, "machines": {"module:Class" or "module:Class --scope K=V": machine}}
    machine := {"fingerprint", "scope": {name: bound}, "check": found, "prove": found}
    found   := {"engine", "properties": {name: {"verdict", "covers"?}}} and counts of states

A machine has an entry for each scope with which it was locked: that of the declaration, or of the
project, and those of `--scope`. An entry is stale when the machine's fingerprint has changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lawful import targets
from lawful.checks.conform.trace_player import played
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.prove import How, prove
from lawful.checks.prove.nonvacuity import Walk
from lawful.checks.report.lines import expected_text
from lawful.checks.smt.solver import cache
from lawful.checks.verdict import exit_code
from lawful.progress import Tell, progress
from lawful.project import Settings
from lawful.runtime.instance import Machine
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve
from lawful.targets import Chosen

from . import exports, files
from .errors import CommandError
from .exit_codes import ExitCode, gravest
from .options import LockOptions
from .output import Output

Entry = dict[str, Any]

VERSION = 1


def lock(options: LockOptions, output: Output) -> int:
    """Renew the entries of the target's machines in the file, or say which of them are stale."""
    chosen = output.chosen(options.targets)
    machines = {_name(each, options.scope): each.cls for each in chosen}
    kept = read(options.file)
    gone = _gone(kept, chosen, output.asked(options.targets))
    if options.stale and not options.scope:
        machines |= {
            name: each.cls for each in chosen for name in kept if name.startswith(_name(each, [""]))
        }
    if options.stale:
        return _report_stale(machines, kept, gone, output)
    return _renew(machines, kept, gone, options, output)


def _gone(kept: Mapping[str, Entry], chosen: Sequence[Chosen], asked: Sequence[str]) -> list[str]:
    """The entries that the targets had, and whose machine they have no longer."""
    found = {_place(each.target) for each in chosen}
    whole = [each for each in asked if ":" not in each]
    entries = {name: name.partition(" --scope ")[0] for name in kept}
    return [
        name
        for name, entry in entries.items()
        if _place(entry) not in found
        and any(_is_below(entry.rpartition(":")[0], each) for each in whole)
    ]


def _place(target: str) -> tuple[str | Path, str]:
    """The module or file of a machine, and its name: equal for two paths to one file."""
    where, _, name = target.rpartition(":")
    return Path(where).resolve() if where.endswith(".py") else where, name


def _is_below(where: str, target: str) -> bool:
    """Whether a file or module is a target, or in the folder or package that is one."""
    if where.endswith(".py"):
        return Path(where).is_relative_to(target)
    return f"{where}.".startswith(f"{target}.")


def _name(chosen: Chosen, scope: Sequence[str]) -> str:
    """The name of a machine's entry for a scope that is given beside the declaration's."""
    return chosen.target + "".join(f" --scope {each}" for each in scope)


def _report_stale(
    machines: Mapping[str, type[Machine]],
    kept: Mapping[str, Entry],
    gone: Sequence[str],
    output: Output,
) -> ExitCode:
    reasons = {name: stale(kept.get(name), cls) for name, cls in machines.items()}
    reasons |= dict.fromkeys(gone, "is gone: no target has it, with a scope")
    lines = [f"{name} {why}" for name, why in reasons.items() if why]
    rows: list[Json] = [{"machine": name, "stale": bool(why)} for name, why in reasons.items()]
    output.answer("\n".join(lines) or "nothing is stale", rows)
    return ExitCode.VIOLATED if lines else ExitCode.AS_EXPECTED


def _renew(
    machines: Mapping[str, type[Machine]],
    kept: Mapping[str, Entry],
    gone: Sequence[str],
    options: LockOptions,
    output: Output,
) -> int:
    """Explore and prove every machine, then write the file; the answer says what changed, and what
    is not as expected."""
    entries: dict[str, Entry] = {}
    lines: list[str] = []
    found: list[tuple[type[Machine], CheckResult]] = []
    for name, cls in machines.items():
        with progress(cls.__name__, output.quiet) as tell:
            entries[name], explored = established(cls, options, output.settings(cls), tell)
        differences = list(changes(kept.get(name), entries[name])) or ["as before"]
        lines += [name, *(f"  {each}" for each in (*differences, *_surprises(explored)))]
        found.append((cls, explored))
    lines += [f"{name}\n  gone" for name in gone]
    rest = {name: row for name, row in kept.items() if name not in gone}
    write(options.file, {**rest, **entries})
    output.answer("\n".join(lines), [{"machine": name, **row} for name, row in entries.items()])
    if options.itf is not None:
        files.save_all(_traces(options.itf, found), options.itf)
    return gravest(exit_code(explored.properties) for _, explored in found)


def _traces(folder: Path, found: Sequence[tuple[type[Machine], CheckResult]]) -> exports.Files:
    """The counterexamples as files of `--itf`."""
    for cls, explored in found:
        for p in explored.properties:
            yield from exports.counterexample(folder, resolve(cls).machine, p)


def _surprises(explored: CheckResult) -> Iterator[str]:
    """The properties with another verdict than the expected one, a line each."""
    for p in explored.properties:
        if not p.as_expected:
            yield f"{p.name} is {p.verdict.value}  {expected_text(p)}"


def read(path: Path) -> dict[str, Entry]:
    """The entries of a file; none if there is no file.

    Raises CommandError if the file cannot be read or is no lock file.
    """
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    known = cast(Entry, data) if isinstance(data, dict) else {}
    kept, version = known.get("machines"), known.get("version")
    if not isinstance(kept, dict):
        raise CommandError(f"{path} is not a file of lawful lock: it has no machines")
    if version != VERSION:
        raise CommandError(f"{path} is of version {version}; this lawful reads {VERSION}")
    return cast(dict[str, Entry], kept)


def write(path: Path, machines: Mapping[str, Entry]) -> None:
    """Write the file, as a whole or not at all. Equal entries give equal texts.

    Raises CommandError where it cannot be written.
    """
    text = json.dumps({"version": VERSION, "machines": machines}, indent=1, sort_keys=True) + "\n"
    files.save(path, text)


def established(
    cls: type[Machine], options: LockOptions, settings: Settings, tell: Tell
) -> tuple[Entry, CheckResult]:
    """Explore and prove a machine: its entry, and what exploration found."""
    machine = targets.scoped(cls, (*settings.scope, *options.scope), settings.expects)
    tell("checking")
    limits = Limits(seconds=options.max_seconds)
    try:
        explored = explore(machine.flat, machine.world, machine.expects, limits=limits)
        explored = played(cls, machine.scope, explored)
    except ValueError as error:
        raise CommandError(str(error)) from error
    tell("proving")
    sizes = {name: size for name, size in machine.scope.bounds.items() if type(size) is int}
    walk = Walk(machine.flat, machine.world)
    with cache.kept_in(cache.users()):
        proofs = prove(
            machine.resolved.machine,
            sizes=sizes,
            how=How(effort=options.solver.effort),
            progress=tell,
            transitions_seen=walk.met,
            guards_needed=walk.needed,
        )
    counts = ("complete", "distinct", "generated", "depth", "cuts")
    entry: Entry = {
        "fingerprint": machine.fingerprint,
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
    return entry, explored


def changes(old: Entry | None, new: Entry) -> Iterator[str]:
    """The differences between two entries, a line each."""
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


def stale(row: Entry | None, cls: type[Machine]) -> str:
    """Why an entry is stale, or nothing where it is not."""
    if row is None:
        return "is not in the file"
    now = cls.lawful.fingerprint.whole
    return "" if row["fingerprint"] == now else f"has changed: {row['fingerprint']} -> {now}"
