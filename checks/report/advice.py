"""The advice on a scope (`lawful check --advice`) as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lawful.spec.ir import Json

from ..explore.result import Advice, Narrow, OneMore, Widened

COMPARED = "compared: which transitions fire, and the verdicts; larger scopes were not explored"


def text(advice: Advice) -> list[str]:
    """The advice, line by line."""
    if advice.widened is None:
        return [f"advice: none, the scope was not explored to its end: {_stopped(advice.why)}"]
    lines = [f"advice, within {advice.seconds:g} s"]
    for bound, count in advice.cuts:
        lines.append(f"  {bound.key}: its {bound.side} end cuts {_steps(count)}")
    for row in advice.narrow:
        end, names = f"{row.bound.key}: its {row.bound.side} end", ", ".join(row.arguments)
        lines.append(f"  {end} leaves out arguments that may be a step: {names}")
    lines += [f"  {serial}: what holds with so few may not with all" for serial in advice.serials]
    for name, count in advice.constraints.items():
        lines.append(f"  {name}, a constraint, cuts {_steps(count)}; it is no bound")
    explored = " that was explored" if advice.narrow or advice.serials else ""
    lines.append(f"  {_widened(advice.widened, explored)}")
    endless = dict.fromkeys(name for row in advice.narrow for name in row.endless)
    if endless:
        text = "no bound has all values, for there is no end of them"
        lines.append(f"  {text}: {', '.join(endless)}")
    lines += [f"  {line}" for row in advice.sizes for line in _one_more(row)]
    if advice.sizes:
        lines.append(f"  {COMPARED}")
    if advice.not_generated:
        lines.append(f"  slow: steps cannot be generated for {advice.not_generated}")
    return lines


def _steps(count: int) -> str:
    return f"{count:,} step{'' if count == 1 else 's'}"


def _widened(found: Widened, explored: str) -> str:
    given = " ".join(f"{key}={value}" for key, value in spelled(found.changes).items())
    if found.why:
        came = f"; the last one tried was {given}" if given else ""
        return f"no scope without cuts was found: {_stopped(found.why)}{came}"
    if not found.changes:
        return f"no bound cuts a step{explored}"
    return f"no bound cuts with {given}; with less, some bound does: {found.distinct:,} states"


def _stopped(why: str) -> str:
    """Why a search ended early, as a sentence."""
    words = {
        "seconds": "the time limit was reached",
        "states": "the limit on states was reached",
        "memory": "the memory limit was reached",
        "asked": "it was stopped",
    }
    return words.get(why, why)


def spelled(changes: Mapping[str, object]) -> dict[str, str]:
    """Bounds as `key=value` pairs name them: a number, or `low..high`."""
    return {
        key: f"{value.start}..{value.stop - 1}" if isinstance(value, range) else str(value)
        for key, value in changes.items()
    }


def _one_more(row: OneMore) -> Iterator[str]:
    head = f"{row.sort}={row.size}"
    if row.verdicts is None:
        yield f"{head}: not explored to its end: {_stopped(row.why)}"
        return
    changes = [f"{name} fires" for name in row.fired]
    changes += [f"{name} fires no more" for name in row.no_more]
    changes += [f"{name} is {new}, not {old}" for name, (old, new) in row.verdicts.items()]
    every = "every other verdict" if row.open else "every verdict"
    text = "; ".join(changes) or f"the same transitions fire, and {every} is the same"
    yield f"{head}: {text} ({row.distinct:,} states)"
    if row.open:
        yield f"{head}: not compared, because the verdict is unknown: {', '.join(row.open)}"


def to_json(advice: Advice) -> Json:
    """The advice as JSON."""
    cuts: list[Json] = [
        {"bound": bound.key, "end": bound.side, "steps": count} for bound, count in advice.cuts
    ]
    sizes: list[Json] = [_size(row) for row in advice.sizes]
    why = advice.not_generated
    slow: dict[str, Json] = {"engine": "reference", "not_generated": why} if why else {}
    return {
        "seconds": advice.seconds,
        **slow,
        "cuts": cuts,
        "left_out": [_narrow(row) for row in advice.narrow],
        "serials": list(advice.serials),
        "constraints": dict(advice.constraints),
        "without_cuts": None if advice.widened is None else _without_cuts(advice.widened),
        "one_more": sizes,
        "why": advice.why,
    }


def _narrow(row: Narrow) -> Json:
    return {
        "bound": row.bound.key,
        "end": row.bound.side,
        "arguments": list(row.arguments),
        "endless": list(row.endless),
    }


def _without_cuts(found: Widened) -> Json:
    scope: dict[str, Json] = dict(spelled(found.changes))
    return {
        "found": not found.why,
        "why": found.why,
        "scope": scope,
        "distinct": found.distinct,
    }


def _size(row: OneMore) -> Json:
    verdicts: dict[str, Json] = {
        name: {"before": old, "after": new} for name, (old, new) in (row.verdicts or {}).items()
    }
    return {
        "sort": row.sort,
        "size": row.size,
        "complete": row.verdicts is not None,
        "why": row.why,
        "distinct": row.distinct,
        "fires": list(row.fired),
        "fires_no_more": list(row.no_more),
        "verdicts": verdicts,
        "not_compared": list(row.open),
    }
