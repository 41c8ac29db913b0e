"""The base of every declaration: reads its own class statement when the class is created."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from keyword import iskeyword
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import DeclarationError, Place, Problem, a
from ..words import Expect, Fairness, Scope, header
from . import source
from .hints import names_with_hints

if TYPE_CHECKING:  # The parser is imported when there is a declaration.
    from ..codec.frozen import Frozen
    from .tree import Class as ClassTree
    from .tree import Method as MethodTree

ENGINE = "lawful.runtime"
RESERVED = frozenset({"lawful", "scope", "expects", "fairness", "deadlock_ok"})


@dataclass(frozen=True)
class Names:
    """The meaning of a name at the class statement: locals of an enclosing function, then
    globals."""

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
        """The object of an annotation written as text, as `typing` evaluates it."""
        code = compile(text, "<annotation>", "eval")  # See `quick_dataclass` for the reason.
        return eval(code, dict(self.globals), dict(self.locals))


@dataclass(frozen=True)
class Declared:
    """A class statement as read: its syntax, its names, its file.

    Where its source is not readable, `tree` holds nothing and `frozen` what was read once.
    """

    tree: ClassTree
    names: Names
    file: str
    abstract: bool
    frozen: Frozen | None = None

    def place(self, name: str) -> Place:
        """The place of a member; the class's own place for a member that it does not assign."""
        places = dict(self.tree.assigned)
        places.update((field.name, field.place) for field in self.tree.fields)
        places.update((method.name, method.place) for method in self.tree.methods)
        return places.get(name, self.tree.place)

    def method(self, name: str) -> MethodTree | None:
        """The last method of that name, as Python has it."""
        found = [m for m in self.tree.methods if m.name == name]
        return found[-1] if found else None


def slot(name: str) -> str:
    """The slot for the variable or parameter of this name in an instance."""
    return f"_{name}_"


class Body(dict[str, Any]):
    """The names of a class statement that is a declaration, while it runs."""


class Declaring(type):
    """Makes the classes of declarations: a slot for each field, so that an instance is small."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **settings: Any) -> Body:
        return Body()

    def __new__(
        cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **settings: Any
    ) -> Declaring:
        family = [base for base in bases if isinstance(base, Declaring)]
        if not family or space["__module__"].startswith(ENGINE):
            return super().__new__(cls, name, bases, space, **settings)
        fields = [slot(field) for field in names_with_hints(space)]
        mine = [each for each in fields if each not in space and not hasattr(family[0], each)]
        # The other bases are told of, but the class does not inherit from them: see `_bases`.
        extended = {**space, "__slots__": mine, "__given__": bases}
        return super().__new__(cls, name, (family[0],), extended, **settings)


if TYPE_CHECKING:  # To mypy, classes with a metaclass of their own have nothing in common.
    Made = type
else:
    Made = Declaring


# Not empty while somebody reads a module to learn all that is wrong in it; see `deferred`.
DEFERRED: list[bool] = []


@contextmanager
def deferred() -> Generator[None]:
    """Inside, what is wrong in a class statement is told where the class is resolved, together with
    what is wrong in its names and types; so the statements after the class are read, too."""
    DEFERRED.append(True)
    try:
        yield
    finally:
        DEFERRED.pop()


class Declaration(metaclass=Made):
    """A class whose statement is a declaration; `lawful.Machine` derives from it."""

    __slots__ = ()
    __declared__: ClassVar[Declared]
    __resolved__: ClassVar[object]
    __problems__: ClassVar[tuple[Problem, ...]]
    __given__: ClassVar[tuple[type, ...]]

    def __init_subclass__(cls, abstract: bool = False) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith(ENGINE):
            return  # The root of the family is no declaration.
        from . import classes

        frame = _statement_frame(cls)
        # A class made in a function sees what stood in that function when it was made.
        around = dict(frame.f_locals) if "<locals>" in cls.__qualname__ else {}
        names = Names(frame.f_globals, around)
        node = source.read_class(cls.__name__, frame)
        if node is None:
            cls.__declared__ = _thawed(cls, frame, names, abstract)
            return
        syntax, problems = classes.class_statement(node, frame.f_code.co_filename)
        cls.__declared__ = Declared(syntax, names, frame.f_code.co_filename, abstract)
        problems += _class_level(cls, cls.__declared__)
        earlier = source.earlier_class(node, frame)
        if earlier is not None:
            problems += [_second(cls.__declared__, earlier)]
        if problems and not DEFERRED:
            raise DeclarationError(problems)
        cls.__problems__ = tuple(problems)


def _second(declared: Declared, earlier: int) -> Problem:
    """Python would forget the first class of this name without a word."""
    name = declared.tree.name
    return Problem(
        "L109",
        declared.tree.place,
        f"a second class {name}",
        f"one class {name}: the first is in line {earlier}",
        "rename one of them",
    )


def _thawed(cls: type, frame: FrameType, names: Names, abstract: bool) -> Declared:
    """A class as it was frozen; `DeclarationError` without source where it was not."""
    from ..codec import frozen
    from . import tree

    found = frozen.thawed(cls.__qualname__, frame)
    if found is None:
        code, line = frame.f_code, frame.f_lineno
        module = cls.__module__ if frame.f_globals.get("__file__") else ""
        raise source.unreadable(f"class {cls.__name__}", code.co_filename, line, module)
    bare = tree.Class(found.place, cls.__name__, "", (), (), (), (), ())
    return Declared(bare, names, found.place.file, abstract, found)


def declared(cls: type[Declaration]) -> Declared:
    """The class statement that this very class was made by."""
    found: Declared = vars(cls)["__declared__"]
    return found


def _statement_frame(cls: type) -> FrameType:
    """The frame in which the class statement runs."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == cls.__module__:
            return frame
        frame = frame.f_back
    raise source.unreadable(f"class {cls.__name__}", "<unknown>", 0)


