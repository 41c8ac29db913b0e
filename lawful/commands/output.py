"""The destinations of a command's answer: standard output and the file of `--json`."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Collection, Generator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from lawful import colour, targets
from lawful import project as projects
from lawful import run_summary as summary
from lawful.project import Project
from lawful.remarks import uncalled
from lawful.runtime.instance import Machine
from lawful.spec.errors import nearest
from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass, field
from lawful.spec.syntax.declare import declared

from . import files
from .errors import CommandError

COLOURED = ("check", "simulate", "prove")  # Their answers are tables of verdicts.
# All but the tab and the end of a line: a terminal takes the others for commands.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """The text with control characters as escapes of Python: a journal may hold any."""
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


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
    text: str = ""  # Of the answer, once there is one.
    skipped: list[targets.Skipped] = field(default_factory=list[targets.Skipped])
    notes: list[str] = field(default_factory=list[str])

    def machines(self, target: str, *, or_unscoped: bool = False) -> list[type[Machine]]:
        """The machines of the target.

        The module's machines that are left out are named on standard error and in the answer.
        """
        return [each.cls for each in self.chosen([target], or_unscoped=or_unscoped)]

    def replayed(
        self, given: Sequence[str], named: Sequence[str], mapping: Path | None
    ) -> list[type[Machine]]:
        """The machines of the targets that are replayed, with a scope or without, because a replay
        explores nothing: those which mappings have `named`, and without a mapping all. If a mapping
        has no name, they are as above. `mapping` is the file of the mappings.

        Raises CommandError where the targets have no machine of such a name, or two.
        """
        if not any(named):
            unnamed = bool(named)  # There is a mapping, which is of one machine.
            return [each.cls for each in self.chosen(given, scoped=unnamed, or_unscoped=unnamed)]
        every = self.chosen(given, scoped=False)
        out: list[type[Machine]] = []
        for name in named:
            found = [each for each in every if each.cls.__name__ == name]
            if not found:
                names, where = [each.cls.__name__ for each in every], ", ".join(given)
                told = f"the mapping is of {name}; {where} has {', '.join(names)}"
                how = nearest(name, names, "give its target, or correct the name")
                raise CommandError(f"{mapping}: {told}; {how}" if mapping else f"{told}; {how}")
            if len(found) > 1:
                raise CommandError(f"{name} is in {' and in '.join(each.where for each in found)}")
            out.append(found[0].cls)
        return out

    def chosen(
        self,
        given: Sequence[str],
        *,
        scoped: bool = True,
        or_unscoped: bool = False,
        scope: Sequence[str] = (),
    ) -> list[targets.Chosen]:
        """The machines of the targets, each once; without a target those of the project. Those of a
        module have a scope or need none, or the project or `scope` gives them one, unless `scoped`
        is false. A command that needs no scope takes them where no machine has one: `or_unscoped`.

        Raises CommandError where there is no target and no project.
        """
        found: dict[tuple[str, str], targets.Chosen] = {}
        for target in self.asked(given):
            machines, skipped = targets.chosen(
                target,
                scoped=scoped,
                or_unscoped=or_unscoped,
                given=lambda cls: (*self.settings(cls).scope, *scope),
            )
            self.skipped += skipped
            for each in machines:
                found.setdefault((declared(each.cls).file, each.cls.__qualname__), each)
        for left in () if self.quiet else self.skipped:
            print(f"{left.machine} is not checked: {left.why}", file=sys.stderr)
        for each in found.values():
            for text in uncalled(each.cls):
                self.note(text)
        if not given and self.project is not None:
            self._note_unknown({each.cls.__name__ for each in found.values()}, self.project)
        return list(found.values())

    def _note_unknown(self, found: Collection[str], project: Project) -> None:
        """Say which tables of the project are of no machine: a name may be mistyped."""
        known = {*found, *(left.machine for left in self.skipped)}
        for name in project.machines:
            if name not in known:
                self.note(
                    f"[tool.lawful.machine.{name}]: the project's targets have no such machine"
                )

    def asked(self, given: Sequence[str]) -> Sequence[str]:
        """The targets that are given, or else those of the project.

        Raises CommandError where there are none.
        """
        if given:
            return given
        project = self.project
        if project is None or not project.targets:
            raise CommandError(
                "there is no TARGET; name one, or list targets in [tool.lawful] of pyproject.toml"
            )
        if str(project.file.parent) not in sys.path:
            sys.path.insert(0, str(project.file.parent))
        return [project.where(each) for each in project.targets]

    @functools.cached_property
    def project(self) -> Project | None:
        """The project of the current folder. Raises TargetError where its table is wrong."""
        return projects.found(Path.cwd())

    def settings(self, cls: type[Machine]) -> projects.Settings:
        """What the project says of a machine."""
        return projects.Settings() if self.project is None else self.project.of(cls)

    def note(self, text: str) -> None:
        """Say on standard error, and in the answer, what a user may not expect."""
        self.notes.append(text)
        if not self.quiet:
            print(printable(text), file=sys.stderr, flush=True)

    def answer(
        self, text: str, machines: Sequence[Json], verdicts: Sequence[summary.Judged] = ()
    ) -> None:
        """Print the text, and write one JSON object for each machine.

        `verdicts` are those of the machines, where the command gives any: the answer counts them.
        """
        document: dict[str, Json] = {"version": 1, "command": self.command}
        document["machines"] = list(machines)
        if verdicts:
            document["summary"] = summary.to_json(verdicts, self.skipped)
        if len(verdicts) + len(self.skipped) > 1 and verdicts:
            text = f"{text}\n\n{summary.text(verdicts, self.skipped)}"
        self.write(text, document)

    def write(self, text: str, document: Mapping[str, Json]) -> None:
        """Print the text or the JSON, and write the file of `--json`.

        Raises CommandError where the answer cannot be written.
        """
        if self.skipped:
            document = {**document, "skipped": [each._asdict() for each in self.skipped]}
        if self.notes:
            document = {**document, "notes": list(self.notes)}
        self.answered, self.text = True, text
        if self.json == "-":
            _print(json.dumps(document, indent=1), self.stdout)
            return
        if text and not self.quiet:
            text = printable(text)
            _print(colour.coloured(text) if self._in_colour() else text, sys.stdout)
        if self.json:
            files.save(Path(self.json), files.json_text(document))

    @contextlib.contextmanager
    def pictures(self, folder: Path | None) -> Generator[Path]:
        """The folder to write pictures into. Without one, the picture that was written goes to
        standard output.

        Raises CommandError where there are several, or standard output takes the answer.
        """
        if folder is not None:
            files.folder(folder)
            yield folder
            return
        if self.json == "-":
            raise CommandError("--out - and --json - both write to standard output")
        from tempfile import TemporaryDirectory  # A check starts without it.

        with TemporaryDirectory() as made:
            yield Path(made)
            drawn = sorted(Path(made).iterdir())
            if len(drawn) > 1:
                names = ", ".join(path.name for path in drawn)
                raise CommandError(
                    f"--out - takes one picture, and there are {len(drawn)}: {names}"
                )
            for path in drawn:
                _print(path.read_bytes(), self.stdout)

    def _in_colour(self) -> bool:
        return self.command in COLOURED and colour.wanted(sys.stdout)


def _print(text: str | bytes, file: TextIO) -> None:
    """Print the whole text, or write the whole picture. A reader who closes the pipe early, as
    `head` does, is no error."""
    try:
        if isinstance(text, bytes):
            file.buffer.write(text)
        else:
            print(text, file=file)
        file.flush()
    except OSError as error:
        # Python flushes what is left of the text when the process ends, which would fail again.
        with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), file.fileno())
        if not isinstance(error, BrokenPipeError):
            raise CommandError(f"cannot write the answer: {error.strerror}") from error
