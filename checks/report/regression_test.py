"""A counterexample as a pytest file that fails as long as the machine has it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from lawful.spec.ir import Json

from ..explore.traces import trace_json
from ..verdict import PropertyResult

TEST = '''\
"""A counterexample that {found}"""

from pathlib import Path

from lawful.testing import rerun

ROOT = Path(__file__).parent / {root!r}
TRACE = {trace}


def test_{test}() -> None:
    rerun({target!r}, {name!r}, TRACE, scope={scope!r}, root=ROOT)
'''


def as_test(target: str, scope: Sequence[str], p: PropertyResult, root: str) -> str:
    """The text of the file; `scope` are the bounds as strings `key=value`.

    `root` is the path from the folder of the file to the folder in which the target is meant.
    """
    assert p.trace is not None
    found = f"`lawful check {target}` found: {p.name} is {p.verdict.value}: {p.why}"
    return TEST.format(
        found=prose(found),
        target=target,
        trace=python(trace_json(p.trace)),
        test=re.sub(r"\W", "_", p.name),
        name=p.name,
        scope=list(scope),
        root=root,
    )


def prose(text: str) -> str:
    """The text as one line that can stand in a docstring."""
    return " ".join(text.split()).replace("\\", "/").replace('"', "'")


def python(data: Json) -> str:
    """A JSON list as Python source, one element per line."""
    assert isinstance(data, list)
    rows = "".join(f"    {json.loads(json.dumps(row))!r},\n" for row in data)
    return f"[\n{rows}]"
