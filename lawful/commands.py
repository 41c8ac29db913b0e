"""What each command does; heavy engines are imported by the command that needs them."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lawful.checks.verdict import exit_code
from lawful.runtime.instance import Machine
from lawful.spec.codec import freeze as freezing
from lawful.spec.codec.as_json import to_json
from lawful.spec.flat import Flat
from lawful.spec.ir import Json
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.spec.text.declared import declaration
from lawful.spec.text.scoped import flat as flat_text
from lawful.spec.values.world import World
from lawful.spec.words import Expected

from . import targets
from .output import OutOfReach, answer, folder, save, save_all, write
from .progress import Tell, interruption, progress

if TYPE_CHECKING:
    from lawful.checks.explore import CheckResult
    from lawful.checks.explore.limits import Limits
    from lawful.checks.explore.result import Advice
    from lawful.checks.prove.result import ProofResult

What = tuple[Flat, World, Mapping[str, Expected]]
Run = Callable[[type[Machine], argparse.Namespace, What, Tell], "CheckResult"]

HOLDS, VIOLATED, UNKNOWN, FAULT = 0, 1, 3, 70


def check(given: argparse.Namespace) -> int:
    """explore every reachable state within the scope"""
    return _told(given, "check", _explored)


def simulate(given: argparse.Namespace) -> int:
    """walk at random through a machine that is too large to explore"""
    return _told(given, "simulate", _walked)


def lint(given: argparse.Namespace) -> int:
    """say what is odd about a declaration, though nothing in it is wrong"""
    from lawful.checks.explore.search import Limits
    from lawful.checks.lint import findings as linting
    from lawful.checks.lint import mutants

    texts: list[str] = []
    rows: list[Json] = []
    odd = False
    for cls in _machines(given):
        found = resolve(cls)
        scope = targets.scope_of(cls, given.scope)
        scoped = lower(found.machine, scope, abstract_scopes(found))
        limits = Limits(given.max_states)
        try:
            findings = linting.lint(scoped, found.world, limits)
            row = linting.to_json(cls.__name__, findings)
            said = linting.text(cls.__name__, findings)
            if given.mutants is not None:
                with progress(f"changing {cls.__name__}", given.quiet):
                    survey = mutants.survey(found, scope, given.mutants, limits)
                row |= {"mutants": mutants.to_json(survey)}
                said = f"{said}\n{mutants.text(survey)}"
        except ValueError as error:
            raise OutOfReach(str(error)) from error
        odd = odd or bool(findings)
        texts.append(said)
        rows.append(row)
    answer(given, "\n\n".join(texts), "lint", rows)
    return VIOLATED if odd else HOLDS


def _machines(given: argparse.Namespace) -> list[type[Machine]]:
    """The machines of the target. Those of its module that are left out are named on standard
    error, and in the JSON of the answer."""
    found, skipped = targets.chosen(given.target)
    given.skipped = [each._asdict() for each in skipped]
    for each in () if given.quiet else skipped:
        print(f"{each.machine} is left out: {each.why}", file=sys.stderr)
    return found


def _told(given: argparse.Namespace, command: str, run: Run) -> int:
    """Run it for every machine, write the files that are asked for, and say what came out."""
    from lawful.checks.report import exploration

    from . import exports

    found = [(cls, *_checked(cls, given, run)) for cls in _machines(given)]
    rows = [(cls, result) for cls, result, _ in found]
    texts = [exploration.check_text(result) for _, result, _ in found]
    # What was found is told first: a file that cannot be written must not take it away.
    answer(given, "\n\n".join(texts), command, [row for _, _, row in found])
    save_all(exports.of_checks(given, command, rows), given.itf, given.pytest)
    codes = ((exit_code(r.properties), _agreement(r)) for _, r, _ in found)
    return _gravest(code for both in codes for code in both)


def _gravest(codes: Iterable[int]) -> int:
    """What a command says of several machines: what is open hides no violation."""
    return max(codes, key=(HOLDS, UNKNOWN, VIOLATED, FAULT).index)


def _agreement(result: CheckResult) -> int:
    """70 where the runtime does something else, 3 where not everything was compared, else 0."""
    if result.played is not None and result.played.faults:
        return FAULT
    if result.embedded is None:
        return HOLDS
    return FAULT if result.embedded.differing else HOLDS if result.embedded.complete else UNKNOWN


def _checked(cls: type[Machine], given: argparse.Namespace, run: Run) -> tuple[CheckResult, Json]:
    from lawful.checks.explore import check, verdicts
    from lawful.checks.explore.space import Space
    from lawful.checks.report import exploration

    began = time.perf_counter()
    resolved = resolve(cls)
    scope = targets.scope_of(cls, given.scope)
    flat = lower(resolved.machine, scope, abstract_scopes(resolved))
    expects = targets.expectations(cls, given.scope)
    with progress(f"checking {cls.__name__}", given.quiet, given.progress) as tell:
        try:
            names = [name for name, _ in verdicts.rows(Space(flat, resolved.world))]
            for name in given.only:
                if name not in names:
                    known = ", ".join(names)
                    raise OutOfReach(f"{cls.__name__} has no property {name}; it has {known}")
            result = run(cls, given, (flat, resolved.world, expects), tell)
        except (ValueError, check.NoEngine) as error:
            raise OutOfReach(str(error)) from error
    result = _only(result, given.only)
    if any(p.trace is not None for p in result.properties):
        from lawful.checks.conform.trace_player import played

        result = played(cls, scope, result)
    total = time.perf_counter() - began
    return result, exploration.check_json(result, cls.lawful.fingerprint.whole, total)


def _explored(cls: type[Machine], given: argparse.Namespace, what: What, tell: Tell) -> CheckResult:
    from lawful.checks.conform import runtime_check
    from lawful.checks.explore import check
    from lawful.checks.explore.limits import resident
    from lawful.checks.explore.space import Space

    if given.max_memory is not None and not resident():
        raise OutOfReach("this system does not tell how much memory a process holds")

    def told(p: check.Progress) -> None:
        tell(
            f"{p.distinct:,} states, {p.distinct / p.seconds:,.0f} a second, depth {p.depth}, "
            f"{p.frontier:,} waiting, {resident() / 2**20:,.0f} MB"
        )

    with interruption() as stop:
        limits = check.Limits(
            given.max_states,
            given.max_seconds,
            given.first,
            given.max_memory,
            stop,
            given.resume,
            given.workers,
        )
        result = check.explore(
            *what,
            engine=given.engine,
            symmetry=given.symmetry,
            coverage=given.coverage,
            limits=limits,
            progress=told,
        )
        if given.advice:
            result = dataclasses.replace(result, advice=_advice(cls, given, limits))
        if not given.runtime:
            return result
        found = runtime_check.compare(
            Space(*what[:2]),
            cls,
            limits,
            lambda found: tell(f"{found.comparisons:,} calls in {found.states:,} states compared"),
        )
    return dataclasses.replace(result, embedded=found)


def _advice(cls: type[Machine], given: argparse.Namespace, limits: Limits) -> Advice:
    from lawful.checks.explore.advice import advise

    expects = targets.expectations(cls, given.scope)
    return advise(resolve(cls), targets.scope_of(cls, given.scope), expects, limits)


def _walked(cls: type[Machine], given: argparse.Namespace, what: What, tell: Tell) -> CheckResult:
    from lawful.checks.explore import simulate as walking

    with interruption() as stop:
        walks = walking.Walks(given.runs, given.steps, given.seed, given.max_seconds, stop)
        return walking.simulate(
            *what, walks, lambda p: tell(f"{p.frontier:,} walks, {p.distinct:,} states")
        )


def _only(result: CheckResult, names: Sequence[str]) -> CheckResult:
    kept = tuple(p for p in result.properties if not names or p.name in names)
    return dataclasses.replace(result, properties=kept)


def prove(given: argparse.Namespace) -> int:
    """prove invariants with Z3, for all integers"""
    try:
        from lawful.checks.report import proofs

        from . import exports, proving
    except ImportError as error:
        raise OutOfReach("prove needs Z3: pip install 'lawful[check]'") from error
    found: list[tuple[ProofResult, Mapping[str, Expected]]] = []
    classes = _machines(given)
    for cls in classes:
        with progress(f"proving {cls.__name__}", given.quiet) as tell:
            expects = targets.expectations(cls, given.scope)
            found.append((proving.proved(cls, given, tell), expects))
    proved = [(cls, *row) for cls, row in zip(classes, found, strict=True)]
    text = "\n\n".join(proofs.text(*row) for row in found)
    answer(given, text, "prove", [proofs.to_json(result) for result, _ in found])
    save_all(exports.of_proofs(given, proved), given.itf, given.smtlib)
    return _gravest(proofs.exit_code(*row) for row in found)


def draw(given: argparse.Namespace) -> int:
    """draw the control states with guards and outputs"""
    from lawful.diagrams.render import RenderError, render

    suffix = "mmd" if given.format == "mermaid" else given.format
    lines: list[str] = []
    rows: list[Json] = []
    classes = _machines(given)
    folder(given.out)
    for cls in classes:
        try:
            drawn = render(
                resolve(cls).machine, given.out / f"{cls.__name__}.{suffix}", given.format
            )
        except RenderError as error:
            raise OutOfReach(str(error)) from error
        lines.append(f"{drawn.path}{f'  ({drawn.note})' if drawn.note else ''}")
        rows.append({"machine": cls.__name__, "path": str(drawn.path), "format": drawn.format})
    answer(given, "\n".join(lines), "draw", rows)
    return HOLDS


def replay(given: argparse.Namespace) -> int:
    """replay recorded events against the machine"""
    from lawful.checks.replay import ReplayError, ReplayProgram
    from lawful.checks.replay import validation as replays
    from lawful.checks.replay.mapping import read_mapping
    from lawful.checks.report import replays as replay_report

    from . import exports

    machines = tuple(resolve(cls).machine for cls in _machines(given))
    with progress("replaying", given.quiet):
        try:
            mapping = None if given.mapping is None else read_mapping(given.mapping)
            program = ReplayProgram(machines, mapping=mapping)
            result = replays.replay(given.traces, program, given.engine, given.master)
        except (ReplayError, ValueError) as error:
            raise OutOfReach(str(error)) from error
    save_all(exports.of_replay(given, result), given.itf)
    if given.report is not None:
        save(given.report, replay_report.html(result))
    write(given, replay_report.text(result), result.to_json())
    return result.exit_code


def show(given: argparse.Namespace) -> int:
    """print the declaration, its IR or the machine with its scope"""
    found = _machines(given)
    irs = [to_json(resolve(cls).machine) for cls in found]
    if given.what == "ir":
        text = "\n".join(json.dumps(each, indent=1) for each in irs)
    elif given.what == "flat":
        scoped = [
            lower(r.machine, targets.scope_of(c, given.scope), abstract_scopes(r))
            for c, r in ((c, resolve(c)) for c in found)
        ]
        text = "\n\n".join(flat_text(each) for each in scoped)
    else:
        text = "\n\n".join(declaration(resolve(cls)) for cls in found)
    answer(given, text, "show", irs)
    return HOLDS


def export(given: argparse.Namespace) -> int:
    """write the machine as a TLA+ module with its configurations, for TLC"""
    from lawful.checks.tla import module

    written: list[tuple[str, module.Exported]] = []
    refused: dict[str, str] = {}
    for cls in _machines(given):
        found = resolve(cls)
        flat = lower(found.machine, targets.scope_of(cls, given.scope), abstract_scopes(found))
        try:
            made = module.export(flat, targets.expectations(cls, given.scope))
        except module.CannotWrite as error:
            refused[cls.__name__] = str(error)
            continue
        written.append((cls.__name__, made))
    if written:
        folder(given.out)
    lines: list[str] = []
    rows: list[Json] = []
    for name, made in written:
        paths = {
            "module": (given.out / f"{made.name}.tla", made.module),
            "config": (given.out / f"{made.name}.cfg", made.config),
            "safety": (given.out / f"{made.name}_safety.cfg", made.safety),
        }
        for path, text in paths.values():
            save(path, text)
            lines.append(str(path))
        lines += [f"  left out: {what}" for what in made.left_out]
        files = {kind: str(path) for kind, (path, _) in paths.items()}
        rows.append({"machine": name, **files, "left_out": list(made.left_out)})
    rows.extend({"machine": name, "refused": why} for name, why in refused.items())
    answer(given, "\n".join(lines) or "nothing is written", "export", rows)
    if refused:
        raise OutOfReach("\n".join(f"{name}: {why}" for name, why in refused.items()))
    return HOLDS


def lock(given: argparse.Namespace) -> int:
    """keep what is established of machines in a file, or say what of it is stale"""
    from . import locking

    classes = _machines(given)
    kept = locking.read(given.file)
    lines: list[str] = []
    rows: list[Json] = []
    for cls in classes:
        name = f"{given.target.partition(':')[0]}:{cls.__name__}"
        if given.stale:
            why = locking.stale(kept.get(name), cls)
            lines += [f"{name} {why}"] if why else []
            rows.append({"machine": name, "stale": bool(why)})
            continue
        with progress(f"{cls.__name__}", given.quiet) as tell:
            row = locking.established(cls, given, tell)
        said = list(locking.changes(kept.get(name), row)) or ["as before"]
        lines += [name, *(f"  {each}" for each in said)]
        rows.append({"machine": name, **row})
        kept[name] = row
    if not given.stale:
        locking.write(given.file, kept)
    answer(given, "\n".join(lines) or "nothing is stale", "lock", rows)
    return VIOLATED if given.stale and lines else HOLDS


def diff(given: argparse.Namespace) -> int:
    """what changed between two versions, and whether every state of the older one is taken over"""
    try:
        from . import differing
    except ModuleNotFoundError as error:
        raise OutOfReach("diff needs Z3: pip install 'lawful[check]'") from error
    old, new = (targets.machine(where) for where in (given.old, given.target))
    with progress(f"{new.__name__}", given.quiet):
        found = differing.between(old, new, given)
    answer(given, differing.text(found), "diff", [differing.to_json(found)])
    return differing.exit_code(found)


def freeze(given: argparse.Namespace) -> int:
    """write the IR beside a module, for deployments without its source"""
    name, found = targets.declared_in(given.target)
    try:
        path = freezing.write(name, found)
    except (freezing.CannotFreeze, OSError) as error:
        raise OutOfReach(str(error)) from error
    lines = "\n".join(f"  {cls.__name__}" for cls in found)
    names: list[Json] = [cls.__name__ for cls in found]
    frozen: dict[str, Json] = {
        "version": 1,
        "command": "freeze",
        "path": str(path),
        "machines": names,
    }
    write(given, f"{path}\n{lines}", frozen)
    return HOLDS
