"""Machines and results in a Jupyter notebook: diagrams, tables of states, verdicts.

An instance of a machine and the results of checks and replays display themselves. `diagram` shows
the control states of a class; after `%load_ext lawful.notebook` a class shows them by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from lawful.checks.explore import CheckResult, explore
from lawful.checks.explore.limits import Limits
from lawful.checks.explorer.explorer_page import diagram as picture
from lawful.runtime.instance import Machine
from lawful.spec.resolve import resolve

from .targets import scoped

__all__ = ["Diagram", "check", "diagram", "load_ipython_extension"]


class Diagram:
    """The control states of a machine as a notebook shows them; a note where Graphviz is missing.

    Raises `DeclarationError` where the declaration is refused.
    """

    def __init__(self, machine: type[Machine]) -> None:
        shown = picture(resolve(machine).machine)
        self.svg = shown if shown.startswith("<svg") else None
        self.note = None if self.svg else shown

    def _repr_svg_(self) -> str | None:
        return self.svg

    def _repr_html_(self) -> str | None:
        return self.note


def diagram(machine: type[Machine]) -> Diagram:
    """The control states of a machine. Raises `DeclarationError`."""
    return Diagram(machine)


def check(
    machine: type[Machine], *, scope: Sequence[str] = (), max_seconds: float | None = None
) -> CheckResult:
    """Explore a machine within its scope, as `lawful check` does; `scope` is that of `--scope`.

    Raises `DeclarationError`, and `TargetError` for a scope that it does not have.
    """
    found = scoped(machine, scope)
    limits = Limits(seconds=max_seconds)
    return explore(found.flat, found.world, found.expects, limits=limits)


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
