"""Machines without their source: the IR that `lawful freeze` wrote beside a module.

    document := {"format": "lawful-frozen", "version", "python", "codes": {module: [digest*]},
                 "machines": {qualified name: machine}}
    machine  := {"ir": document of `as_json`, "outline": [text*],
                 "classes": {"enums" | "records" | "sorts" | "opaques" | "parts":
                             {name: [module, name]}},
                 "encoded": {opaque: ["bytes" | "int" | "UUID" ... of its annotation]}}
              | null, where it is abstract and has no meaning alone

Where the source is readable it alone counts. Otherwise the classes must be those that were frozen:
what Python tells of them in every version is their outline; where this is the version of Python
that froze them, also the code of their modules, whatever lines it stands in.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeGuard

from .. import ir, sha256
from ..errors import DeclarationError, Place, Problem
from ..ir import Json
from ..quick_dataclass import dataclass
from ..records import field_names
from ..values.literal_texts import literal_class
from ..values.opaques import encoded_class
from ..values.world import World
from ..words import Header, Ignored, header
from . import as_json

FORMAT = "lawful-frozen"
VERSION = 2
SUFFIX = ".lawful.json"
PYTHON = importlib.util.MAGIC_NUMBER.hex()
CLASSES = {"enums", "records", "sorts", "opaques", "parts"}
# What a class statement stores of the layout of its source alone.
LAYOUT = frozenset({"__doc__", "__firstlineno__", "__static_attributes__"})


@dataclass(frozen=True, slots=True)
class Frozen:
    """One machine of a document; `names` are the globals of its module."""

    path: str
    row: Mapping[str, Any]
    codes: Mapping[str, Any]
    names: Mapping[str, Any]
    place: Place

    def machine(self, module: str) -> ir.Machine:
        """The machine; `DeclarationError` where the row holds none that this lawful knows."""
        try:
            read = as_json.from_json(self.row.get("ir"))
        except ValueError as error:
            raise self.unfit(str(error)) from error
        return dataclasses.replace(read, module=module)

    def classes(self, table: str) -> dict[str, type[Any]]:
        """The classes of one kind by their names."""
        rows: dict[str, list[str]] = self.row["classes"][table]
        return {name: self._class(*row) for name, row in rows.items()}

    def _class(self, module: str, name: str) -> type[Any]:
        try:
            names = vars(importlib.import_module(module)) if module else self.names
            first, *rest = name.split(".")
            found: Any = functools.reduce(getattr, rest, names[first])
        except (ImportError, KeyError, AttributeError) as error:
            where = module or "its module"
            raise self.unfit(f"{name}, which no longer exists in {where}") from error
        return found  # type: ignore[no-any-return]  # it was a class when it was frozen

    def world(self) -> World:
        """The classes behind the machine's types."""
        enums, records, sorts = map(self.classes, ("enums", "records", "sorts"))
        # Older documents have neither of these.
        texts: dict[str, list[str]] = self.row.get("literals", {})
        rows: dict[str, list[str]] = self.row.get("encoded", {})
        enums.update((name, literal_class(tuple(row))) for name, row in texts.items())
        encodable = {
            n: frozenset(e for e in map(encoded_class, row) if e is not None)
            for n, row in rows.items()
        }
        return World(enums, records, sorts, self.classes("opaques"), encodable=encodable)

    def judge(self, outline: list[str]) -> None:
        """`DeclarationError` where the classes, or a module's code, are not those of then."""
        known: list[str] = self.row["outline"]
        if outline != known:
            differing = sorted(set(outline) ^ set(known)) or ["members in another order"]
            raise self.unfit(differing[0])
        for module, digests in self.codes.items():
            code = code_of(module) if module else None
            if code is not None and digest_of(code) not in digests:
                raise self.unfit(f"{module}, whose code is another")

    def unfit(self, found: str) -> DeclarationError:
        """The error for a document that is not of these classes."""
        return unfit(self.path, self.place, str(self.names.get("__name__")), found)


def unfit(path: str, place: Place, module: str, found: str) -> DeclarationError:
    """The error for a document that is not of this module, or is none."""
    return DeclarationError(
        [
            Problem(
                "L110",
                place,
                f"{os.path.basename(path)} beside it with {found}"[:200],
                "the IR of this very code",
                f"run `lawful freeze {module}` where its source is, and ship what it writes",
            )
        ]
    )


def thawed(name: str, frame: FrameType) -> Frozen | None:
    """The frozen machine of the class that is being made in `frame`; None if none was frozen.

    `DeclarationError` if this version of lawful cannot read the file, or if the file belongs to
    other code.
    """
    names = frame.f_globals
    found = _beside(names)
    if found is None:
        return None
    path, raw = found
    code = _module_code(frame)
    place = Place(frame.f_code.co_filename, frame.f_lineno, 0, frame.f_lineno, 1)
    document = _document(raw, path)
    if isinstance(document, str):
        raise unfit(path, place, str(names.get("__name__")), document)
    same = document.get("python") == PYTHON
    codes: dict[str, Any] = document["codes"] if same else {}
    row = document["machines"].get(name)
    if code is not None and codes and digest_of(code) not in codes[""]:
        raise unfit(path, place, str(names.get("__name__")), "other code")
    if row is None and name not in document["machines"]:
        return None
    return Frozen(path, row or {}, codes, names, place)


