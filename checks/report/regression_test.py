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

from lawful.testing import rerun

TRACE = {trace}


def test_{test}() -> None:
    rerun({target!r}, {name!r}, TRACE, scope={scope!r})
'''


def as_test(target: str, scope: Sequence[str], p: PropertyResult) -> str:
    """The text of the file; `scope` are the bounds as strings `key=value`."""
    assert p.trace is not None
    found = f"`lawful check {target}` found: {p.name} is {p.verdict.value}: {p.why}"
    return TEST.format(
        found=_prose(found),
        target=target,
        trace=_python(trace_json(p.trace)),
        test=re.sub(r"\W", "_", p.name),
        name=p.name,
        scope=list(scope),
    )


def _prose(text: str) -> str:
    """The text as one line that can stand in a docstring."""
    return " ".join(text.split()).replace("\\", "/").replace('"', "'")


def _python(data: Json) -> str:
    """A JSON list as Python source, one element per line."""
    assert isinstance(data, list)
    rows = "".join(f"    {json.loads(json.dumps(row))!r},\n" for row in data)
    return f"[\n{rows}]"
