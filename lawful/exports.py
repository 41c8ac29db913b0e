"""What a check found, as files for other tools: JUnit, SARIF, ITF, tests."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from lawful.checks import again, itf, outside
from lawful.checks.explore import CheckResult
from lawful.checks.verdict import PropertyResult, Verdict
from lawful.runtime.instance import Machine
from lawful.spec.resolve import resolve

Checked = Sequence[tuple[type[Machine], CheckResult]]


def of_checks(given: argparse.Namespace, found: Checked) -> Iterator[tuple[Path, str]]:
    """The files that were asked for, with their texts."""
    if given.junit is not None:
        yield given.junit, outside.junit([result for _, result in found])
    if given.sarif is not None:
        rows = [(resolve(cls).machine, result) for cls, result in found]
        yield given.sarif, json.dumps(outside.sarif(rows, version("lawful")), indent=1) + "\n"
    where = given.target.partition(":")[0]
    for cls, result in found:
        for p in filter(_has_counterexample, result.properties):
            if given.itf is not None and p.trace is not None:
                about = f"{cls.__name__}.{p.name} is {p.verdict.value}: {p.why}"
                document = itf.itf(resolve(cls).machine, p.trace, about)
                path = given.itf / f"{cls.__name__}.{p.name}.itf.json"
                yield path, json.dumps(document, indent=1) + "\n"
            if given.pytest is not None:
                name = f"test_{cls.__name__}_{p.name.replace('.', '_')}.py"
                test = again.as_test(f"{where}:{cls.__name__}", given.scope, p)
                yield given.pytest / name, test


def _has_counterexample(p: PropertyResult) -> bool:
    failed = p.verdict in (Verdict.VIOLATED, Verdict.UNDEFINED)
    return failed and p.trace is not None and bool(p.trace.states)
