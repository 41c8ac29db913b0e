"""What a declaration says of checking itself, as Python: fairness, expectations, scopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .formula import quoted
from .resolve import Resolved
from .show import machine
from .words import Expect, Fairness, Group, Scope


def declaration(found: Resolved) -> str:
    """The whole declaration as a module's text."""
    said: list[list[str]] = []
    if found.fairness is not None:
        said.append([f"fairness = {_fairness(found.fairness)}"])
    if found.expects:
        said.append([f"expects = Expect({_keywords(found.expects)})"])
    said += [[f"{name} = {_scope(scope)}"] for name, scope in found.scopes.items()]
    return machine(found.machine, said)


def _fairness(fairness: Fairness) -> str:
    return f"Fairness({', '.join(map(_group, fairness.groups))})"


def _group(group: Group) -> str:
    each = "" if group.each is None else f", each={_plain(group.each)}"
    return f"{group.strength.capitalize()}({', '.join(map(quoted, group.names))}{each})"


def _scope(scope: Scope) -> str:
    dotted = {name: bound for name, bound in scope.bounds.items() if "." in name}
    named = {name: bound for name, bound in scope.bounds.items() if "." not in name}
    given = [_plain(dotted)] if dotted else []
    given += [_keywords(named)] if named else []
    if isinstance(scope.expects, Expect):
        given.append(f"expects=Expect({_keywords(scope.expects.verdicts)})")
    return f"Scope({', '.join(given)})"


def _keywords(given: Mapping[str, Any]) -> str:
    """Names with their values; those of parts, which are no names of Python, stand in a map."""
    dotted = {name: value for name, value in given.items() if "." in name}
    named = [f"{name}={_plain(value)}" for name, value in given.items() if name not in dotted]
    return ", ".join([*named, f"**{_plain(dotted)}"] if dotted else named)


def _plain(value: Any) -> str:
    """A bound or a verdict as it is written."""
    content = value  # Of a type that no test below narrows.
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_plain(k)}: {_plain(v)}' for k, v in content.items())}}}"
    if isinstance(value, tuple):
        inside = ", ".join(map(_plain, content))
        return f"({inside},)" if len(content) == 1 else f"({inside})"
    return repr(content)
