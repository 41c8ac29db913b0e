"""A project: the table `[tool.lawful]` of its pyproject.toml.

    [tool.lawful]
    targets = ["src/shop", "tests.machines:Door"]   # what a command takes that is given no TARGET
    scope = ["Nat=0..7"]                            # as --scope, before that of the command line
    max-seconds = 60                                # a budget, where the command line gives none
    max-states = 1000000

    [tool.lawful.machine.Door]                      # the same for one machine
    scope = ["large"]
    max-seconds = 300
    expect = { no_loss = "violated", deadlock = ["violated", 11] }

Paths are relative to the file. A budget of the command line comes before those of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from lawful.runtime.instance import Machine
from lawful.spec.analysis.composition import judged
from lawful.spec.quick_dataclass import dataclass, field
from lawful.spec.resolve import resolve
from lawful.spec.verdicts import FAILED
from lawful.spec.words import Expected

from .targets import TargetError

BUDGETS = ("max-seconds", "max-states")
OF_PROJECT = ("targets", "scope", *BUDGETS, "machine")
OF_MACHINE = ("scope", *BUDGETS, "expect")
EXPECTED = ("holds", *sorted(each.value for each in FAILED))


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project says of one machine: scopes, budgets (None: no limit), expected verdicts."""

    scope: tuple[str, ...] = ()
    max_seconds: float | None = None
    max_states: int | None = None
    expects: Mapping[str, Expected] = field(default_factory=dict[str, Expected])


@dataclass(frozen=True, slots=True)
class Project:
    """The table of one pyproject.toml. `general` holds for every machine."""

    file: Path
    targets: tuple[str, ...] = ()
    general: Settings = Settings()
    machines: Mapping[str, Settings] = field(default_factory=dict[str, Settings])

    def of(self, cls: type[Machine]) -> Settings:
        """The settings of a machine: its own, and for what they leave open those of all.

        Raises TargetError where a verdict is expected of what the machine does not have.
        """
        own, general = self.machines.get(cls.__name__, Settings()), self.general
        if own.expects:
            self._require_known(cls, own.expects)
        return Settings(
            (*general.scope, *own.scope),
            general.max_seconds if own.max_seconds is None else own.max_seconds,
            general.max_states if own.max_states is None else own.max_states,
            own.expects,
        )

    def _require_known(self, cls: type[Machine], expects: Iterable[str]) -> None:
        """Raises TargetError where a verdict is expected of no property of the machine."""
        known = judged(resolve(cls).machine)
        for name in expects:
            if name not in known:
                have = f"{cls.__name__} has no property {name}; it has: {', '.join(sorted(known))}"
                raise TargetError(
                    f"{self.file}: [tool.lawful.machine.{cls.__name__}]: expect: {have}"
                )

    def where(self, target: str) -> str:
        """A target of the file as one for the current folder: its paths are relative to the file.

        Raises TargetError for a file or folder that is not there.
        """
        path, colon, name = target.partition(":")
        inside = self.file.parent / path
        if not (path.endswith(".py") or "/" in path or inside.is_dir()):
            return target
        if not inside.exists():
            raise TargetError(f"{self.file}: targets: there is no file or folder {inside}")
        return f"{_short(inside)}{colon}{name}"


def _short(path: Path) -> Path:
    """The path from the current folder, where it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def found(folder: Path) -> Project | None:
    """The project of a folder: that of the next pyproject.toml with a table, in it or above it.

    Raises TargetError where the table is wrong.
    """
    for each in (folder, *folder.parents):
        file = each / "pyproject.toml"
        if file.is_file():
            project = read(file)
            if project is not None:
                return project
    return None


def read(file: Path) -> Project | None:
    """The table of a file; None where it has none. Raises TargetError where it is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
        if "lawful" not in text:
            return None  # Importing what reads TOML takes some of a short check.
        import tomllib

        data: Any = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise TargetError(f"{file} cannot be read: {error}") from error
    tool = data.get("tool", {})
    if "lawful" not in tool:
        return None
    table = _Table(f"{file}: [tool.lawful]", tool["lawful"], OF_PROJECT)
    machines = cast(dict[str, Any], table.get("machine", dict, "a table for each machine") or {})
    rows = {
        name: _settings(_Table(f"{file}: [tool.lawful.machine.{name}]", row, OF_MACHINE))
        for name, row in machines.items()
    }
    return Project(file, table.texts("targets"), _settings(table), rows)


class _Table:
    """A table of the file, whose values have the types that are asked for."""

    def __init__(self, where: str, data: Any, known: tuple[str, ...]) -> None:
        self.where = where
        if not isinstance(data, dict):
            raise TargetError(f"{where}: found {data!r}, expected a table")
        self.data = cast(dict[str, Any], data)
        for key in self.data:
            if key not in known:
                raise TargetError(f"{where} has no key {key}; it has: {', '.join(known)}")

    def get(self, key: str, kind: type | tuple[type, ...], expected: str) -> Any:
        """The value, or None where there is none."""
        value = self.data.get(key)
        if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
            return value
        raise self.wrong(key, value, expected)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        rows = cast(list[Any], self.get(key, list, "a list of texts") or [])
        if not all(isinstance(each, str) for each in rows):
            raise self.wrong(key, rows, "a list of texts")
        return tuple(rows)

    def budget(self, key: str, kind: type | tuple[type, ...]) -> Any:
        """A number above 0."""
        value = self.get(key, kind, "a number above 0")
        if value is not None and value <= 0:
            raise self.wrong(key, value, "a number above 0")
        return value

    def wrong(self, key: str, value: object, expected: str) -> TargetError:
        """The error for a value that is not what was expected."""
        return TargetError(f"{self.where}: {key}: found {value!r}, expected {expected}")


def _settings(table: _Table) -> Settings:
    rows = cast(dict[str, Any], table.get("expect", dict, "a table of verdicts") or {})
    return Settings(
        table.texts("scope"),
        table.budget("max-seconds", (int, float)),
        table.budget("max-states", int),
        {name: _expected(table, value) for name, value in rows.items()},
    )


def _expected(table: _Table, value: Any) -> Expected:
    """A verdict, or a verdict with the number of events of the shortest trace."""
    match value:
        case str() if value in EXPECTED:
            return value
        case [str() as verdict, int() as events] if verdict in EXPECTED:
            return verdict, events
        case _:
            wanted = f'{", ".join(EXPECTED)}, or ["violated", 11]'
            raise table.wrong("expect", value, wanted)
