"""Machines and results in a Jupyter notebook: diagrams, tables of states, verdicts.

An instance of a machine and the results of checks and replays display themselves. `diagram` shows
the control states of a class; after `%load_ext lawful.notebook` a class shows them by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lawful.checks.explore import CheckResult, explore
from lawful.checks.explore.limits import Limits
from lawful.checks.explorer.explorer_page import diagram as picture
from lawful.checks.replay.flaws.mapping_names import MappingError
from lawful.checks.replay.mapping import read_mapping
from lawful.checks.replay.program import ReplayProgram
from lawful.checks.replay.sources import ReplayError
from lawful.checks.replay.validation import ReplayResult
from lawful.checks.replay.validation import replay as replay_traces
from lawful.runtime.instance import Machine
from lawful.spec.resolve import resolve

from .targets import scoped

__all__ = ["Diagram", "check", "diagram", "load_ipython_extension", "replay"]


class Diagram:
    """The control states of a machine as a notebook shows them; a note where Graphviz is missing.

    Raises `DeclarationError` where the declaration is refused.
    """

    def __init__(self, machine: type[Machine]) -> None:
        shown = picture(resolve(_declared(machine)).machine)
        self.svg = shown if shown.startswith("<svg") else None
        self.note = None if self.svg else shown

    def _repr_svg_(self) -> str | None:
        return self.svg

    def _repr_html_(self) -> str | None:
        return self.note


def diagram(machine: type[Machine]) -> Diagram:
    """The control states of a machine. Raises `DeclarationError`."""
    return Diagram(machine)


def _declared(machine: object) -> type[Machine]:
    """The class itself, if it is one of a machine. Raises TypeError for anything else: a cell may
    hand over an instance, or the class of its states."""
    if isinstance(machine, type) and _is_whole(machine):
        return machine
    kind = "a class" if isinstance(machine, type) else f"an instance of {type(machine).__name__}"
    raise TypeError(f"expected a class that is declared as a Machine, not {kind}: {machine!r}")


def check(
    machine: type[Machine], *, scope: Sequence[str] = (), max_seconds: float | None = None
) -> CheckResult:
    """Explore a machine within its scope, as `lawful check` does; `scope` is that of `--scope`.

    Raises `DeclarationError`, and `TargetError` for a scope that it does not have.
    """
    found = scoped(_declared(machine), scope)
    limits = Limits(seconds=max_seconds)
    return explore(found.flat, found.world, found.expects, limits=limits)


def replay(
    machine: type[Machine], *traces: str | Path, mapping: str | Path | None = None
) -> ReplayResult:
    """Replay recorded events, as `lawful replay` does; `mapping` is the file of `--mapping`.

    Raises `DeclarationError`, and `ReplayError` where the traces or the mapping cannot be read.
    """
    read = None if mapping is None else read_mapping(mapping)
    try:
        program = ReplayProgram((resolve(_declared(machine)).machine,), mapping=read)
    except MappingError as error:
        raise ReplayError(f"{mapping}: {error}") from error
    return replay_traces(traces, program)


class _Formatter(Protocol):
    def for_type(self, typ: type, func: Callable[[Any], str | None]) -> object: ...


class _Formatters(Protocol):
    formatters: dict[str, _Formatter]


class _Shell(Protocol):
    """What is used of IPython's shell."""

    display_formatter: _Formatters


def load_ipython_extension(shell: _Shell) -> None:
    """`%load_ext lawful.notebook`: a machine's class is shown as its diagram."""
    for kind, shown in (("image/svg+xml", _svg), ("text/html", _html)):
        shell.display_formatter.formatters[kind].for_type(type(Machine), shown)


def _svg(cls: type) -> str | None:
    return Diagram(cls).svg if _is_whole(cls) else None


def _html(cls: type) -> str | None:
    return Diagram(cls).note if _is_whole(cls) else None


def _is_whole(cls: type) -> bool:
    return issubclass(cls, Machine) and cls is not Machine
