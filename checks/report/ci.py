"""Results for CI servers (JUnit XML) and code review (SARIF 2.1.0).

`ci_checks`, `ci_proofs` and `ci_replays` turn the results of their engines into `Suite`s of
`Case`s; this module writes those. (They are three modules so that a command needs no other engine
than its own.) Sources: the JUnit XML that Jenkins, GitLab and pytest exchange; SARIF 2.1.0 (OASIS,
2020). XML 1.0 has no control characters: they are written as escapes of Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lawful.spec import ir
from lawful.spec.analysis.composition import machines_in
from lawful.spec.errors import Place
from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass

if TYPE_CHECKING:
    from xml.etree import ElementTree

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Outcome = Literal["passed", "failed", "skipped", "error"]


@dataclass(frozen=True, slots=True)
class Case:
    """One test case. `failed`: the result is not the expected one; `skipped`: it is undecided;
    `error`: the command could not run.

    `kind` is the rule of SARIF, `message` a sentence, `type` the verdict (the type of a failure in
    JUnit), empty where the command does not ask; `lines` the evidence, `place` where the subject is
    declared.
    """

    name: str
    kind: str
    outcome: Outcome
    message: str = ""
    type: str = ""
    lines: tuple[str, ...] = ()
    place: Place | None = None

    @property
    def remarkable(self) -> bool:
        """Whether a review is told of it: it did not pass, and the command asks for it."""
        return self.outcome in ("failed", "error") or (
            self.outcome == "skipped" and bool(self.type)
        )

    @property
    def told(self) -> str:
        """The sentence and the evidence. The first lines of that repeat the sentence, folded."""
        at = 1
        while at < len(self.lines) and self.message.startswith(_unfolded(self.lines[: at + 1])):
            at += 1
        return "\n".join([self.message, *self.lines[at:]])


def _unfolded(lines: tuple[str, ...]) -> str:
    return " ".join(each.strip() for each in lines)


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of one machine."""

    name: str
    seconds: float
    cases: tuple[Case, ...]


# JUnit.


def junit(command: str, suites: Sequence[Suite]) -> str:
    """The suites as JUnit XML."""
    from xml.etree import ElementTree  # Most commands write no XML.

    root = ElementTree.Element("testsuites", name=f"lawful {command}")
    for each in suites:
        outcomes = [case.outcome for case in each.cases]
        row = ElementTree.SubElement(
            root,
            "testsuite",
            name=_xml(each.name),
            tests=str(len(outcomes)),
            failures=str(outcomes.count("failed")),
            errors=str(outcomes.count("error")),
            skipped=str(outcomes.count("skipped")),
            time=f"{each.seconds:.3f}",
        )
        for case in each.cases:
            _case(row, each.name, case)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite_: ElementTree.Element, machine: str, case: Case) -> None:
    from xml.etree import ElementTree

    row = ElementTree.SubElement(suite_, "testcase", classname=_xml(machine), name=_xml(case.name))
    if case.outcome == "skipped":
        skipped = ElementTree.SubElement(row, "skipped", message=_xml(case.message))
        skipped.text = _xml("\n".join(case.lines)) or None
    elif case.outcome != "passed":
        name = "error" if case.outcome == "error" else "failure"
        failure = ElementTree.SubElement(
            row, name, message=_xml(case.message), type=_xml(case.type)
        )
        failure.text = _xml("\n".join(case.lines))


@cache
def no_xml() -> re.Pattern[str]:
    """The characters that no XML has. To compile this takes long, and few ask for it."""
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: str) -> str:
    return no_xml().sub(lambda found: ascii(found.group())[1:-1], text)


# SARIF.


def sarif(suites: Sequence[Suite], version: str) -> dict[str, Json]:
    """The remarkable cases as a SARIF log; `version` is that of lawful."""
    rules: dict[str, Json] = {}
    results: list[Json] = []
    for each in suites:
        for case in each.cases:
            if case.remarkable:
                rules.setdefault(case.kind, {"id": case.kind})
                results.append(_result(case))
    driver: dict[str, Json] = {
        "name": "lawful",
        "version": version,
        "rules": list(rules.values()),
    }
    runs: list[Json] = [{"tool": {"driver": driver}, "results": results}]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}


def _result(case: Case) -> Json:
    out: dict[str, Json] = {
        "ruleId": case.kind,
        "level": "warning" if case.outcome == "skipped" else "error",
        "message": {"text": case.told},
    }
    if case.place is None:
        return out
    region: dict[str, Json] = {"startLine": case.place.line, "startColumn": case.place.column + 1}
    at: dict[str, Json] = {"artifactLocation": {"uri": _uri(case.place.file)}, "region": region}
    locations: list[Json] = [{"physicalLocation": at}]
    out["locations"] = locations
    return out


def _uri(file: str) -> str:
    """The path relative to the working directory, if the file is below it; else a file URI."""
    path = Path(file).absolute()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_uri()


def place(whole: ir.Machine, name: str) -> Place:
    """The place of a property, in its part for `part.name`; of a built-in one, of the machine."""
    for inner in machines_in(whole):
        for p in inner.machine.properties:
            if inner.prefix + p.name == name:
                return p.place
    return whole.place
