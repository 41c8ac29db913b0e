"""The fields of arguments, sought by their names and by the values of enums."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lawful.spec import types as t

from ..preparation.path_templates import Record
from ..preparation.record_paths import names_in, path_of
from .samples_of_records import values_at

DECIMAL = re.compile(r"[+-]?[0-9]+[.]([0-9]{1,9})")
MOST = 0.8  # Of the values of a field are members of an enum.


def plain_name(text: str) -> str:
    """A name without case and punctuation."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def cast_for(values: Sequence[Any], kind: t.Type) -> str:
    """The cast that texts and decimal numbers of a field need to be values of a type; empty where
    they need none."""
    texts = [value for value in values if isinstance(value, str)]
    decimals = [repr(value) for value in values if isinstance(value, float)]
    if isinstance(kind, t.Bool) and texts:
        return "bool"
    if not isinstance(kind, t.Int) or not (texts or decimals):
        return ""
    digits = [len(match[1]) for match in map(DECIMAL.fullmatch, texts) if match]
    digits += [len(m[1].rstrip("0")) for m in map(DECIMAL.fullmatch, decimals) if m]  # 3.0 is 3.
    return f"fixed({max(digits)})" if digits else "int"


def field_named(paths: Sequence[str], name: str) -> str | None:
    """The path whose last name is this one, or else that has it in it."""
    wanted = plain_name(name)
    lasts = [(path, plain_name(_last(path, paths))) for path in paths]
    exact = [path for path, last in lasts if last == wanted]
    inside = [path for path, last in lasts if wanted in last and len(wanted) > 2]
    return next(iter([*exact, *(inside if len(inside) == 1 else [])]), None)


def _last(path: str, paths: Sequence[str]) -> str:
    """The name of a field: of the value of an option, as Quint writes it, that of the option."""
    *outer, name = names_in(path)
    option = name == "value" and path_of((*outer, "tag")) in paths
    return outer[-1] if option and outer else name


def field_holding(records: Sequence[Record], paths: Sequence[str], kind: t.Type) -> str | None:
    """The one field with values of an enum, in any case, and hardly any other."""
    if not isinstance(kind, t.Enum):
        return None
    known = {*map(plain_name, kind.members)}
    found: list[str] = []
    for path in paths:
        members = [plain_name(str(value)) in known for value in values_at(records, path)]
        if any(members) and sum(members) >= MOST * len(members):
            found.append(path)
    return found[0] if len(found) == 1 else None


def members_for(values: Sequence[Any], kind: t.Type) -> dict[str, str]:
    """The members of an enum by the texts that stand for them, where these differ."""
    if not isinstance(kind, t.Enum):
        return {}
    known = {plain_name(name): name for name in kind.members}
    texts = sorted({value for value in values if isinstance(value, str)})
    pairs = ((text, known.get(plain_name(text), text)) for text in texts)
    return {text: name for text, name in pairs if text != name and text not in kind.members}
