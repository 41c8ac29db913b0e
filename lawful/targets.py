"""TARGET of the command line: a module, a file, a folder or a package, or one machine of them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

from lawful.runtime.instance import Machine
from lawful.spec import types as t
from lawful.spec.codec.as_json import whole
from lawful.spec.errors import DeclarationError, Problem
from lawful.spec.flat import Flat
from lawful.spec.ir import Parameter, Variable
from lawful.spec.lower import lower
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import Resolved, abstract_scopes, resolve, settings_of
from lawful.spec.syntax.declare import declared, deferred
from lawful.spec.values.world import World
from lawful.spec.words import Expected, Scope

from .declaring_files import declaring_files
from .module_roots import enter

T = TypeVar("T")
NO_SCOPE = "it has no scope, and a sort or a Nat needs one"


class TargetError(Exception):
    """The target cannot be used; the text says what was looked for and what was found."""


@dataclass(frozen=True, slots=True)
class ScopedMachine:
    """A machine as the engines read it: lowered within a scope, with its expected verdicts."""

    cls: type[Machine]
    resolved: Resolved
    scope: Scope
    flat: Flat
    expects: Mapping[str, Expected]

    @property
    def world(self) -> World:
        """The classes of the machine's values."""
        return self.resolved.world

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the whole declaration."""
        return _fingerprint(self.cls)


@lru_cache(maxsize=64)
def _fingerprint(cls: type[Machine]) -> str:
    # `cls.lawful` has it, too, but compiles the class for that.
    found = resolve(cls)
    return whole(found.machine, settings_of(found))


class Chosen(NamedTuple):
    """A machine that a command takes; `where` is its module or file."""

    cls: type[Machine]
    where: str

    @property
    def target(self) -> str:
        """The target that names this machine alone."""
        return f"{self.where}:{self.cls.__name__}"


class Skipped(NamedTuple):
    """A machine of a module that is left out, and why."""

    machine: str
    why: str


def machines(target: str) -> list[type[Machine]]:
    """The machines that a target names, for what needs no scope; see `chosen`."""
    return [each.cls for each in chosen(target, or_unscoped=True)[0]]


def none_given(_cls: type[Machine]) -> Sequence[str]:
    """What is given where nobody but a machine itself says its scope."""
    return ()


def chosen(
    target: str,
    *,
    scoped: bool = True,
    or_unscoped: bool = False,
    given: Callable[[type[Machine]], Sequence[str]] = none_given,
) -> tuple[list[Chosen], list[Skipped]]:
    """The machines that a target names, and the machines of its modules that are left out.

    A target with a machine's name means that machine. A target without one means every machine of
    the module that has a scope or needs none; those without a scope are left out, unless `scoped`
    is false. With `or_unscoped` they are taken where no machine has one. Parts and abstract
    machines are in neither list. A package or a folder means all its
    modules. `given` is what others say of a machine's scope, as of `--scope`.

    Raises `TargetError`, and `DeclarationError` where the declaration is refused.
    """
    where, colon, name = target.partition(":")
    if not where or (colon and not name):
        raise TargetError(
            f"{target!r} is not a target; expected package.module[:Machine] or file.py[:Machine]"
        )
    if name:
        with deferred():
            module = _read(where)
        if not _is_machine(getattr(module, name, None)):
            known = ", ".join(_defined(module)) or "none"
            raise TargetError(f"{where} has no machine {name}; it defines: {known}")
        found: type[Machine] = getattr(module, name)
        return [Chosen(found, where)], []
    with deferred():
        modules = list(_modules(where))
    _judge([each for _, each in modules])
    defined = [Chosen(cls, at) for at, each in modules for cls in _defined(each).values()]
    whole = [each for each in defined if not declared(each.cls).abstract]
    parts = {part for each in whole for part in resolve(each.cls).parts.values()}
    own = [each for each in whole if each.cls not in parts]
    out = [each for each in own if not scoped or _checkable(each.cls, given(each.cls))]
    if or_unscoped and not out:
        out = own
    skipped = [Skipped(each.cls.__name__, NO_SCOPE) for each in own if each not in out]
    if not out:
        rows = [f"{cls.__name__} ({_why_not(cls, cls in parts)})" for cls, _ in defined]
        listing = ", ".join(rows) or "it defines none"
        raise TargetError(f"{where} defines no machine that can be checked: {listing}")
    return out, skipped


def _judge(modules: Sequence[ModuleType]) -> None:
    """Raise `DeclarationError` with all that is wrong in modules, if a machine is refused."""
    machines = [cls for each in modules for cls in _defined(each).values()]
    if any(vars(cls).get("__problems__") or _refused(cls, resolve) for cls in machines):
        raise DeclarationError(problems_of(machines))


def problems_of(machines: Iterable[type[Machine]]) -> list[Problem]:
    """All that is wrong in machines: their statements, names, types and scopes."""
    found: dict[Problem, None] = {}
    for cls in machines:
        found.update(dict.fromkeys(_refused(cls, resolve) or _refused(cls, _lowered)))
    return list(found)


def _refused(cls: type[Machine], read: Callable[[type[Machine]], object]) -> tuple[Problem, ...]:
    """The problems that reading tells of; of an abstract machine those of its statements alone."""
    if declared(cls).abstract:
        early: tuple[Problem, ...] = vars(cls).get("__problems__", ())
        return early
    try:
        read(cls)
    except DeclarationError as error:
        return error.problems
    return ()


def _lowered(cls: type[Machine]) -> None:
    found = resolve(cls)
    if "scope" in found.scopes:
        lower(found.machine, found.scopes["scope"], abstract_scopes(found))


def all_of_text(path: Path, text: str) -> tuple[list[type[Machine]], list[Problem]]:
    """The machines of a file that has this text, saved or not, and all that is wrong in them.

    Python's cache of lines must have the text. Raises `TargetError` where the text cannot be run,
    and `DeclarationError` where a decorator refuses what it is given.
    """
    name, root = _in_package(path.absolute())
    sys.path.insert(0, str(path.absolute().parent if root is None else root))
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = name.rpartition(".")[0]
    sys.modules[name] = module
    with deferred():
        _run(lambda: exec(compile(text, str(path), "exec"), vars(module)), str(path))
    machines = list(_defined(module).values())
    return machines, problems_of(machines)


def _why_not(cls: type[Machine], part: bool) -> str:
    if declared(cls).abstract:
        return "abstract"
    return "a part" if part else NO_SCOPE


def in_folder(target: str, folder: Path) -> str:
    """The same target for any current folder: a path from the folder, or a module that is found
    there; where neither is, from the nearest folder above it that has it."""
    where, colon, name = target.partition(":")
    path = Path(where) if where.endswith(".py") else Path(*where.split("."))
    files = (path,) if path.suffix == ".py" else (path.with_suffix(".py"), path / "__init__.py")
    start = folder.resolve()
    above = (each for each in (start, *start.parents) if any((each / f).is_file() for f in files))
    root = next(above, start)
    if where.endswith(".py"):
        return f"{root / where}{colon}{name}"
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return target


def machine(target: str) -> type[Machine]:
    """The one machine that a target names; raises as `machines`, and where it names several."""
    found = machines(target)
    if len(found) > 1:
        names = ", ".join(cls.__name__ for cls in found)
        raise TargetError(f"{target} has several machines; name one of them: {names}")
    return found[0]


def declared_in(where: str) -> tuple[str, list[type[Machine]]]:
    """The name of a module or file, and every machine that it defines, parts included.

    Raises `TargetError` for a machine of a module, and where a module defines none.
    """
    if ":" in where:
        raise TargetError(f"{where} names a machine; freeze takes a whole module")
    module = _module(where)
    found = _defined(module)
    if not found:
        raise TargetError(f"{where} defines no machine")
    return module.__name__, list(found.values())


def _defined(module: ModuleType) -> dict[str, type[Machine]]:
    """The machines by their names; a second name of one is left out."""
    name = module.__name__
    own = (c for c in vars(module).values() if _is_machine(c) and c.__module__ == name)
    return {c.__name__: c for c in own}


def check_sorts(cls: type[Machine], names: Iterable[str]) -> None:
    """Raises TargetError unless the machine has a sort of each name."""
    known = [kind.name for kind in resolve(cls).machine.types if isinstance(kind, t.Sort)]
    for name in names:
        if name not in known:
            have = f"it has: {', '.join(known)}" if known else "it has none"
            raise TargetError(f"{cls.__name__} has no sort {name}; {have}")


def scope_of(cls: type[Machine], given: Sequence[str]) -> Scope:
    """The machine's scope, or the named one, with the bounds given as KEY=VALUE."""
    scopes = resolve(cls).scopes
    scope = scopes.get("scope", Scope())
    changes: dict[str, object] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            if key not in scopes:
                known = ", ".join(scopes) or "none"
                raise TargetError(f"{cls.__name__} has no scope {key}; it has: {known}")
            over = scopes[key]
            scope = scope.widened(over.bounds, over.inherited)  # `scope` gives its other bounds.
        else:
            changes[key] = _bound(cls, key, value)
    return scope.widened(changes)


