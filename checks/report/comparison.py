"""The text and the JSON of a comparison of the exploration with the runtime (`check --runtime`)."""

from __future__ import annotations

from lawful.spec.ir import Json

from ..explore.result import OURS, Comparison

WHY = "a comparison with generated steps would not show what these and the runtime do wrong alike"
OTHER = f"the reference engine found these states and outcomes anew: {WHY}"


def text(found: Comparison) -> list[str]:
    """The comparison as text; the first line says how much was compared."""
    by = ", ".join(f"{count:,} {name}" for name, count in found.outcomes.most_common())
    counts = f"{found.states:,} states, {len(found.events)} events, {found.comparisons:,} calls"
    agree = "all agree" if not found.differing else f"{found.differing:,} DISAGREE"
    lines = [f"{counts}, {agree} ({by})", OTHER]
    if not found.complete:
        lines.append("stopped before every state was compared: nothing is known of the others")
    if found.set_aside:
        lines.append(f"{found.set_aside:,} faults not compared: instances have no ghosts")
    if found.narrowed:
        names = ", ".join(found.narrowed)
        lines.append(f"{names}: too many arguments; those that are certainly refused are left out")
    return lines


def disagreement_lines(found: Comparison) -> list[str]:
    """The disagreements that were kept, and the number of the others."""
    lines = [f"the runtime differs from the reference engine, {OURS}"] if found.differing else []
    for each in found.disagreements:
        args = ", ".join(f"{name}={value}" for name, value in each.args.items())
        lines += [f"{each.event}({args})"]
        lines += [f"  in        {name} = {value}" for name, value in each.state.items()]
        lines += [f"  explored  {each.explored}", f"  embedded  {each.embedded}"]
    if found.differing > len(found.disagreements):
        lines.append(f"and {found.differing - len(found.disagreements):,} more")
    return lines


def to_json(found: Comparison) -> Json:
    """The comparison as JSON, for the answer of `lawful check`."""
    rows: list[Json] = [
        {
            "state": dict(each.state),
            "event": each.event,
            "args": dict(each.args),
            "explored": each.explored,
            "embedded": each.embedded,
        }
        for each in found.disagreements
    ]
    return {
        "engine": "reference",
        "why": WHY,
        "states": found.states,
        "events": len(found.events),
        "comparisons": found.comparisons,
        "outcomes": dict(found.outcomes),
        "complete": found.complete,
        "set_aside": found.set_aside,
        "narrowed": list(found.narrowed),
        "differing": found.differing,
        "disagreements": rows,
    }
