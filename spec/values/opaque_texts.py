"""The texts of opaque values of the standard library's classes: UUIDs, dates, times, durations,
exact numbers, paths.

A text gives the value back as it was, but for what `docs/store.md` names: subclasses, and the names
of fixed offsets. No module is imported before a value, or a text, of its class is at hand.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from .. import integer_texts, sha256
from ..quick_dataclass import dataclass
from .opaques import ENCODED, SEVERAL_TEXTS, base_of, class_of
from .text import shown

ZONE = r"(\[[A-Za-z0-9_+/-]+\])?"
FOLD = r"(\[fold=1\])?"
OFFSET = r"(Z|[+-][0-9]{2}:[0-5][0-9](:[0-5][0-9](\.[0-9]{6})?)?)?"
RARE = r"[+-]..:..:|\["  # An offset with seconds, a zone, a fold.
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
PART = r"([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]{1,6})?S)?"
DURATION = rf"-?P(?=[0-9T])([0-9]{{1,9}}D)?(T(?=[0-9]){PART})?"
NUMBER = r"-?([0-9]+(\.[0-9]+)?(E[+-][0-9]+)?|Infinity)"
WHOLE = f"({integer_texts.HEXADECIMAL}|[1-9][0-9]*)"
FRACTION = f"(0|-?{WHOLE}(/{WHOLE})?)"
HEX = "[0-9a-fA-F]"
ANY = r"[\s\S]*"


@dataclass(frozen=True, slots=True)
class TextForm:
    """How values of a class are written: `write` makes a text, `read` takes one that fits `pattern`
    as a whole; ValueError, or TypeError, where there is none. `format`: its name in JSON Schema;
    `beyond` is the pattern of texts that this format does not have."""

    write: Callable[[Any], str]
    read: Callable[[Any, str], Any]
    pattern: str
    format: str | None = None
    beyond: str | None = None


def _zoned(value: Any, text: str) -> str:
    """The text of a date and time, or of a time, with its zone and its fold."""
    zone = value.tzinfo
    if zone is not None and zone.__class__.__module__ != "datetime":
        key = getattr(zone, "key", None)
        if not zone.__class__.__module__.startswith("zoneinfo") or not isinstance(key, str):
            raise TypeError(f"a zone of the class {type(zone).__name__} has no name: use ZoneInfo")
        text += f"[{key}]"
    return f"{text}[fold=1]" if value.fold else text


def _write_time(value: Any) -> str:
    cls: Any = base_of(value)  # Subclasses may write something else.
    return _zoned(value, cls.isoformat(value))


def _read_offset(cls: Any, text: str) -> Any:
    """Python 3.11 and 3.12 read an offset of less than a second as none."""
    found = re.search(r"([+-])(..):(..):?(..)?\.?(.{6})?$", text)
    if found is None:
        return cls.fromisoformat(text)
    import datetime  # Whoever has such a class has imported it.

    hours, minutes, seconds, micro = (int(each or 0) for each in found.groups()[1:])
    offset = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=micro)
    zone = datetime.timezone(-offset if found[1] == "-" else offset)
    return cls.fromisoformat(text[: found.start()]).replace(tzinfo=zone)


def _read_time(cls: Any, text: str) -> Any:
    plain, *marks = text.split("[")
    value = _read_offset(cls, plain)
    fold = "fold=1]" in marks
    zones = [mark[:-1] for mark in marks if mark != "fold=1]"]
    if not zones:
        return value.replace(fold=1) if fold else value
    import zoneinfo  # Few have one.

    try:
        zone = zoneinfo.ZoneInfo(zones[0])
    except (zoneinfo.ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(f"this computer knows no time zone {zones[0]}") from error
    mine = value.replace(tzinfo=zone, fold=int(fold))
    if value.tzinfo is None or mine.utcoffset() == value.utcoffset():
        return mine
    if not hasattr(cls, "astimezone"):
        raise ValueError(f"expected a time with the offset of its zone, found {text}")
    try:
        return value.astimezone(zone)  # The zone has other rules by now: the instant counts.
    except OverflowError as error:
        raise ValueError(f"no datetime of the zone {zones[0]}: {text}") from error


def _write_duration(value: Any) -> str:
    sign, value = ("-", -value) if value.days < 0 else ("", value)
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    days = f"{value.days}D" if value.days else ""
    part = f"{seconds}.{value.microseconds:06d}" if value.microseconds else f"{seconds}"
    some = bool(value.seconds % 60 or value.microseconds)
    if not (hours or minutes or some):
        return f"{sign}P{days}" if days else "PT0S"
    # Between hours and seconds the standard wants minutes.
    told = f"{hours}H" if hours else ""
    told += f"{minutes}M" if minutes or (hours and some) else ""
    return f"{sign}P{days}T{told}{f'{part}S' if some else ''}"


def _read_duration(cls: Any, text: str) -> Any:
    found = {unit: number for number, unit in re.findall(r"([0-9.]+)([DHMS])", text)}
    seconds, _, micro = found.get("S", "0").partition(".")
    try:
        value = cls(
            days=int(found.get("D", 0)),
            hours=int(found.get("H", 0)),
            minutes=int(found.get("M", 0)),
            seconds=int(seconds),
            microseconds=int(micro.ljust(6, "0")),
        )
        return -value if text.startswith("-") else value
    except OverflowError as error:
        raise ValueError(f"no duration of a timedelta: {text}") from error


def _write_decimal(value: Any) -> str:
    return str(value).replace("e", "E")  # The context may say `capitals=0`.


def _write_fraction(value: Any) -> str:
    parts = value.as_integer_ratio()
    return "/".join(map(integer_texts.written, parts if parts[1] != 1 else parts[:1]))


def _read_fraction(cls: Any, text: str) -> Any:
    return cls(*map(integer_texts.read, text.split("/")))


def _read(cls: Any, text: str) -> Any:
    return cls(text)


def _read_number(cls: Any, text: str) -> Any:
    try:
        return cls(text)
    except ArithmeticError as error:  # An exponent that no Decimal has.
        raise ValueError(f"no {cls.__name__}: {text}") from error


FORMS: dict[str, TextForm] = {  # By the names in `opaques.TEXTS`.
    "UUID": TextForm(str, _read, f"{HEX}{{8}}(-{HEX}{{4}}){{3}}-{HEX}{{12}}", "uuid"),
    "datetime": TextForm(
        _write_time,
        _read_time,
        f"{DAY}T{CLOCK}{OFFSET}{ZONE}{FOLD}",
        "date-time",
        rf"^{DAY}T{CLOCK}$|{RARE}",
    ),
    "date": TextForm(str, lambda cls, text: cls.fromisoformat(text), DAY, "date"),
    "time": TextForm(
        _write_time,
        _read_time,
        f"{CLOCK}{OFFSET}{ZONE}{FOLD}",
        "time",
        rf"^{CLOCK}$|{RARE}",
    ),
    "timedelta": TextForm(_write_duration, _read_duration, DURATION, "duration", r"^-|\.|H[0-9]+S"),
    "Decimal": TextForm(
        _write_decimal,
        _read_number,
        NUMBER,
        "decimal",
        "[EI]",
    ),
    "Fraction": TextForm(_write_fraction, _read_fraction, FRACTION),
    "Path": TextForm(str, _read, ANY),
}


def written(value: Any, cls: type[Any]) -> str:
    """The text of a value of this class, or of a subclass. TypeError, or ValueError, for one that
    a text would not give back."""
    text = FORMS[cls.__name__].write(value)
    if type(value) is not cls and not read(text, cls) == value:
        raise TypeError(f"{value!r} is more than a {cls.__name__}: it has no text")
    return text


def own_text(value: Any) -> str | None:
    """How an opaque value is shown to a reader; None for one of a class without texts."""
    cls = base_of(value)
    try:
        if cls is not None:
            return FORMS[cls.__name__].write(value)
    except (TypeError, ValueError):  # A zone without a name.
        return str(value)
    return shown(value) if isinstance(value, ENCODED) else None


def read(text: str, cls: type[Any]) -> Any:
    """The value of a text; ValueError for another text."""
    form = FORMS[cls.__name__]
    if re.fullmatch(form.pattern, text) is None:
        raise ValueError(f"expected the text of a {cls.__name__}, found {text[:80]!r}")
    return form.read(cls, text)


def alike(one: Any, other: Any) -> bool:
    """Whether two JSON forms are the same but for texts of equal opaque values, as far as that can
    be seen without their types."""
    kinds = one.__class__, other.__class__
    if kinds == (str, str):
        return one == other or any(_equal(one, other, name) for name in sorted(SEVERAL_TEXTS))
    if kinds == (dict, dict):
        return one.keys() == other.keys() and all(alike(v, other[k]) for k, v in one.items())
    if kinds == (list, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def _equal(one: str, other: str, name: str) -> bool:
    """Whether both are texts of this class, or encodings of its values, that are equal."""
    cls = class_of(name)
    assert cls is not None
    try:
        return bool(
            read(one.removeprefix(f"{name}:"), cls) == read(other.removeprefix(f"{name}:"), cls)
        )
    except (TypeError, ValueError):
        return False


def schema(cls: type[Any]) -> dict[str, Any]:
    """The JSON Schema of the texts of a class."""
    form = FORMS[cls.__name__]
    if form.pattern == ANY:
        return {"type": "string"}
    out: dict[str, Any] = {"type": "string", "pattern": f"^{form.pattern}$"}
    if form.format is None:
        return out
    if form.beyond is None:
        return {**out, "format": form.format}
    return {**out, "anyOf": [{"format": form.format}, {"pattern": form.beyond}]}


# What values that are equal have in common.


def digest(value: Any) -> str:
    """A hash that values have in common that Python takes for equal."""
    if value.__class__ is bytes:
        return sha256.hexdigest(value)[:16]
    return sha256.hexdigest(likeness(value).encode("utf-8", "backslashreplace"))[:16]


def likeness(value: Any) -> str:
    """A text that two values have in common just if Python takes them for equal: 1.0 and 1.00, an
    instant in two zones. For other values it is their representation, whatever the hash seed."""
    kind: type[Any] = value.__class__
    if kind is tuple:
        inside = ", ".join(map(likeness, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if issubclass(kind, frozenset):
        inside = ", ".join(sorted(map(likeness, value)))
        return f"frozenset({{{inside}}})" if inside else repr(value)
    if issubclass(kind, dict):
        rows = sorted(f"{likeness(k)}: {likeness(v)}" for k, v in value.items())
        return f"{{{', '.join(rows)}}}"
    if dataclasses.is_dataclass(kind):
        names = [each.name for each in dataclasses.fields(kind) if each.compare]
        fields = ", ".join(f"{each}={likeness(getattr(value, each))}" for each in names)
        return f"{kind.__qualname__}({fields})"
    if kind is int:
        return integer_texts.written(value)
    if kind in (float, complex):
        return repr(value + kind(0))  # 0.0 is equal to -0.0.
    cls = base_of(value)
    if cls is None:
        return repr(value)
    match cls.__name__:
        case "Decimal":
            return _decimal(value)
        case "datetime" | "time":
            return _instant(value, cls)
        case "Fraction":
            return f"Fraction({_write_fraction(value)!r})"
        case name:
            return f"{name}({str(value)!r})"


def _decimal(value: Any) -> str:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return str(value)
    text = "".join(map(str, digits)).lstrip("0")
    short = text.rstrip("0")
    if not short:
        return "Decimal(0)"
    return f"Decimal({'-' if sign else ''}{short}E{exponent + len(text) - len(short)})"


def _instant(value: Any, cls: type[Any]) -> str:
    """In a zone where the offset depends on the fold Python compares with no other zone."""
    first, second = (value.replace(fold=fold).utcoffset() for fold in (0, 1))
    plain: str = cls.isoformat(value.replace(tzinfo=None, fold=0))
    if first is None:
        return plain
    if first != second:
        return f"{plain}[{value.tzinfo!r}]"
    import datetime  # Whoever has such a value has imported it.

    day = value.toordinal() if cls is datetime.datetime else 0
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    whole = datetime.timedelta(day, seconds, value.microsecond) - first
    return f"{cls.__name__}({whole!r})"
