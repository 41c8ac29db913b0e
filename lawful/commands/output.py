"""The destinations of a command's answer: standard output and the file of `--json`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from lawful import targets
from lawful.runtime.instance import Machine
from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass, field

from . import files
from .errors import CommandError


@dataclass
class Output:
    """The destination of one command's answer.

    `json` is the file of `--json`, where `-` means `stdout`: the standard output of the process.
    A command runs with `sys.stdout` redirected, so that what a user's module prints does not stand
    beside the JSON.
    """

    command: str
    json: str | None = None
    quiet: bool = False
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    answered: bool = False
    skipped: list[targets.Skipped] = field(default_factory=list[targets.Skipped])

    def machines(self, target: str) -> list[type[Machine]]:
        """The machines of the target.

        The module's machines that are left out are named on standard error and in the answer.
        """
        found, self.skipped = targets.chosen(target)
        for each in () if self.quiet else self.skipped:
            print(f"{each.machine} is left out: {each.why}", file=sys.stderr)
        return found

    def answer(self, text: str, machines: Sequence[Json]) -> None:
        """Print the text, and write one JSON object for each machine."""
        self.write(text, {"version": 1, "command": self.command, "machines": list(machines)})

    def write(self, text: str, document: Mapping[str, Json]) -> None:
        """Print the text or the JSON, and write the file of `--json`.

        Raises CommandError where the answer cannot be written.
        """
        if self.skipped:
            document = {**document, "skipped": [each._asdict() for each in self.skipped]}
        self.answered = True
        if self.json == "-":
            _print(json.dumps(document, indent=1), self.stdout)
            return
        if not self.quiet:
            _print(text, sys.stdout)
        if self.json:
            files.save(Path(self.json), files.json_text(document))


def _print(text: str, file: TextIO) -> None:
    """Print the whole text. A reader who closes the pipe early, as `head` does, is no error."""
    try:
        print(text, file=file, flush=True)
    except OSError as error:
        # Python flushes what is left of the text when the process ends, which would fail again.
        with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), file.fileno())
        if not isinstance(error, BrokenPipeError):
            raise CommandError(f"cannot write the answer: {error.strerror}") from error
