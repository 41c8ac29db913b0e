"""`dataclasses.dataclass` for modules that declare many classes of which a process uses few.

The standard library compiles up to six functions for each class: half a millisecond, and a check
has 240 classes. Here `__init__`, `__eq__` and `__hash__` are compiled when they are called for the
first time, and classes share the others. What is left of the standard library's work, to read
annotations and to make a class with slots, takes a tenth of a small check, so that it is done here
too, but for classes with annotations that mean something else than a field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache, partial
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field"]

# What tells a field from what only stands among the annotations; the standard library does not
# publish it. Where it is not there, the standard library makes all classes.
OF_FIELDS: Any = getattr(dataclasses, "_FIELD", None)
NO_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")

if TYPE_CHECKING:  # Type checkers know what the standard one does.
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False
    ) -> type | Callable[[type], type]:
        """A class decorator; the standard one describes the options. A frozen class has slots.

        The bases must be such classes, too. A class may define only `__repr__` itself.
        """
        if frozen and not slots:
            raise ValueError("a frozen class needs slots=True")
        return partial(_made, frozen=frozen, slots=slots) if cls is None else _made(cls)


def _made(cls: type[Any], frozen: bool = False, slots: bool = False) -> Any:
    cls.__doc__ = cls.__doc__ or cls.__name__  # Else the standard one inspects the signature.
    fields = _fields(cls) if slots else None
    if fields is None:
        bare = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)
        made: Any = bare(cls)
        for name, function in _functions(cls, [made], frozen).items():
            setattr(made, name, function)
        return made
    owner: list[type[Any]] = []
    owner.append(_slotted(cls, fields, _functions(cls, owner, frozen)))
    return owner[0]


def _functions(cls: type[Any], owner: list[type[Any]], frozen: bool) -> dict[str, Any]:
    """The functions of a class, by their names; `owner` will have what is made of the class."""
    made: dict[str, Any] = {
        "__init__": _first(owner, "__init__", _frozen_init if frozen else _init, frozen),
        "__eq__": _first(owner, "__eq__", _eq),
        "__hash__": _first(owner, "__hash__", _hash) if frozen else None,
    }
    if "__repr__" not in cls.__dict__:
        made["__repr__"] = _repr
    if frozen:
        made["__setattr__"] = made["__delattr__"] = _refuse
        made["__getstate__"], made["__setstate__"] = _getstate, _setstate
    return made


def _fields(cls: type[Any]) -> dict[str, Any] | None:
    """The fields by name, those of bases first; None where the standard library has to look."""
    found: dict[str, Any] = {}
    for base in cls.__mro__[-2:0:-1]:
        found |= base.__dict__.get("__dataclass_fields__", {})
    own = cls.__annotations__
    for name, kind in own.items():
        if (
            OF_FIELDS is None
            or not isinstance(kind, str)
            or any(word in kind for word in NO_FIELDS)
        ):
            return None
        given: Any = getattr(cls, name, dataclasses.MISSING)
        if isinstance(given, MemberDescriptorType):  # The slot of a base.
            given = dataclasses.MISSING
        if given.__class__.__hash__ is None:
            return None  # It refuses a list, and the like.
        is_field = isinstance(given, dataclasses.Field)
        made: Any = given if is_field else field(default=given)
        made.name, made.type, made._field_type = name, kind, OF_FIELDS
        if made.kw_only is dataclasses.MISSING:
            made.kw_only = False
        found[name] = made
    if any(isinstance(v, dataclasses.Field) and n not in own for n, v in cls.__dict__.items()):
        return None
    return found


def _slotted(cls: type[Any], fields: dict[str, Any], functions: Mapping[str, Any]) -> type[Any]:
    """The class once more, with a slot for each of its own fields."""
    space = {k: v for k, v in cls.__dict__.items() if k not in ("__dict__", "__weakref__")}
    space |= functions
    inherited = {slot for base in cls.__mro__[1:-1] for slot in base.__dict__.get("__slots__", ())}
    for name in fields:
        space.pop(name, None)
    space["__slots__"] = tuple(name for name in fields if name not in inherited)
    space["__qualname__"] = cls.__qualname__
    space["__dataclass_fields__"], space["__dataclass_params__"] = fields, PARAMS
    given = (each.name for each in fields.values() if each.init and not each.kw_only)
    space.setdefault("__match_args__", tuple(given))
    made: Any = type(cls)
    found: type[Any] = made(cls.__name__, cls.__bases__, space)
    return found


def _first(
    owner: list[type[Any]], name: str, text: Callable[[Any], str], frozen: bool = False
) -> Callable[..., Any]:
    """A function that puts the compiled one in its own place, in the class that `owner` has."""

    def first(*args: Any, **named: Any) -> Any:
        (made,) = owner
        function = _plain_init(made, frozen) if name == "__init__" else None
        if function is None:
            known: dict[str, Any] = {"MISSING": dataclasses.MISSING}
            for f in dataclasses.fields(made):
                known[f"set_{f.name}"] = getattr(getattr(made, f.name, None), "__set__", None)
                known[f"default_{f.name}"] = f.default
                known[f"make_{f.name}"] = f.default_factory
            function = _compiled(text(made), name, known)
        function.__qualname__ = f"{made.__qualname__}.{name}"
        setattr(made, name, function)
        return function(*args, **named)

    return first


def _compiled(text: str, name: str, known: dict[str, Any]) -> Any:
    # If an interrupt came here, CPython would end the process by SIGINT at its end.
    exec(compile(text, "<dataclass>", "exec"), known)
    return known[name]


def _plain_init(made: type[Any], frozen: bool) -> Any:
    """The `__init__` that sets each field to its argument, from code that all classes with so many
    fields share but for the names: to compile it for each takes a sixth of a first instance. None
    for a class that needs another one."""
    fields = dataclasses.fields(made)
    given = [f.default is not dataclasses.MISSING for f in fields]
    other = (
        not f.init or f.kw_only or f.default_factory is not dataclasses.MISSING for f in fields
    )
    if hasattr(made, "__post_init__") or any(other) or sorted(given) != given:
        return None
    names, code = tuple(f.name for f in fields), _setting(len(fields), frozen)
    known: dict[str, Any] = {}
    if frozen:
        known = {f"set_{n}": getattr(made, name).__set__ for n, name in enumerate(names)}
    else:
        code = code.replace(co_names=names)
    defaults = tuple(f.default for f in fields if f.default is not dataclasses.MISSING)
    code = code.replace(co_varnames=("self", *names))
    return FunctionType(code, known, "__init__", defaults or None)


@cache
def _setting(count: int, frozen: bool) -> CodeType:
    """The code that sets so many fields, of a frozen class by their slots."""
    line = "set_{0}(self, {1})" if frozen else "self.{1} = {1}"
    body = [line.format(n, f"field_{n}") for n in range(count)] or ["pass"]
    params = ", ".join(["self", *(f"field_{n}" for n in range(count))])
    made = _compiled(f"def __init__({params}):\n    " + "\n    ".join(body), "__init__", {})
    code: CodeType = made.__code__
    return code


def _frozen_init(made: type[Any]) -> str:
    """Sets each field by its slot, which is quicker than by name."""
    return _init(made, "set_{0}(self, {1})")


def _init(made: type[Any], setting: str = "self.{0} = {1}") -> str:
    params, named, body = ["self"], list[str](), ["pass"]
    for f in (each for each in dataclasses.fields(made) if each.init):
        made_here = f.default_factory is not dataclasses.MISSING
        given = made_here or f.default is not dataclasses.MISSING
        taken = named if f.kw_only else params
        taken.append(f"{f.name}=default_{f.name}" if given else f.name)
        value = f"make_{f.name}() if {f.name} is MISSING else {f.name}" if made_here else f.name
        body.append(setting.format(f.name, value))
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    params += ["*", *named] if named else ()
    return f"def __init__({', '.join(params)}):\n    " + "\n    ".join(body)


def _eq(made: type[Any]) -> str:
    return f"""\
def __eq__(self, other):
    if other.__class__ is self.__class__:
        return {_values(made, "self")} == {_values(made, "other")}
    return NotImplemented"""


def _hash(made: type[Any]) -> str:
    return f"def __hash__(self):\n    return hash({_values(made, 'self')})"


def _values(made: type[Any], of: str) -> str:
    """A tuple of the fields that are compared."""
    return f"({''.join(f'{of}.{f.name}, ' for f in dataclasses.fields(made) if f.compare)})"


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, *value: Any) -> None:
    what = "assign to" if value else "delete"
    raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Bare:
    """What the standard library notes of a class of which it makes no functions."""


PARAMS: Any = vars(_Bare)["__dataclass_params__"]
