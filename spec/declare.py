"""The base of every declaration: reads its own class statement when the class is created."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any, ClassVar

from . import parse, source, tree
from .errors import DeclarationError, Place, Problem
from .words import Dropped, Ignored, header

RESERVED = frozenset({"lawful", "scope", "expects", "fairness", "deadlock_ok"})


@dataclass(frozen=True)
class Names:
    """What a name means where the class stands: locals of an enclosing function, then globals."""

    globals: Mapping[str, Any]
    locals: Mapping[str, Any]

    def __contains__(self, name: str) -> bool:
        return name in self.locals or name in self.globals or hasattr(builtins, name)

    def __getitem__(self, name: str) -> Any:
        if name in self.locals:
            return self.locals[name]
        if name in self.globals:
            return self.globals[name]
        return getattr(builtins, name)

    def evaluate(self, text: str) -> Any:
        """The object that an annotation written as text stands for; NameError where it is none."""
        return eval(text, dict(self.globals), dict(self.locals))  # noqa: S307  # as typing.get_type_hints


@dataclass(frozen=True)
class Declared:
    """A class statement as read: its syntax, its names, its file."""

    tree: tree.Class
    names: Names
    file: str
    abstract: bool

    def place(self, name: str) -> Place:
        """Where a member stands; the class's own place for what it does not assign."""
        for member in (*self.tree.fields, *self.tree.methods):
            if member.name == name:
                return member.place
        return dict(self.tree.assigned).get(name, self.tree.place)

    def method(self, name: str) -> tree.Method | None:
        """The last method of that name, as Python has it."""
        found = [m for m in self.tree.methods if m.name == name]
        return found[-1] if found else None


class Declaration:
    """A class whose statement is a declaration; `lawful.Machine` derives from it."""

    _declared: ClassVar[Declared]

    def __init_subclass__(cls, abstract: bool = False) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith("lawful.runtime"):
            return  # The root of the family is no declaration.
        frame = _statement_frame(cls)
        node = source.read_class(cls.__name__, frame)
        syntax, problems = parse.class_statement(node, frame.f_code.co_filename)
        # A class made in a function sees what stood in that function when it was made.
        around = dict(frame.f_locals) if "<locals>" in cls.__qualname__ else {}
        names = Names(frame.f_globals, around)
        cls._declared = Declared(syntax, names, frame.f_code.co_filename, abstract)
        problems += _class_level(cls, cls._declared)
        if problems:
            raise DeclarationError(problems)


def _statement_frame(cls: type) -> FrameType:
    """The frame in which the class statement runs."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == cls.__module__ and frame.f_code.co_name != "__init_subclass__":
            return frame
        frame = frame.f_back
    raise source.unreadable(f"class {cls.__name__}", "<unknown>", 0)


def _class_level(cls: type[Declaration], declared: Declared) -> list[Problem]:
    """Problems of headers, reserved names and the bodies that a decorator makes part of it."""
    problems: list[Problem] = []
    bases = [base for base in cls.__bases__ if issubclass(base, Declaration)]
    if len(cls.__bases__) != 1 or not bases:
        found = ", ".join(base.__name__ for base in cls.__bases__)
        problems.append(
            Problem("L107", declared.tree.place, found, "one machine", "keep one base class")
        )
    members = [(f.name, f.place) for f in declared.tree.fields]
    members += [(m.name, m.place) for m in declared.tree.methods]
    for name, place in members:
        if name in RESERVED or name.startswith("_"):
            problems.append(
                Problem("L108", place, name, "a name of your own", "choose another name")
            )
    for name, value in vars(cls).items():
        if isinstance(value, FunctionType) and header(value) is not None:
            method = declared.method(name)
            problems += method.problems if method is not None else ()
        elif isinstance(value, Ignored | Dropped) and name.startswith("_"):
            problems.append(
                Problem("L108", declared.place(name), name, "a name of your own", "rename it")
            )
    return problems
