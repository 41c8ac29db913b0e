"""What a check found, as files for other tools: JUnit, SARIF, ITF, tests."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.checks.explore import CheckResult
from lawful.checks.report import ci, ci_checks, itf, regression_test
from lawful.checks.verdict import PropertyResult
from lawful.runtime.instance import Machine
from lawful.spec.ir import Json
from lawful.spec.resolve import resolve
from lawful.spec.words import Expected

if TYPE_CHECKING:
    from lawful.checks.prove.result import ProofResult
    from lawful.checks.replay import ReplayResult

Files = Iterator[tuple[Path, str]]
Checked = Sequence[tuple[type[Machine], CheckResult]]
Proved = Sequence[tuple[type[Machine], "ProofResult", Mapping[str, Expected]]]


def of_checks(given: argparse.Namespace, command: str, found: Checked) -> Files:
    """The files that were asked for, with their texts."""
    suites = [ci_checks.suite(resolve(cls).machine, result) for cls, result in found]
    yield from _reports(given, command, suites)
    where = given.target.partition(":")[0]
    for cls, result in found:
        for p in filter(_has_counterexample, result.properties):
            if given.itf is not None and p.trace is not None:
                about = f"{cls.__name__}.{p.name} is {p.verdict.value}: {p.why}"
                document = itf.itf(resolve(cls).machine, p.trace, about)
                path = given.itf / f"{cls.__name__}.{p.name}.itf.json"
                yield path, _json(document)
            if given.pytest is not None:
                name = f"test_{cls.__name__}_{p.name.replace('.', '_')}.py"
                test = regression_test.as_test(f"{where}:{cls.__name__}", given.scope, p)
                yield given.pytest / name, test


def _reports(given: argparse.Namespace, command: str, suites: Sequence[ci.Suite]) -> Files:
    if given.junit is not None:
        yield given.junit, ci.junit(command, suites)
    if given.sarif is not None:
        yield given.sarif, _json(ci.sarif(suites, version("lawful")))


def _json(document: Mapping[str, Json]) -> str:
    return json.dumps(document, indent=1) + "\n"


def of_proofs(given: argparse.Namespace, found: Proved) -> Files:
    """The same of proofs: runs that violate a property, and counterexamples to induction."""
    from lawful.checks.report import ci_proofs

    rows = [(resolve(cls), result) for cls, result, _ in found]
    suites = [
        ci_proofs.suite(resolve(cls).machine, result, expects) for cls, result, expects in found
    ]
    yield from _reports(given, "prove", suites)
    if given.smtlib is not None:
        from .proving import scripts

        for cls, result, _ in found:
            for name, text in scripts(cls, given, result):
                yield given.smtlib / name, text
    if given.itf is None:
        return
    for r, result in rows:
        for name, about, trace in ci_proofs.traces(r.machine, result):
            path = given.itf / f"{r.machine.name}.{name}.itf.json"
            yield path, _json(itf.itf(r.machine, trace, about))


def of_replay(given: argparse.Namespace, result: ReplayResult) -> Files:
    """The same of a replay: the way to each deviation that is shown."""
    from lawful.checks.report import ci_replays

    yield from _reports(given, "replay", ci_replays.suites(result))
    if given.itf is None:
        return
    found = ci_replays.traces(given.traces, result)
    for number, (machine, _, about, trace) in enumerate(found, 1):
        # Instances have any names: they stand in the file, not in what it is called.
        path = given.itf / f"{machine.name}.deviation_{number}.itf.json"
        yield path, _json(itf.itf(machine, trace, about))


def _has_counterexample(p: PropertyResult) -> bool:
    return p.verdict.failed and p.trace is not None and bool(p.trace.states)
