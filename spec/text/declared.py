"""The settings of a declaration for checking, as Python: fairness, expectations, scopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import ir
from ..legal.fairness import shared
from ..resolve import Resolved
from ..words import Expect, Scope
from .expressions import quoted
from .statements import machine


def declaration(found: Resolved) -> str:
    """The whole declaration as a module's text."""
    settings: list[list[str]] = []
    if found.machine.fairness:
        groups = (_group(found.machine, group) for group in found.machine.fairness)
        settings.append([f"fairness = Fairness({', '.join(groups)})"])
    if found.expects:
        settings.append([f"expects = Expect({_keywords(found.expects)})"])
    settings += [[f"{name} = {_scope(scope)}"] for name, scope in found.scopes.items()]
    return machine(found.machine, settings)


def _group(machine: ir.Machine, group: ir.Fair) -> str:
    strength, names, each = group
    each_text = f", each={_plain(each)}" if each or shared(machine, names) else ""
    return f"{strength.capitalize()}({', '.join(map(quoted, names))}{each_text})"


def _scope(scope: Scope) -> str:
    dotted = {name: bound for name, bound in scope.bounds.items() if "." in name}
    named = {name: bound for name, bound in scope.bounds.items() if "." not in name}
    given = [_plain(dotted)] if dotted else []
    given += [_keywords(named)] if named else []
    if isinstance(scope.expects, Expect):
        given.append(f"expects=Expect({_keywords(scope.expects.verdicts)})")
    return f"Scope({', '.join(given)})"


def _keywords(given: Mapping[str, Any]) -> str:
    """Names with their values; names of parts, which are no Python identifiers, go into a
    mapping."""
    dotted = {name: value for name, value in given.items() if "." in name}
    named = [f"{name}={_plain(value)}" for name, value in given.items() if name not in dotted]
    return ", ".join([*named, f"**{_plain(dotted)}"] if dotted else named)


def _plain(value: Any) -> str:
    """A bound or a verdict as it is written."""
    content = value  # Its type is one that no test below narrows.
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_plain(k)}: {_plain(v)}' for k, v in content.items())}}}"
    if isinstance(value, tuple):
        inside = ", ".join(map(_plain, content))
        return f"({inside},)" if len(content) == 1 else f"({inside})"
    return repr(content)
