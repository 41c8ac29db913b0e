"""What Z3 has shown once is not asked again: a small file for each question that is decided.

The name of a file is that of the whole question in SMT-LIB with the version of Z3 and the way of
asking, so that a changed machine asks other questions. Kept is that no values answer a question, or
of some that values do; not the values, and nothing that was not decided. Nothing here needs to
succeed: what cannot be read or written is asked of Z3.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

from lawful.checks.cache_folder import cache_folder

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)


def users() -> Path | None:
    """The folder for this user's proofs; None where the user has no home folder."""
    return cache_folder("proofs")


def folder() -> Path | None:
    """Where it is kept; None where nothing is."""
    return _folder.get()


@contextlib.contextmanager
def kept_in(path: Path | None) -> Generator[None]:
    """Until the end, what is shown is kept in this folder."""
    before = _folder.set(path)
    try:
        yield
    finally:
        _folder.reset(before)


def shown(key: str) -> frozenset[str] | None:
    """The names that the answer `unsat` leaned on; None where it is not known."""
    kept = folder()
    if kept is None:
        return None
    try:
        data: Any = json.loads((kept / key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    row = cast(dict[str, Any], data) if isinstance(data, dict) else {}
    used: list[Any] | None = row.get("used")
    if row.get("question") != key or not isinstance(used, list):
        return None
    return frozenset(used) if all(isinstance(name, str) for name in used) else None


def note(key: str, used: frozenset[str]) -> None:
    """Keep what the key stands for; as a whole or not at all."""
    kept = folder()
    if kept is None:
        return
    text = json.dumps({"question": key, "used": sorted(used)}) + "\n"
    new = kept / f".{key}.{os.getpid()}"
    with contextlib.suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
        try:
            new.write_text(text, encoding="utf-8")
            new.replace(kept / key)
        finally:
            new.unlink(missing_ok=True)
