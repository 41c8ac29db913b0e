"""The types of arguments of the command line: each reads a text, or says what was expected."""

from __future__ import annotations

import argparse

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


def percent(text: str) -> float:
    """A share, from a percentage."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 100.0:
        raise argparse.ArgumentTypeError(f"{text}: expected a percentage from 0 to 100")
    return value / 100


def port(text: str) -> int:
    """A port of this machine; 0 is any that is free."""
    if text.isascii() and text.isdigit() and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: expected a port from 0 to 65535")
