"""Where answers go: standard output, the file of `--json`, and the files that a command makes."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from lawful.spec.ir import Json


class OutOfReach(Exception):
    """A command cannot do its work here; the text says what is missing or wrong."""


def answer(given: argparse.Namespace, text: str, command: str, machines: Sequence[Json]) -> None:
    """Print the text, and the JSON where it is asked for."""
    write(given, text, {"version": 1, "command": command, "machines": list(machines)})


def write(given: argparse.Namespace, text: str, answer: Mapping[str, Json]) -> None:
    """Print the text or the JSON, with the machines that were left out, and write the file."""
    answer = {**answer, "skipped": given.skipped} if given.skipped else answer
    given.answered = True
    if given.json == "-":
        _print(json.dumps(answer, indent=1), given.answer)
        return
    if not given.quiet:
        _print(text, sys.stdout)
    if given.json:
        save(Path(given.json), json.dumps(answer, indent=1) + "\n")


def _print(text: str, file: TextIO) -> None:
    """Print it all. A reader who goes before the end, as `head` does, changes no exit code."""
    try:
        print(text, file=file, flush=True)
    except OSError as error:
        # What is left of the text would fail again when the process ends.
        with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), file.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutOfReach(f"cannot write the answer: {error.strerror}") from error


def folder(path: Path) -> None:
    """Make a folder; OutOfReach where there can be none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutOfReach(f"there can be no folder {path}: {error.strerror}") from error


def save(path: Path, text: str) -> None:
    """Write a file; OutOfReach where it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutOfReach(f"cannot write {path}: {error.strerror}") from error


def save_all(files: Iterable[tuple[Path, str]], *folders: Path | None) -> None:
    """Write the files that are asked for, in folders that are made if need be."""
    for each in filter(None, folders):
        folder(each)
    for path, text in files:
        save(path, text)
