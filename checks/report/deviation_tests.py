"""A deviation as a pytest file: it fails as long as the machine deviates from the recorded rows.

The test finds the machine by the path of its file, so it runs from any folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawful.spec.ir import Json

from ..replay.in_process import sorted_rows
from ..replay.problems import Finding
from ..replay.rows import Row, row_json
from ..replay.stays.stay import DEADLINE
from ..replay.studies.trace_shrinking import shrunk
from ..replay.tally import Tally
from ..replay.validation import ReplayResult
from .regression_test import prose, python

TEST = '''\
"""A deviation: {about}"""

from pathlib import Path

from lawful.testing import replay_rows

MACHINE = {place}
ROWS = {rows}


def test_{test}() -> None:
    replay_rows({target}, ROWS{more})
'''


@dataclass(frozen=True)
class DeviationTest:
    """The rows of one deviation, as few as are enough."""

    machine: str
    number: int
    instance: str
    finding: Finding
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """The name of the test."""
        return f"{self.machine}_deviation_{self.number}"


def deviation_tests(paths: Iterable[str | Path], result: ReplayResult) -> Iterator[DeviationTest]:
    """The first deviation of each kind, with its rows. The traces are read again."""
    first = [
        (name, *result.tallies.machines[name].found.rows[kind][0])
        for name in result.program.steppers
        for kind in sorted(result.tallies.machines.get(name, Tally()).found.rows)
        if kind[0] == "deviates" and kind[1] != DEADLINE  # The machine has no deadline.
    ]
    files = result.program.sources(paths)
    rows = {
        name: sorted_rows(files, result.program.of(name), {it for of, it, _ in first if of == name})
        for name in {name for name, _, _ in first}
    }
    for number, (name, instance, finding) in enumerate(first, 1):
        enough = shrunk(result.program.of(name), rows[name][instance], finding)
        yield DeviationTest(name, number, instance, finding, enough)


def as_test(made: DeviationTest, result: ReplayResult, module: Path, folder: Path) -> str:
    """The text of the file, which will stand in the folder; `module` has the machine."""
    finding, mapping = made.finding, result.program.of(made.machine).mapping
    told = finding.details
    row = f"row at {told['time']}" if "time" in told else f"row {told.get('number', finding.index)}"
    where = f"instance {made.instance}, {row}, event {finding.event}"
    data: list[Json] = [
        {k: v for k, v in row_json(r).items() if k != "fingerprint"} for r in made.rows
    ]
    way = os.path.relpath(module.resolve(), folder.resolve())
    parameters = "" if mapping is None else f", parameters={dict(mapping.parameters)!r}"
    return TEST.format(
        about=prose(f"{where}: {finding.clause}"),
        place=f"(Path(__file__).parent / {json.dumps(way)}).resolve()",
        rows=python(data),
        test=made.name,
        target=f'f"{{MACHINE}}:{made.machine}"',
        more=parameters,
    )