def scoped(
    cls: type[Machine], given: Sequence[str], expects: Mapping[str, Expected] = {}
) -> ScopedMachine:
    """The machine within its scope, as `scope_of` and `expectations` read `--scope`.

    `expects` are verdicts that are expected in place of those of the declaration.
    Raises `TargetError`, and `DeclarationError` where the scope leaves a type without a bound.
    """
    resolved, scope = resolve(cls), scope_of(cls, given)
    flat = lower(resolved.machine, scope, abstract_scopes(resolved))
    return ScopedMachine(cls, resolved, scope, flat, {**expectations(cls, given), **expects})


def _bound(cls: type[Machine], key: str, value: str) -> object:
    """The bound that the text means: `0..7` is a range, `1,2` are values to try, `4` is a size or,
    for a parameter, its only value."""
    try:
        if ".." in value:
            low, high = value.split("..")
            return range(int(low), int(high) + 1)
        if "," in value:
            return tuple(int(part) for part in value.split(","))
        if any(p.name == key for p in resolve(cls).machine.parameters):
            return (int(value),)
        return int(value)
    except ValueError:
        raise TargetError(f"{key}={value} is no bound: expected N, A..B or A,B,C") from None


def _modules(where: str) -> Iterator[tuple[str, ModuleType]]:
    """The module of this name or file; of a package or folder, all that may declare machines."""
    if Path(where).is_dir():
        for path in declaring_files(Path(where)):
            yield str(path), _read(str(path))
        return
    package = _read(where)
    yield where, package
    for folder in vars(package).get("__path__", ()):
        for path in declaring_files(Path(folder)):
            names = path.relative_to(folder).with_suffix("").parts
            inner = ".".join((where, *(names[:-1] if names[-1] == "__init__" else names)))
            if inner != where:
                yield inner, _read(inner)


