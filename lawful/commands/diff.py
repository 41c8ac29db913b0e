"""`lawful diff`: the changes between two versions of a machine, and proofs about older states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful import targets
from lawful.checks.prove.migration import Versions, evolve
from lawful.checks.prove.result import Obligation
from lawful.checks.smt.solver import cache
from lawful.checks.smt.symbolic_states import properties_of
from lawful.checks.verdict import Verdict
from lawful.diagrams.chart import chart
from lawful.diagrams.chart_difference import difference
from lawful.diagrams.render import Drawn, RenderError, render_chart
from lawful.progress import progress
from lawful.runtime.instance import Machine
from lawful.spec.codec.as_json import Fingerprints
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve
from lawful.spec.text.reasons import text as value_text
from lawful.spec.text.version_changes import VersionChange, version_changes
from lawful.spec.verdicts import PROVED

from .draw import SUFFIX, named, shown
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

    @property
    def changes(self) -> tuple[VersionChange, ...]:
        """What the newer version lost, won and changed."""
        return version_changes(self.versions.old, self.versions.new)

    @property
    def assumed(self) -> list[str]:
        """The invariants and assumptions of the older version, which a state of it is believed to
        satisfy."""
        return [j.name for j in properties_of(self.versions.old, "assume", "invariant")]

    def unapproved(self, approved: Sequence[str]) -> list[str]:
        """The names of what was lost and is not approved."""
        return [c.name for c in self.changes if c.change == "lost" and c.name not in approved]


def diff(options: DiffOptions, output: Output) -> int:
    """Compare two versions, and prove that the newer one takes over all that the older allows."""
    old, new = targets.machine(options.old), targets.machine(options.target)
    with progress(new.__name__, output.quiet):
        found = between(old, new, options)
    losses = _unapproved(found, options)
    drawn = _drawn(found, options, output) if options.format else None
    lines = [text(found), *(f"lost without --approve: {name}" for name in losses)]
    row = to_json(found)
    row["unapproved"] = [*losses]
    if drawn is not None:
        lines += shown(drawn, options)
        row["picture"] = named(drawn, options)
    output.answer("\n".join(lines), [row])
    return ExitCode.VIOLATED if losses else exit_code(found)


def _unapproved(found: Difference, options: DiffOptions) -> list[str]:
    """What was lost and must not be. Raises CommandError for an approval of a loss that is none."""
    lost = {each.name for each in found.changes if each.change == "lost"}
    for name in options.approve:
        if name not in lost:
            raise CommandError(f"--approve {name}: {found.versions.new.name} does not lose it")
    return found.unapproved(options.approve) if options.no_loss else []


def _drawn(found: Difference, options: DiffOptions, output: Output) -> Drawn:
    """Write the diagram of both versions in one. Raises CommandError."""
    old, new = found.versions.old, found.versions.new
    name = f"{new.name}.diff.{SUFFIX.get(options.format, options.format)}"
    shown, kept = difference(chart(old), chart(new)), options.out is not None
    try:
        with output.pictures(options.out) as folder:
            return render_chart(shown, folder / name, options.format, instead=kept)
    except RenderError as error:
        raise CommandError(str(error)) from error


def between(old: type[Machine], new: type[Machine], options: DiffOptions) -> Difference:
    """Compare the versions, and prove what can be proved of the older version's states.

    Raises CommandError where `--renamed` is malformed, or where it or `--dropped` names a variable
    that was not renamed or dropped.
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
    lines += [f"  {each}" for each in found.changes]
    good = sum(o.verdict.proved for o in found.obligations)
    counts = f"{good} of {len(found.obligations)} proved"
    lines.append(f"states of the older version taken over: {counts}")
    covers = {o.covers for o in found.obligations}
    lines += [f"  covers     {each}" for each in sorted(covers)]
    if found.assumed:
        what = f"the older version's invariants and assumptions ({len(found.assumed)})"
        lines.append(f"  assumes    {what}; `lawful prove OLD` says whether it keeps them")
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


def to_json(found: Difference) -> dict[str, Json]:
    """The difference as one row."""
    return {
        "machine": found.versions.new.name,
        "fingerprints": [each.whole for each in found.fingerprints],
        "shapes": [each.shape for each in found.fingerprints],
        "renamed": dict(found.versions.renamed),
        "dropped": list(found.versions.dropped),
        "vanished": [each for each in found.versions.lost() if each not in found.versions.dropped],
        "changes": list(found.versions.lines()),
        "behaviour": [
            {"change": c.change, "kind": c.kind, "name": c.name, "detail": c.detail}
            for c in found.changes
        ],
        "assumed": [*found.assumed],
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