def _class_level(cls: type[Declaration], declared: Declared) -> list[Problem]:
    """Problems of bases, reserved names, decorators, and the bodies that make up the machine."""
    problems = list(_bases(cls, declared))
    members = [(f.name, f.place, "field") for f in declared.tree.fields]
    members += [(m.name, m.place, "method") for m in declared.tree.methods]
    members += [(name, place, "") for name, place in declared.tree.assigned]
    for name, place, kind in members:
        problems += _name(cls, name, place, kind)
    for name, value in vars(cls).items():
        if isinstance(value, FunctionType):
            problems += _function(declared, name, value)
        else:
            problems += _hidden(declared, name, value)
    return problems


def _bases(cls: type[Declaration], declared: Declared) -> Iterator[Problem]:
    given = cls.__given__
    if len(given) != 1:
        found = ", ".join(base.__name__ for base in given)
        places = declared.tree.bases
        yield Problem(
            "L107",
            places[1] if len(places) > 1 else declared.tree.place,
            f"{cls.__name__}({found})",
            "one base class, a machine",
            "keep one; make the other a part (peer: Peer = Peer()), or functions of the module",
        )


SETTINGS: dict[str, tuple[type, str]] = {
    "scope": (Scope, "Scope(Nat=range(0, 4))"),
    "expects": (Expect, 'Expect(no_loss="violated")'),
    "fairness": (Fairness, 'Fairness(Weak("send"))'),
    "deadlock_ok": (bool, "True"),
}


def _name(cls: type, name: str, place: Place, kind: str) -> Iterator[Problem]:
    """A reserved name; or one of the four settings that is not what it must be."""
    if name in SETTINGS and not kind:
        wanted, example = SETTINGS[name]
        if not isinstance(vars(cls).get(name), wanted):
            found = f"{name} = {vars(cls).get(name)!r}"[:80]
            yield Problem(
                "L108", place, found, f"{a(wanted.__name__)}", f"write {name} = {example}"
            )
    elif name == "__init__":
        yield Problem(
            "L108",
            place,
            "__init__",
            "defaults of fields, or @initial",
            "give the fields defaults; what depends on arguments goes into an @initial method",
        )
    elif name in RESERVED:
        rewrite = "choose another name"
        if name in SETTINGS:
            rewrite = f"write {name} = {SETTINGS[name][1]}, or choose another name"
        expected = f"{a(kind or 'constant')} with a name of its own"
        yield Problem("L108", place, name, expected, rewrite)
    elif not name.isidentifier() or iskeyword(name):
        expected = "a name that Python can call: machine.name(...)"
        yield Problem("L108", place, repr(name), expected, "choose another name")
    elif name.startswith("_") and not _is_private(vars(cls).get(name), name, kind):
        yield Problem(
            "L108",
            place,
            name,
            "a name that does not begin with _; helpers and constants may, with one _",
            f"call it {name.strip('_') or 'something'}",
        )


SHOWS = ("__str__", "__repr__", "__format__")


def _is_private(value: object, name: str, kind: str) -> bool:
    """Whether it is a helper or a constant whose name begins with one `_`: `_count`; or how
    Python shows an instance, which the machine does not read."""
    if name in SHOWS and kind == "method":
        return header(value) is None
    one = not name.startswith("__") and not name.endswith("_")
    return one and kind not in ("field", "event") and header(value) is None


def _hidden(declared: Declared, name: str, value: object) -> Iterator[Problem]:
    """A part of the machine that another decorator made something else of."""
    inner = (getattr(value, word, None) for word in ("__wrapped__", "__func__", "fget"))
    head = next((header(each) for each in (value, *inner) if header(each) is not None), None)
    method = declared.method(name)
    if head is not None and method is not None:
        yield from _decorators(method, head.kind)


def _decorators(method: MethodTree, kind: str) -> Iterator[Problem]:
    if len(method.decorators) != 1:
        yield Problem(
            "L105",
            method.decorators[0],
            f"{len(method.decorators)} decorators on {method.name}",
            f"@{kind} alone",
            "a method is one thing; move what the other does elsewhere",
        )


def _function(declared: Declared, name: str, function: FunctionType) -> Iterator[Problem]:
    """Problems of a function of the class that one of our decorators makes part of the machine."""
    from . import tree

    head = header(function)
    if head is None:
        return
    method = declared.method(name)
    if method is None and inspect.iscoroutinefunction(function):
        return  # That it is none of the language was noted where it stands.
    if method is None or function.__name__ != name:
        yield Problem(
            "L106",
            declared.place(name),
            f"{name} = {function.__name__}",
            "each transition and property under one name",
            f"write def {name}(self) with its body",
        )
        return
    if head.event is not None:
        yield from _name(object, head.event, method.decorators[0], "event")
    event = head.kind == "event"
    excused = ("L102",) if event and method.unwritten else ()
    yield from (problem for problem in method.problems if problem.number not in excused)
    yield from _decorators(method, head.kind)
    if event and any(not isinstance(s, tree.Skip) for s in method.body):
        yield Problem(
            "L102",
            method.body[0].place,
            f"a body of the event {name}",
            "an event without a body",
            f"write `...` here, or raise NotImplementedError where a type checker asks for an "
            f'output; what happens goes into @transition(event="{name}")',
        )
