"""The files that a command writes, and what happens where one cannot be written."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lawful.spec.ir import Json

from .errors import CommandError

# The options that name what is written, by their names in the parsed command line.
FILES = ("json", "junit", "sarif", "html", "report", "metrics", "keep", "answers")
FOLDERS = ("itf", "pytest", "smtlib")


def json_text(document: Mapping[str, Json]) -> str:
    """The text of a JSON file."""
    return json.dumps(document, indent=1) + "\n"


def folder(path: Path) -> None:
    """Make a folder and those above it. Raises CommandError where that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot make the folder {path}: {error.strerror}") from error


def look_at_folder(path: Path) -> None:
    """Raise CommandError where `folder` cannot make the folder, or no file can be written in it."""
    above = next(each for each in (path, *path.absolute().parents) if os.path.lexists(each))
    try:
        if not above.is_dir():
            raise _failure(errno.ENOTDIR)
        if not os.access(above, os.W_OK | os.X_OK):
            raise _failure(errno.EACCES)
    except OSError as error:
        raise CommandError(f"cannot make the folder {path}: {error.strerror}") from error


def look_at_file(path: Path) -> None:
    """Raise CommandError where `save` cannot write the file. What is in the file stays there."""
    try:
        if path.is_dir():
            raise _failure(errno.EISDIR)
        if path.exists() and (path.is_symlink() or not path.is_file()):
            if not os.access(path, os.W_OK):
                raise _failure(errno.EACCES)
            return
        beside = _beside(Path(os.path.realpath(path)))
        beside.touch()
        beside.unlink()
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from error


def _failure(number: int) -> OSError:
    return OSError(number, os.strerror(number))


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
    beside = _beside(path)
    try:
        beside.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _beside(path: Path) -> Path:
    """The file that is written, and then takes the place of `path`."""
    return path.with_name(f".{path.name}.{os.getpid()}")


def save_all(files: Iterable[tuple[Path, str]], *folders: Path | None) -> None:
    """Make the folders, and write the files."""
    for each in filter(None, folders):
        folder(each)
    for path, text in files:
        save(path, text)


def look(given: Mapping[str, Any]) -> None:
    """Look at what a command is told to write, before it begins: a search may take hours, and its
    answer shall not be lost. `given`: its options.

    Raises CommandError for what cannot be written, and for a file that two options name.
    """
    names: dict[Path, str] = {}
    for option, path in _files(given):
        look_at_file(path)
        first = names.setdefault(path.resolve(), option)
        if first != option and (path.is_file() or not path.exists()):
            raise CommandError(f"--{first} and --{option} both write {path}; name two files")
    for path in _folders(given):
        look_at_folder(path)


def _files(given: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """Each option that names a file, with the file; `-` is standard output."""
    for option in FILES:
        value = given.get(option)
        if value is not None and value != "-":
            yield option, Path(value)
    if given["command"] == "infer-mapping" and given["out"] is not None:
        yield "out", given["out"]
    if given["command"] == "lock" and not given["stale"]:
        yield "file", given["file"]


def _folders(given: Mapping[str, Any]) -> Iterator[Path]:
    for option in FOLDERS:
        value = given.get(option)
        if value is not None:
            yield value
    command = given["command"]
    writes = command in ("draw", "export") or (command == "certify" and not given["verify"])
    if writes and given["out"] is not None:
        yield given["out"]
