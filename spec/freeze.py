"""Freezing: writes the IR of a module's machines beside it, for deployments without source.

`spec.codec.frozen` reads the file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .codec import as_json, frozen
from .errors import DeclarationError, Unsupported
from .ir import Json
from .resolve import Resolved, resolve
from .syntax.declare import Declaration, declared
from .syntax.members import chain_of, outline_of
from .values.literal_texts import LiteralText


class CannotFreeze(Unsupported):
    """A machine of the module has no frozen form; the text says why."""


def document(module: str, machines: Iterable[type[Declaration]]) -> Json:
    """The document of a module's machines; `CannotFreeze`, or `DeclarationError`."""
    found = {cls.__qualname__: (cls, _resolved(cls)) for cls in machines}
    folder = os.path.dirname(_file(module))
    codes: dict[str, Json] = {"": frozen.digests(Path(_file(module)).read_text("utf-8"))}
    for name in sorted({name for row in found.values() for name in _modules(*row)} - {module}):
        if name.partition(".")[0] not in sys.stdlib_module_names and _has_source(name):
            codes[name] = frozen.digests(Path(_file(name)).read_text("utf-8"))
    rows: dict[str, Json] = {
        name: None if resolved is None else _machine(cls, resolved, module, folder)
        for name, (cls, resolved) in found.items()
    }
    return {
        "format": frozen.FORMAT,
        "version": frozen.VERSION,
        "python": frozen.PYTHON,
        "codes": codes,
        "machines": rows,
    }


def write(module: str, machines: Iterable[type[Declaration]]) -> Path:
    """Write the document beside the module's file; returns its path."""
    text = as_json.canonical(document(module, machines)) + "\n"
    path = Path(frozen.path_beside(_file(module)))
    path.write_text(text, encoding="utf-8")
    return path


def _machine(cls: type[Declaration], resolved: Resolved, module: str, folder: str) -> Json:
    written = as_json.to_json(resolved.machine)
    assert as_json.is_object(written)
    # From the module's folder: a deployment has it somewhere else.
    files: list[str] = written["files"]
    written["files"] = [os.path.relpath(file, folder).replace(os.sep, "/") for file in files]
    outlined: list[Json] = [*outline_of(cls, resolved.world)]
    classes: dict[str, Json] = {}
    for kind, rows in _classes(resolved).items():
        classes[kind] = {name: _address(cls, row, module) for name, row in rows.items()}
    world = resolved.world
    encoded: dict[str, Json] = {
        name: [*sorted(each.__name__ for each in types)] for name, types in world.encodable.items()
    }
    row: dict[str, Json] = {
        "ir": written,
        "outline": outlined,
        "classes": classes,
        "encoded": encoded,
    }
    texts: dict[str, Json] = {
        name: [each.value for each in cls]
        for name, cls in world.enums.items()
        if issubclass(cls, LiteralText)
    }
    return {**row, "literals": texts} if texts else row


def _classes(resolved: Resolved) -> dict[str, dict[str, type[Any]]]:
    world = resolved.world
    return {
        "enums": {n: c for n, c in world.enums.items() if not issubclass(c, LiteralText)},
        "records": {**world.records},
        "sorts": {**world.sorts},
        "opaques": {**world.opaques},
        "parts": {**resolved.parts},
    }


def _address(owner: type[Declaration], cls: type[Any], module: str) -> Json:
    if "<locals>" in cls.__qualname__:
        raise CannotFreeze(
            f"{owner.__name__} uses {cls.__name__}, a class made in a function: "
            "declare it at the top of a module"
        )
    return ["" if cls.__module__ == module else cls.__module__, cls.__qualname__]


def _resolved(cls: type[Declaration]) -> Resolved | None:
    """The resolved machine; None for an abstract one that has no meaning alone."""
    try:
        return resolve(cls)
    except DeclarationError:
        if declared(cls).abstract:
            return None
        raise


def _modules(cls: type[Declaration], resolved: Resolved | None) -> set[str]:
    """The modules in whose source the machine is written."""
    if resolved is None:
        return set()
    machine = resolved.machine
    machines = (machine, *machine.parts, *machine.abstracts)
    files = {row.place.file for machine in machines for row in machine.functions}
    # A function of a module bears its module's name.
    functions = {
        name for name, each in list(sys.modules.items()) if getattr(each, "__file__", "") in files
    }
    classes = [c for rows in _classes(resolved).values() for c in rows.values()]
    return functions | {c.__module__ for c in (*classes, *chain_of(cls))}


def _has_source(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and file.endswith(".py") and os.path.isfile(file)


def _file(module: str) -> str:
    if not _has_source(module):
        raise CannotFreeze(f"{module} has no source file: it is frozen where its source is")
    return str(sys.modules[module].__file__)
