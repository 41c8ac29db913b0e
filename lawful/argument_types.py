"""The types of arguments of the command line: each reads a text, or says what was expected."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

MOST_HELD = 1_000_000
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def positive(text: str) -> int:
    """A whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 or more")
    return int(text)


def size(text: str) -> int:
    """A size in bytes."""
    digits, unit = text.rstrip("kKMGT"), text[len(text.rstrip("kKMGT")) :].upper()
    if unit not in UNITS or not digits.isdecimal() or int(digits) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a size such as 500M or 2G")
    return int(digits) * UNITS[unit]


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: expected seconds above 0")
    return value


def moment(text: str) -> float:
    """A time in seconds since 1970, of ISO 8601; without a zone it is in UTC."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        expected = "expected a time such as 2026-11-25T12:00:00Z"
        raise argparse.ArgumentTypeError(f"{text}: {expected}") from None
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()


def percent(text: str) -> float:
    """A share, from a percentage."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 100.0:
        raise argparse.ArgumentTypeError(f"{text}: expected a percentage from 0 to 100")
    return value / 100


def path(text: str) -> Path:
    """A file or folder of the file system."""
    if text == "-":
        raise argparse.ArgumentTypeError("-: expected a path; write ./- for one of this name")
    return Path(text)


def path_or_output(text: str) -> Path | None:
    """The same, or None for `-`, which is standard output."""
    return None if text == "-" else path(text)


def folder(text: str) -> Path:
    """A folder of the file system, also as a URI of the scheme `file`."""
    scheme, colon, rest = text.partition("://")
    if not colon:
        return path(text)
    if scheme.lower() == "file" and rest.startswith("/"):
        return Path(unquote(rest))
    raise argparse.ArgumentTypeError(
        f"{text}: expected a path, or file:///path; another file system has to be mounted"
    )


def folder_or_uri(text: str) -> Path | str:
    """A folder of the file system, or the URI of one of another file system, as text."""
    scheme, colon, _ = text.partition("://")
    return text if colon and scheme.lower() != "file" else folder(text)


def port(text: str) -> int:
    """A port of this machine; 0 is any that is free."""
    if text.isascii() and text.isdigit() and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected a port from 0 to 65535")


def other_port(text: str) -> int:
    """A port of this machine at which somebody else listens."""
    if text.isascii() and text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected a port from 1 to 65535")


def count(text: str) -> int:
    """A whole number, 0 or above."""
    if text.isascii() and text.isdigit():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected 0 or more")


def held(text: str) -> int:
    """How many things a program holds in memory."""
    if text.isascii() and text.isdigit() and int(text) <= MOST_HELD:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected 0 to {MOST_HELD}")


def pause(text: str) -> float:
    """A number of seconds, 0 or above."""
    return _between(text, float("inf"), "expected seconds, 0 or more")


def probability(text: str) -> float:
    """A number from 0 to 1."""
    return _between(text, 1.0, "expected a probability from 0 to 1")


def address(text: str) -> tuple[str, int]:
    """Who listens, and at which port of this machine."""
    name, _, at = text.rpartition("=")
    if not (name and at.isascii() and at.isdigit() and 0 < int(at) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=PORT, a port from 1 to 65535")
    return name, int(at)


def distinct(addresses: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The port of each name. Errors: ValueError for a name that is there twice."""
    ports: dict[str, int] = {}
    for name, at in addresses:
        if name in ports:
            raise ValueError(f"{name} is there twice: at port {ports[name]} and at port {at}")
        ports[name] = at
    return ports


def _between(text: str, greatest: float, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= greatest or value == float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: {expected}")
    return value
