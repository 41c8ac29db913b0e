"""The generated functions of one machine: their names, their syntax trees, and their compilation.

A function that calls a helper names it before the helper is compiled: the name is reserved, and
`define` asks for the helper. Each function is compiled under its own file and lines.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType

from lawful.spec.errors import Place
from lawful.spec.quick_dataclass import dataclass

from .global_names import GlobalNames
from .helper_writes import LAST, LOGGED, SUPER
from .python_ast import located
from .statements import Body


@dataclass(frozen=True, slots=True)
class GeneratedFunction:
    """A generated function: its file, its syntax tree, and its name in tracebacks."""

    file: str
    node: ast.FunctionDef
    shown: str


class _HelperNames(dict[str, str]):
    """The global names of helpers; a name that is asked for the first time is reserved, and
    the helper waits to be compiled."""

    def __init__(self, names: GlobalNames) -> None:
        super().__init__()
        self.names = names
        self.waiting: list[str] = []

    def __missing__(self, key: str) -> str:
        form = key.removeprefix(LOGGED)
        name = form.removeprefix(LAST).removeprefix(SUPER).rpartition(".")[2]
        name += "_" * (SUPER in key) + "_in_place" * (form != key)
        name += "_last" * form.startswith(LAST)
        self[key] = self.names.reserve(name)
        self.waiting.append(key)
        return self[key]


class GeneratedCode:
    """Collects the generated functions of a machine and compiles them.

    `owner` is the machine's name and module, which tracebacks show. `compile_helper` is called for
    each helper that a function calls and nobody has added yet; it adds that helper.
    """

    def __init__(
        self, names: GlobalNames, owner: tuple[str, str], compile_helper: Callable[[str], None]
    ) -> None:
        self.names = names
        self.called = _HelperNames(names)
        self.functions: list[GeneratedFunction] = []
        self._owner = owner
        self._compile_helper = compile_helper
        self._defined = 0

    def emitter(self, me: str) -> Body:
        """An emitter of a function that ends with a plain return."""
        return Body(self.names, self.called, me, returning, set())

    def add(
        self, key: str, place: Place, params: Sequence[str], body: list[ast.stmt], shown: str
    ) -> str:
        """Add a function with a first parameter `self`, at a place of the declaration; its key."""
        given = [ast.arg(each) for each in ("self", *params)]
        args = ast.arguments([], given, None, [], [], None, [])
        node = ast.FunctionDef(key, args, body or [ast.Pass()], [], None)
        if "type_params" in node._fields:  # From Python 3.12 on it has to be there.
            setattr(node, "type_params", [])  # noqa: B010  # type checkers take this for 3.11
        self.functions.append(GeneratedFunction(place.file, located(node, place), shown))
        return key

    def define(self) -> None:
        """Compile the functions added since the last call, those of each file as one module.

        What an interrupt leaves out, the next call compiles.
        """
        while self.called.waiting:
            key = self.called.waiting[-1]
            self._compile_helper(key)
            self.called.waiting = [each for each in self.called.waiting if each != key]
        count = len(self.functions)
        fresh = self.functions[self._defined : count]
        for file in dict.fromkeys(made.file for made in fresh):
            mine = [made for made in fresh if made.file == file]
            module = ast.Module([made.node for made in mine], [])
            exec(compile(module, file, "exec", dont_inherit=True), self.names.globals)
            for made in mine:
                self._named(self.names.globals[made.node.name], made.shown)
        self._defined = count

    def _named(self, function: FunctionType, shown: str) -> None:
        """Give a function the name that the user wrote, for tracebacks."""
        machine, module = self._owner
        full = f"{machine}.{shown}"
        code = function.__code__
        function.__code__ = code.replace(co_name=shown, co_qualname=full)
        function.__name__, function.__qualname__ = shown, full
        function.__module__ = module

    def text(self) -> str:
        """The generated functions as text, in the order in which they were added."""
        parts: list[str] = []
        for made in self.functions:
            where = f"# {made.shown} ({made.file}:{made.node.lineno})"
            parts.append(f"{where}\n{ast.unparse(made.node)}")
        return "\n\n\n".join(parts) + "\n"


def returning(value: ast.expr | None, place: Place) -> list[ast.stmt]:
    """The ending of a function that only returns its value."""
    return [ast.Return(value)]
