"""Verdicts in the formats of others: JUnit for CI servers, SARIF for code review.

Sources: the JUnit XML that Jenkins, GitLab and pytest read and write; SARIF 2.1.0 (OASIS, 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.errors import Place
from lawful.spec.ir import Json

from .explore import CheckResult
from .report import counterexample
from .verdict import PropertyResult, Verdict

UNDECIDED = (Verdict.UNKNOWN, Verdict.BOUNDED, Verdict.SAMPLED)
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def junit(results: Sequence[CheckResult]) -> str:
    """A test suite for each machine, a test case for each property.

    A surprising verdict is a failure, one that could not be established is skipped.
    """
    root = ElementTree.Element("testsuites", name="lawful check")
    for result in results:
        bad = [p for p in result.properties if not p.as_expected]
        skipped = [p for p in bad if p.verdict in UNDECIDED]
        suite = ElementTree.SubElement(
            root, "testsuite", name=result.machine, tests=str(len(result.properties)),
            failures=str(len(bad) - len(skipped)), errors="0", skipped=str(len(skipped)),
            time=f"{result.seconds:.3f}",
        )
        for p in result.properties:
            _case(suite, result.machine, p)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, machine: str, p: PropertyResult) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=machine, name=p.name)
    if p.as_expected:
        return
    said = _said(p)
    if p.verdict in UNDECIDED:
        ElementTree.SubElement(case, "skipped", message=said)
        return
    row = ElementTree.SubElement(case, "failure", message=said, type=p.verdict.value)
    row.text = "\n".join(counterexample(p))


def _said(p: PropertyResult) -> str:
    wanted = "" if p.expect == "holds" else f", where {p.expect} was expected"
    return f"{p.name} is {p.verdict.value}{f': {p.why}' if p.why else ''}{wanted}"


def sarif(rows: Sequence[tuple[ir.Machine, CheckResult]], version: str) -> dict[str, Json]:
    """A result for every property whose verdict is a surprise, where it stands in the source."""
    rules: dict[str, Json] = {}
    results: list[Json] = []
    for machine, result in rows:
        for p in result.properties:
            if not p.as_expected:
                rules.setdefault(p.kind, {"id": p.kind})
                results.append(_result(p, _place(machine, p.name)))
    driver: dict[str, Json] = {
        "name": "lawful", "version": version, "rules": list(rules.values()),
    }
    runs: list[Json] = [{"tool": {"driver": driver}, "results": results}]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}


def _result(p: PropertyResult, place: Place) -> Json:
    text = "\n".join([_said(p), *counterexample(p)[1:]])
    region: dict[str, Json] = {"startLine": place.line, "startColumn": place.column + 1}
    at: dict[str, Json] = {"artifactLocation": {"uri": _uri(place.file)}, "region": region}
    level = "warning" if p.verdict in UNDECIDED else "error"
    return {
        "ruleId": p.kind, "level": level, "message": {"text": text},
        "locations": [{"physicalLocation": at}],
    }


def _uri(file: str) -> str:
    """A path from here where the file is below; else the whole."""
    path = Path(file).absolute()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_uri()


def _place(whole: ir.Machine, name: str) -> Place:
    """Where a property is declared, that of a part in the part; a built-in one at the machine."""
    *way, last = name.split(".")
    machine = whole
    for step in way:
        kinds = {v.name: t.part_of(v.type) for v in machine.variables}
        part = kinds.get(step)
        if part is not None:
            machine = whole.part(part.machine)
    found = next((p for p in machine.properties if p.name == last), None)
    return machine.place if found is None else found.place
