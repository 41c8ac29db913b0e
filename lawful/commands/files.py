"""The files that a command writes, and what happens where one cannot be written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from lawful.spec.ir import Json

from .errors import CommandError


def json_text(document: Mapping[str, Json]) -> str:
    """The text of a JSON file."""
    return json.dumps(document, indent=1) + "\n"


def folder(path: Path) -> None:
    """Make a folder and those above it. Raises CommandError where that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot make the folder {path}: {error.strerror}") from error


def save(path: Path, text: str) -> None:
    """Write a file, as a whole or not at all. Raises CommandError where that is impossible."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_text(text, encoding="utf-8")  # A pipe or a device cannot be replaced.
        else:
            _replace(path, text)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    """Write a new file beside it, and put that in its place: a signal leaves the old one or the
    new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def save_all(files: Iterable[tuple[Path, str]], *folders: Path | None) -> None:
    """Make the folders, and write the files."""
    for each in filter(None, folders):
        folder(each)
    for path, text in files:
        save(path, text)
