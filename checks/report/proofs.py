"""Results of `prove` as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lawful.spec.ir import Json
from lawful.spec.text import statements
from lawful.spec.text.reasons import text as value_text
from lawful.spec.verdicts import FAULTS
from lawful.spec.words import Expected

from .. import verdict
from ..explore.traces import trace_json
from ..prove.result import NOT_ASKED as NONE
from ..prove.result import Obligation, ProofResult, PropertyProof, Proposal
from ..verdict import PropertyResult, Verdict
from .lines import INDENT, expected_text, table, trace_text, verdict_text, wrapped


def text(result: ProofResult, expects: Mapping[str, Expected]) -> str:
    """The result as text: the table of properties, then every open obligation."""
    counted = result.counted
    proved = sum(o.verdict.proved for o in counted)
    counts = f"{proved} of {len(counted)} obligations proved, "
    before = sum(o.cached for o in counted)
    counts += f"{before} of them from the cache, " if before else ""
    done = f"{counts if counted else ''}{result.seconds:.1f} s (Z3)"
    lines = [result.machine, f"{INDENT}{'induction' if counted else 'runs':<9}  {done}"]
    asked = [p for p in result.properties if p.method != NONE]
    covers = _covers(asked)
    lines += [f"{INDENT}covers     {covers}"] if covers else []
    why = result.not_generated
    lines += [f"{INDENT}slow       steps cannot be generated for {why}"] if why else []
    slow = ", ".join(result.by_reference)
    lines += [f"{INDENT}slow       by the reference engine: {slow}"] if slow else []
    rows = [("property", "verdict", "method", "obligations", "seconds", "")]
    for p, judged in zip(asked, judgements(result, expects), strict=True):
        own = [o for o in counted if o.property == p.name]
        done = f"{sum(o.verdict.proved for o in own)}/{len(own)}" if own else ""
        spent = f"{sum(o.seconds for o in own):.2f}" if own else ""
        more = [p.covers.removeprefix(f"{covers}; "), expected_text(judged)]
        last = "  ".join(each for each in more if each and each != covers)
        rows.append((p.name, verdict_text(judged), p.method, done, spent, last))
    lines += ["", *(INDENT + line for line in table(rows))]
    lines += _left_open([o for o in counted if not o.verdict.proved])
    for p in asked:
        if p.trace is not None:
            lines += ["", f"{p.name} is {p.verdict.value} {p.note}"]
            lines += [INDENT + line for line in trace_text(p.trace)]
        elif p.note:
            lines.append(f"{p.name}: {p.note}")
    lines += _proposed(result)
    lines += [
        f"{g.place}: {g.transition} is never refused by {g.text}" for g in result.redundant_guards
    ]
    rest = [p.name for p in result.properties if p.method == NONE]
    lines += [f"for check, not for prove: {', '.join(rest)}"] if rest else []
    lines += (
        ["no property that it declares was proved or refuted here"] if _nothing_own(result) else []
    )
    return "\n".join(lines)


def _proposed(result: ProofResult) -> list[str]:
    """The clauses that strengthening found, as source text to paste."""
    proposal = result.proposal
    if proposal is None:
        return [f"strengthening found nothing: {result.no_proposal}"] if result.no_proposal else []
    proved = sum(o.verdict.proved for o in proposal.obligations)
    counts = f"{proved} of {len(proposal.obligations)} obligations are"
    lines = ["", f"with these {counts} proved"]
    for clause in proposal.clauses:
        lines += ["", *(INDENT * 2 + line for line in statements.property(clause))]
    return [*lines, ""]


def _covers(asked: Sequence[PropertyProof]) -> str:
    """What all verdicts cover; empty where they differ."""
    first = min((p.covers for p in asked), key=len, default="")
    return first if all(p.covers.startswith(first) for p in asked) else ""


def _nothing_own(result: ProofResult) -> bool:
    """Whether all declared properties are for exploration only, so that none was proved."""
    asked = [p for p in result.properties if p.method != NONE and p.name not in FAULTS]
    left = [p for p in result.properties if p.method == NONE and p.name != "deadlock"]
    return bool(left) and not asked


def judgements(result: ProofResult, expects: Mapping[str, Expected]) -> list[PropertyResult]:
    """The results of the properties that `prove` handles, with the expected verdicts."""
    return [judgement(p, expects) for p in result.properties if p.method != NONE]


def judgement(p: PropertyProof, expects: Mapping[str, Expected]) -> PropertyResult:
    """The result of one property with its expected verdict."""
    expected = expects.get(p.name, "holds")
    expect, events = (expected, None) if isinstance(expected, str) else expected
    return PropertyResult(p.name, "proof", p.verdict, expect, events, p.note, p.trace)


def _left_open(obligations: Sequence[Obligation]) -> list[str]:
    """The open obligations, in order; those with the same reason are grouped."""
    alike: dict[tuple[Verdict, str], list[Obligation]] = {}
    for o in obligations:
        if o.counterexample is None:
            alike.setdefault((o.verdict, o.note), []).append(o)
    lines: list[str] = []
    for o in obligations:
        rows = alike.get((o.verdict, o.note), []) if o.counterexample is None else []
        if len(rows) < 2:
            lines += ["", *refuted(o)]
        elif o is rows[0]:
            lines += ["", *_together(rows)]
    return lines


def _together(rows: Sequence[Obligation]) -> list[str]:
    """Obligations that are open for the same reason: the reason, then the properties by step."""
    names: dict[str, list[str]] = {}
    for o in rows:
        names.setdefault(o.obligation, []).append(o.property)
    lines = [f"{len(rows)} are {rows[0].verdict.value}  {rows[0].note}".rstrip()]
    for step, properties in names.items():
        lines += wrapped(f"{step}: {', '.join(properties)}", INDENT, INDENT * 3)
    return lines


def refuted(o: Obligation) -> list[str]:
    """An open obligation with its counterexample, which is labelled if it is one to induction."""
    shown = o.counterexample
    if shown is None:
        return [f"{o.obligation}: {o.property} is {o.verdict.value}  {o.note}".rstrip()]
    lines = [f"{o.obligation}: {o.property}: {o.note or shown.get('label', '')}"]
    if o.verdict is not Verdict.VIOLATED:
        kept = "all invariants" if o.note == shown.get("label") else "the other invariants"
        reached = shown.get("reachable", "need not be reachable")
        lines.append(f"{INDENT}its state keeps {kept}, and {reached}")
    for key in ("parameters", "state", "args", "after"):
        rows = shown.get(key)
        if isinstance(rows, Mapping) and rows:
            lines.append(f"{INDENT}{key}")
            before = shown.get("state") if key == "after" else None
            lines += [f"{INDENT * 2}{row}" for row in _rows(rows, before)]
    return lines


def _rows(rows: Mapping[str, Json], before: Json) -> list[str]:
    """Variables with their values; with `before` only those that changed."""
    old = before if isinstance(before, Mapping) else {}
    return [f"{k} = {value_text(v)}" for k, v in rows.items() if k not in old or old[k] != v]


def to_json(result: ProofResult) -> Json:
    """One machine's entry in the JSON of `lawful prove`."""
    return {
        "machine": result.machine,
        "seconds": round(result.seconds, 3),
        **({"not_generated": result.not_generated} if result.not_generated else {}),
        **({"by_reference": [*result.by_reference]} if result.by_reference else {}),
        "obligations": [_obligation(o) for o in result.obligations],
        "properties": [
            {
                "name": p.name,
                "verdict": p.verdict.value,
                "method": p.method,
                "covers": p.covers,
                "note": p.note,
                "trace": None if p.trace is None else trace_json(p.trace),
            }
            for p in result.properties
        ],
        "needless": [
            {
                "transition": g.transition,
                "clause": g.text,
                "file": g.place.file,
                "line": g.place.line,
            }
            for g in result.redundant_guards
        ],
        "proposal": None if result.proposal is None else _proposal(result.proposal),
        **({"no_proposal": result.no_proposal} if result.no_proposal else {}),
    }


def _proposal(proposal: Proposal) -> Json:
    clauses: list[Json] = ["\n".join(statements.property(clause)) for clause in proposal.clauses]
    proved = sum(o.verdict.proved for o in proposal.obligations)
    return {"clauses": clauses, "proved": proved}


def _obligation(o: Obligation) -> Json:
    shown = None if o.counterexample is None else dict(o.counterexample)
    uses: list[Json] = [*sorted(o.uses)]
    return {
        "property": o.property,
        "obligation": o.obligation,
        "verdict": o.verdict.value,
        "covers": o.covers,
        "seconds": round(o.seconds, 4),
        "units": o.units,
        "counterexample": shown,
        "note": o.note,
        "leans_on": uses,
        "known_before": o.cached,
        "steps": o.depth,
    }


def exit_code(result: ProofResult, expects: Mapping[str, Expected]) -> int:
    """0: all as expected; 1: not as expected; 3: something is open.

    Properties for exploration do not count, unless the machine declares no other: then it is 3.
    """
    return verdict.exit_code(judgements(result, expects)) or (3 if _nothing_own(result) else 0)
