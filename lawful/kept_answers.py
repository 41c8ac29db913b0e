"""Answers of `check` that were as expected: an unchanged machine is not explored again.

The name of a file is a hash of what the answer depends on: the machine's fingerprint, its scope,
the expected verdicts, and the files of lawful itself. The file has the machine's entry of the
JSON answer. One that cannot be read or written is no error: the machine is explored.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from pathlib import Path
from typing import Any, cast

from lawful.checks.cache_folder import cache_folder
from lawful.spec.codec.as_json import digest
from lawful.spec.ir import Json

from .targets import ScopedMachine

Row = dict[str, Json]


def key(machine: ScopedMachine, *more: str) -> str:
    """The name of the answer for a machine; `more` is what else the answer depends on."""
    bounds: Row = {name: repr(bound) for name, bound in sorted(machine.scope.bounds.items())}
    expects: Row = {name: repr(verdict) for name, verdict in sorted(machine.expects.items())}
    return digest([_installed(), machine.fingerprint, bounds, expects, *more])


def kept(name: str) -> Row | None:
    """The answer of this name; None where none is kept."""
    folder = cache_folder("answers")
    try:
        data: Any = json.loads((folder / name).read_text(encoding="utf-8")) if folder else None
    except (OSError, ValueError):
        return None
    known = isinstance(data, dict) and cast(Row, data).get("answer") == name
    row = cast(Row, data).get("machine") if known else None
    return row if isinstance(row, dict) else None


def keep(name: str, row: Row) -> None:
    """Keep an answer, as a whole or not at all."""
    folder = cache_folder("answers")
    if folder is None:
        return
    new = folder / f".{name}.{os.getpid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            new.write_text(json.dumps({"answer": name, "machine": row}) + "\n", encoding="utf-8")
            new.replace(folder / name)
        finally:
            new.unlink(missing_ok=True)


@functools.cache
def _installed() -> str:
    """What tells one state of lawful's files from another: names, sizes and times of change."""
    here = Path(__file__).parent
    rows: list[Json] = []
    for folder, names, files in os.walk(here, followlinks=True):
        names[:] = sorted(name for name in names if name not in ("machines", "__pycache__"))
        for file in sorted(each for each in files if each.endswith(".py")):
            stat = os.stat(os.path.join(folder, file))
            rows.append([os.path.relpath(folder, here), file, stat.st_size, stat.st_mtime_ns])
    return digest(rows)
