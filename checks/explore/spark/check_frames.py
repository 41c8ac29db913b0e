"""Checks within many scopes as one job of Spark: one row of a data frame for each scope.

Each check runs whole in one worker, with one thread and the states in its memory. The declaration
travels as data: a worker needs lawful, and no source.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from lawful.runtime.instance import Machine
from lawful.spec.errors import Unsupported
from lawful.spec.flat import Flat
from lawful.spec.lower import lower
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.spec.words import Expected, Scope

from ..check import explore
from ..limits import Limits
from ..result import CheckResult
from .arrow_rows import Row
from .question_jobs import answered
from .search_program import world_of

ASKED = "number int, machine string, scope string, payload binary"
PROPERTY = {
    "name": "string",
    "kind": "string",
    "verdict": "string",
    "expect": "string",
    "as_expected": "boolean",
    "why": "string",
    "events": "int",
}
PROPERTIES = f"array<struct<{','.join(f'{name}:{kind}' for name, kind in PROPERTY.items())}>>"
COUNTS = "distinct long, generated long, depth int, cuts long, seconds double"
ROW = (
    "number int, machine string, scope string, engine string, verdict string, "
    f"as_expected boolean, complete boolean, stopped string, {COUNTS}, "
    f"properties {PROPERTIES}, error string"
)
RESULT = "result binary"  # A pickled `CheckResult`, of which the other columns are a part.


@dataclass(frozen=True, slots=True)
class BoundedCheck:
    """A machine within a scope, the verdicts that are expected, and the limits of its check."""

    flat: Flat
    expects: Mapping[str, Expected]
    limits: Limits = Limits()


def check_frame(
    session: Any,
    machine: type[Machine],
    scopes: Sequence[Scope],
    *,
    limits: Limits | None = None,
    symmetry: bool = False,
) -> Any:
    """Check a machine within each of these scopes, as one job of a Spark session.

    Returns a data frame of Spark.

    A scope gives its bounds over those of the machine's own scope. Limits are of each check; a
    request to stop and folders are not among them. The answers are those of `explore`.

    Columns: `number` (of the scope, from 0), `machine`, `scope` (JSON: the bounds as text),
    `engine`, `verdict` (the worst property's), `as_expected`, `complete` (nothing stopped it),
    `stopped` (by which limit, else empty), `distinct`, `generated`, `depth`, `cuts`, `seconds`,
    `properties` (an array of `name`, `kind`, `verdict`, `expect`, `as_expected`, `why`, `events`:
    the length of the counterexample, null without one), and `error`: why there is no answer, null
    where there is one. With an error all columns after `scope` are null.

    Raises `DeclarationError` where a scope leaves a type without a bound, and `ValueError` for no
    scope. Spark computes the rows when they are used, and anew for each use.
    """
    found = resolve(machine)
    own = found.scopes.get("scope", Scope())
    checks: list[BoundedCheck] = []
    for scope in scopes:
        flat = lower(found.machine, own.widened(scope.bounds), abstract_scopes(found))
        expects = dict(found.expects)
        for each in (own, scope):
            expects |= each.expects.verdicts if each.expects is not None else {}
        checks.append(BoundedCheck(flat, expects, limits or Limits()))
    return results_frame(session, checks, symmetry=symmetry).drop("result")


def results_frame(session: Any, checks: Sequence[BoundedCheck], *, symmetry: bool = False) -> Any:
    """The columns of `check_frame` and `result`, a row for each check."""
    rows: list[Row] = []
    for i, check in enumerate(checks):
        alone = dataclasses.replace(check.limits, stop=None, resume=None, spill=None, workers=1)
        payload = pickle.dumps(dataclasses.replace(check, limits=alone))
        rows.append((i, check.flat.machine.name, json.dumps(dict(check.flat.scope)), payload))
    answer = functools.partial(row_of, symmetry)
    return answered(session, rows, ASKED, answer, f"{ROW}, {RESULT}")


def results(frame: Any) -> list[CheckResult]:
    """The results of a frame of `results_frame`, in the order of the checks. Raises `ValueError`
    where one has none."""
    rows: list[Any] = sorted(frame.select("number", "scope", "error", "result").collect())
    for _, scope, error, _ in rows:
        if error is not None:
            raise ValueError(f"within {scope}: {error}")
    return [pickle.loads(bytes(result)) for *_, result in rows]


def row_of(symmetry: bool, question: Row) -> Row:
    """The row of `ROW` and `RESULT` for a row of `ASKED`."""
    number, machine, scope, payload = question
    check: BoundedCheck = pickle.loads(payload)
    head = number, machine, scope
    try:
        found = explore(
            check.flat,
            world_of(check.flat),
            check.expects,
            limits=check.limits,
            symmetry=symmetry,
        )
    except (ValueError, Unsupported) as error:
        return (*head, *(None,) * 11, str(error), None)
    counts = found.distinct, found.generated, found.depth, found.cuts, found.seconds
    ended = found.verdict.value, found.as_expected, found.complete, found.stopped
    return (*head, found.engine, *ended, *counts, _properties(found), None, pickle.dumps(found))


def _properties(found: CheckResult) -> list[dict[str, Any]]:
    return [
        {
            "name": p.name,
            "kind": p.kind,
            "verdict": p.verdict.value,
            "expect": p.expect,
            "as_expected": p.as_expected,
            "why": p.why,
            "events": None if p.trace is None else len(p.trace),
        }
        for p in found.properties
    ]
