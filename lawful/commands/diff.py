"""`lawful diff`: the changes between two versions of a machine, and proofs about older states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lawful import targets
from lawful.checks.prove.migration import Versions, evolve
from lawful.checks.prove.result import Obligation
from lawful.checks.smt.solver import cache
from lawful.checks.verdict import Verdict
from lawful.progress import progress
from lawful.runtime.instance import Machine
from lawful.spec.codec.as_json import Fingerprints
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve
from lawful.spec.text.reasons import text as value_text
from lawful.spec.verdicts import PROVED

from .errors import CommandError
from .exit_codes import ExitCode
from .options import DiffOptions
from .output import Output
from .prove import workers


@dataclass(frozen=True)
class Difference:
    """Two versions, their fingerprints, and the obligations about the older version's states."""

    versions: Versions
    fingerprints: tuple[Fingerprints, Fingerprints]
    obligations: tuple[Obligation, ...]


def diff(options: DiffOptions, output: Output) -> int:
    """Compare two versions, and prove that the newer one takes over every state of the older."""
    old, new = targets.machine(options.old), targets.machine(options.target)
    with progress(new.__name__, output.quiet):
        found = between(old, new, options)
    output.answer(text(found), [to_json(found)])
    return exit_code(found)


def between(old: type[Machine], new: type[Machine], options: DiffOptions) -> Difference:
    """Compare the versions, and prove what can be proved of the older version's states.

    Raises CommandError where `--renamed` is malformed, or it or `--dropped` names what is not so.
    """
    pairs = [each.partition("=") for each in options.renamed]
    if not all(name and was for name, _, was in pairs):
        raise CommandError(f"--renamed {' '.join(options.renamed)}: expected NEW=OLD")
    renamed = {name: was for name, _, was in pairs}
    versions = Versions.of(resolve(old), resolve(new), renamed, options.dropped)
    bounds = targets.scope_of(new, options.scope).bounds
    sizes = {name: size for name, size in bounds.items() if type(size) is int}
    try:
        with cache.kept_in(cache.users()):
            found = evolve(versions, sizes, options.solver.effort, workers())
    except ValueError as error:
        raise CommandError(str(error)) from error
    return Difference(versions, (old.lawful.fingerprint, new.lawful.fingerprint), tuple(found))


def text(found: Difference) -> str:
    """The comparison as text."""
    old, new = found.fingerprints
    lines = [f"{found.versions.old.name} -> {found.versions.new.name}"]
    for kind in ("shape", "behaviour", "whole"):
        was, now = getattr(old, kind), getattr(new, kind)
        lines.append(f"  {kind:<9}  {f'{was} -> {now}' if was != now else 'the same'}")
    lines += [f"  {line}" for line in found.versions.lines()]
    good = sum(o.verdict.proved for o in found.obligations)
    counts = f"{good} of {len(found.obligations)} proved"
    lines.append(f"states of the older version taken over: {counts}")
    covers = {o.covers for o in found.obligations}
    lines += [f"  covers     {each}" for each in sorted(covers)]
    for o in found.obligations:
        note = f"  {o.note}" if o.note else ""
        lines.append(f"  {o.property}: {o.verdict.value}{note}")
        lines += [f"    {line}" for line in _shown(o)]
    return "\n".join(lines)


def _shown(o: Obligation) -> Iterator[str]:
    for key, title in (("state", "a state that the older invariants allow"), ("after", "becomes")):
        rows = (o.counterexample or {}).get(key)
        if isinstance(rows, Mapping):
            yield title
            yield from (f"  {name} = {value_text(value)}" for name, value in rows.items())


def to_json(found: Difference) -> Json:
    """The difference as one row."""
    return {
        "machine": found.versions.new.name,
        "fingerprints": [each.whole for each in found.fingerprints],
        "shapes": [each.shape for each in found.fingerprints],
        "renamed": dict(found.versions.renamed),
        "dropped": list(found.versions.dropped),
        "vanished": [each for each in found.versions.lost() if each not in found.versions.dropped],
        "changes": list(found.versions.lines()),
        "obligations": [
            {
                "property": o.property,
                "obligation": o.obligation,
                "verdict": o.verdict.value,
                "covers": o.covers,
                "seconds": round(o.seconds, 4),
                "note": o.note,
                "counterexample": None if o.counterexample is None else dict(o.counterexample),
            }
            for o in found.obligations
        ],
    }


def exit_code(found: Difference) -> ExitCode:
    """Whether every state is taken over, one is not, or it is unknown."""
    verdicts = {o.verdict for o in found.obligations}
    if Verdict.VIOLATED in verdicts:
        return ExitCode.VIOLATED
    return ExitCode.AS_EXPECTED if verdicts <= PROVED else ExitCode.UNKNOWN