@functools.lru_cache(maxsize=4)
def _document(raw: bytes, path: str) -> dict[str, Any] | str:
    """The document; a text if something is wrong with it, which says what."""
    try:
        data = json.loads(raw)
    except ValueError:
        return "no JSON"
    if not as_json.is_object(data) or data.get("format") != FORMAT:
        return f'no "format": "{FORMAT}"'
    if data.get("version") != VERSION:
        return f"format version {data.get('version')}; this lawful reads {VERSION}"
    machines, codes = data.get("machines"), data.get("codes")
    if not as_json.is_object(machines) or not as_json.is_object(codes) or "" not in codes:
        return "too little in it"
    if not all(map(_is_row, machines.values())):
        return "a machine of another form"
    folder = os.path.dirname(path)
    for row in filter(None, machines.values()):
        row["ir"]["files"] = [_at(folder, file) for file in row["ir"]["files"]]
    return data


def _is_row(row: Any) -> bool:
    """Whether this is a machine's row, as far as it is read without a further look."""
    if row is None:
        return True  # An abstract machine, of use only to those that inherit from it.
    if not as_json.is_object(row) or not as_json.is_object(row.get("ir")):
        return False
    classes = row.get("classes")
    if not as_json.is_object(classes) or set(classes) != CLASSES:
        return False
    addresses = [a for kind in classes.values() for a in kind.values()]
    named = all(as_json.is_list(a) and len(a) == 2 for a in addresses)
    return named and as_json.is_list(row.get("outline")) and as_json.is_list(row["ir"].get("files"))


def _at(folder: str, file: str) -> str:
    return os.path.normpath(os.path.join(folder, *file.split("/")))


def _beside(names: Mapping[str, Any]) -> tuple[str, bytes] | None:
    """The file beside a module, read from where the module was loaded: a folder, an archive, a
    program."""
    file = names.get("__file__")
    if not isinstance(file, str):
        return None
    path = path_beside(file)
    read = getattr(names.get("__loader__"), "get_data", None)
    try:
        raw: bytes = Path(path).read_bytes() if read is None else read(path)
    except OSError:
        return None
    return path, raw


def path_beside(file: str) -> str:
    """The path of the file with the IR of the machines in a module."""
    return os.path.splitext(file)[0] + SUFFIX


# What tells one declaration from another when only the classes are there.


def outline(members: Mapping[str, Any], world: World) -> list[str]:
    """The facts about a machine that every version of Python gives without its source: a line for
    each.

    `members` are the fields and methods of the machine and its ancestors, by "class.name".
    """
    lines = [f"{name}: {_shown(value)}" for name, value in members.items()]
    for name, cls in world.enums.items():
        lines.append(f"enum {name}: {', '.join(cls.__members__)}")
    for name, cls in world.records.items():
        lines.append(f"record {name}: {', '.join(field_names(cls))}")
    for name, cls in world.sorts.items():
        lines.append(f"sort {name}: {', '.join(base.__name__ for base in cls.__mro__)}")
    return sorted(lines)


def _shown(value: object) -> str:
    """The kind of a member, with the arguments of its decorator."""
    match value:
        case Header() | Ignored():
            rows = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
            said = (f"{name}={_plain(each)}" for name, each in rows if each and name != "when")
            return ", ".join(said)
        case _:
            return str(value)


def _plain(value: Any) -> str:
    match value:
        case enum.Enum():
            return value.name
        case type():
            return value.__name__
        case _ if as_json.is_tuple(value):
            return f"({', '.join(map(_plain, value))})"
        case _:
            return repr(value)


def member(value: object) -> Header | Ignored | None:
    """The outline of a class's member; None for one that does not belong to the machine."""
    return value if isinstance(value, Ignored) else header(value)


def code_of(module: str) -> CodeType | None:
    """The code of an imported module, from wherever it was loaded; None where nobody tells."""
    loader = getattr(sys.modules.get(module), "__loader__", None)
    try:
        code = loader.get_code(module) if loader is not None else None
    except (AttributeError, ImportError, OSError, SyntaxError):
        return None
    return code if isinstance(code, CodeType) else None


def _module_code(frame: FrameType) -> CodeType | None:
    """The code of the module that runs in `frame`; None where a function of it runs later."""
    at: FrameType | None = frame
    while at is not None and at.f_globals is frame.f_globals:
        if at.f_code.co_name == "<module>":
            return at.f_code
        at = at.f_back
    return None


@functools.lru_cache(maxsize=8)
def digest_of(code: CodeType) -> str:
    """A digest of what code does, free of lines, docstrings and the file's name."""
    return sha256.hexdigest("\n".join(_instructions(code)).encode())[:16]


def _instructions(code: CodeType) -> Iterator[str]:
    yield f"{code.co_name} {code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}"
    rows: list[str] = []
    for each in dis.get_instructions(code):
        if each.opname in ("STORE_NAME", "STORE_GLOBAL") and each.argval in LAYOUT:
            rows.pop()  # With the value that was put on the stack for it.
        else:
            rows.append(f"{each.opname} {_constant(each.argval)}")
    yield from rows


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return digest_of(value)
    if as_json.is_tuple(value):
        return f"({', '.join(map(_constant, value))})"
    # The order of a set is that of nothing.
    return f"frozenset {sorted(map(_constant, value))}" if _is_set(value) else repr(value)


def _is_set(value: Any) -> TypeGuard[frozenset[Any]]:
    return isinstance(value, frozenset)


def digests(text: str) -> list[Json]:
    """The digests that the code of a module of this text can have, asserts left out or not."""
    codes = (compile(text, "", "exec", dont_inherit=True, optimize=n) for n in (0, 1, 2))
    return [*sorted({digest_of(code) for code in codes})]