def _read(where: str) -> ModuleType:
    """The module, whose machines are resolved while their imports are what Python finds: the next
    target may have a module of the same name."""
    module = _module(where)
    for cls in _defined(module).values():
        _refused(cls, resolve)
    return module


def _module(where: str) -> ModuleType:
    if where.endswith(".py"):
        path = Path(where)
        if not path.is_file():
            raise TargetError(f"there is no file {where}")
        name, root = _in_package(path.absolute())
        if root is not None:
            return _of_package(name, root, path)
        spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
        if spec is None or spec.loader is None:
            raise TargetError(f"{where} is not a Python file")
        loader = spec.loader
        module = importlib.util.module_from_spec(spec)
        enter(path.resolve().parent)
        sys.modules[path.stem] = module
        _run(lambda: loader.exec_module(module), where)
        return module
    if "" not in sys.path:
        sys.path.insert(0, "")
    return _run(lambda: importlib.import_module(where), where)


def _in_package(path: Path) -> tuple[str, Path | None]:
    """The name of a file's module, and the folder of its outermost package (None: no package)."""
    names, root = [path.stem], path.parent
    while (root / "__init__.py").is_file() and root.name.isidentifier():
        names.insert(0, root.name)
        root = root.parent
    return ".".join(names), None if len(names) == 1 else root


def _of_package(name: str, root: Path, path: Path) -> ModuleType:
    """Import a file as a module of its package, so that its relative imports work."""
    enter(root)
    module = _run(lambda: importlib.import_module(name), str(path))
    if module.__file__ is None or not path.samefile(module.__file__):
        raise TargetError(
            f"{path} would be {name}, but Python finds {module.__file__} under that name"
        )
    return module


def _run(load: Callable[[], T], where: str) -> T:
    """Import the user's module. What it raises becomes a TargetError of one line."""
    try:
        return load()
    except DeclarationError:
        raise
    except ModuleNotFoundError as error:
        own = error.name is not None and f"{where}.".startswith(f"{error.name}.")
        found = f"there is no module {where}" if own else f"{where} cannot be imported"
        raise TargetError(f"{found}: {error}") from error
    except (Exception, SystemExit) as error:
        name, mend = type(error).__name__, ""
        if "relative import" in str(error):
            mend = ": its folder needs an __init__.py, or name it as package.module"
        raise TargetError(
            f"{where} cannot be imported: {name}: {error}{mend}{_line_of(error)}"
        ) from error


def _line_of(error: BaseException) -> str:
    """The place of the user's statement that raised, which is no line of lawful or of Python."""
    if isinstance(error, SyntaxError):
        return ""  # Its text has the place.
    here = Path(__file__).absolute().parent  # It has links to the folders of lawful.
    rows = [row for row in traceback.extract_tb(error.__traceback__) if row.line]
    rows = [row for row in rows if here not in Path(row.filename).absolute().parents]
    library = Path(os.__file__).parent
    own = [row for row in rows if library not in Path(row.filename).absolute().parents] or rows
    return f", in {own[-1].filename}:{own[-1].lineno}: {own[-1].line}" if own else ""


def _is_machine(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Machine) and value is not Machine


def _checkable(cls: type[Machine], given: Sequence[str]) -> bool:
    """Whether the machine has a scope, or is given one, or needs none."""
    resolved = resolve(cls)
    if "scope" in resolved.scopes or not resolved.scopes.keys().isdisjoint(given):
        return True
    rows: list[Variable | Parameter] = [*resolved.machine.variables, *resolved.machine.parameters]
    needed = {str(row.type) for row in rows if isinstance(row.type, t.Sort) or row.type == t.NAT}
    return needed <= {text.partition("=")[0] for text in given}


def expectations(cls: type[Machine], given: Sequence[str]) -> dict[str, Expected]:
    """The expected verdicts: the machine's, and those of its scope and of the named ones."""
    resolved = resolve(cls)
    out: dict[str, Expected] = dict(resolved.expects)
    for name in ("scope", *given):
        scope = resolved.scopes.get(name)
        if scope is not None and scope.expects is not None:
            out.update(scope.expects.verdicts)
    return out
