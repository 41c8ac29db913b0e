"""A survey of mutants as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lawful.spec.ir import Json

from .mutants import Mutant
from .survey import Survey


def text(survey: Survey) -> str:
    """How many mutants survived, and which, each as a change of its line; the same of those that
    are not decided, of marks and of those that are no machines."""
    of = f"of {survey.tried} mutants"
    by = ", ".join(f"{n} by {name}" for name, n in sorted(survey.noticed.items()))
    bounds = ", ".join(f"{key} = {value}" for key, value in survey.scope.items()) or "no bounds"
    lines = [f"  {sum(survey.noticed.values())} {of} are noticed ({by or 'by nothing'})"]
    lines.append(f"  within the scope: {bounds}")
    survived, undecided = survey.of("survived"), survey.of("undecided")
    if survived:
        lines += [f"  {len(survived)} {of} survive: nothing notices them", *_lines(survived)]
    if undecided:
        why = "the scope or a limit leaves open whether a property notices them"
        lines += [f"  {len(undecided)} {of} are undecided: {why}", *_lines(undecided)]
    if survey.marked:
        lines.append(f"  {len(survey.marked)} {of} are marked as equivalent")
    for mark, judgement in survey.wrong:
        lines.append(
            f"  wrong mark: {mark.machine}.{mark.row}: {mark.change}: {judgement.by} notices it"
        )
    for mark in survey.stale:
        lines.append(
            f"  stale mark: {mark.machine}.{mark.row}: {mark.change}: no mutant of {mark.line!r}"
        )
    slow = [each for _, each in survey.judged if each.not_generated]
    if slow:
        why = f"steps cannot be generated for {slow[0].not_generated}"
        lines.append(f"  explored {len(slow)} by the reference engine: {why}")
    return "\n".join(lines)


def _lines(found: Iterable[Mutant]) -> Iterator[str]:
    for each in found:
        yield f"    {each.place}: {each.change.operator}: {each.owner}.{each.what}"
        yield from (f"      {line}" for line in each.diff())


def to_json(survey: Survey) -> Json:
    """The same as JSON."""
    out: dict[str, Json] = {
        "tried": survey.tried,
        "possible": survey.every,
        "noticed": dict(survey.noticed),
        "survived": _rows(survey.of("survived")),
        "undecided": _rows(survey.of("undecided")),
        "marked": [_row(mutant) | {"because": mark.because} for mutant, mark in survey.marked],
        "engines": dict(survey.engines),
    }
    slow = dict.fromkeys(each.not_generated for _, each in survey.judged if each.not_generated)
    if slow:
        out["not_generated"] = list(slow)
    for name, marks in (
        ("wrong_marks", [m for m, _ in survey.wrong]),
        ("stale_marks", survey.stale),
    ):
        if marks:
            out[name] = [f"{mark.machine}.{mark.row}: {mark.change}" for mark in marks]
    return out


def _rows(found: Iterable[Mutant]) -> list[Json]:
    return [_row(each) for each in found]


def _row(each: Mutant) -> dict[str, Json]:
    return {
        "file": each.place.file,
        "line": each.place.line,
        "operator": each.change.operator,
        "machine": each.owner,
        "what": each.what,
        "diff": list(each.diff()),
    }
