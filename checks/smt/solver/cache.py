"""A cache of proofs on disk: one small file for each question that was decided.

The name of a file is a hash of the terms of the whole question, of Z3's version and of the way of
asking, so that a changed machine asks other questions. The file says that no values satisfy the
question, or that some do; it has no values, and nothing that was not decided. A file that cannot be
read or written is no error: Z3 is asked again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

from ...cache_folder import cache_folder

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)


def users() -> Path | None:
    """The folder for this user's proofs; None where the user has no home folder."""
    return cache_folder("proofs")


def folder() -> Path | None:
    """The folder of the cache; None where proofs are not cached."""
    return _folder.get()


@contextlib.contextmanager
def kept_in(path: Path | None) -> Generator[None]:
    """A block in which proofs are cached in this folder; with None, nothing is cached."""
    before = _folder.set(path)
    try:
        yield
    finally:
        _folder.reset(before)


def shown(key: str) -> frozenset[str] | None:
    """The hypotheses that an `unsat` answer used; None where the cache has no answer."""
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
    """Write an answer to the cache, atomically."""
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
