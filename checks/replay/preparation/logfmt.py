"""Records of lines in logfmt: `level=info msg="it begins" took=3ms retried`.

A key is what stands before `=`; a value is a word, or a text in quotes in which a backslash stands
before a quote. A word without `=` is a key whose value is true. All other values are texts. Source:
the package logfmt of Go (https://pkg.go.dev/github.com/kr/logfmt), which Heroku's logs follow.
"""

from __future__ import annotations

import json
import re

from ..rows import Rejected, plain
from .names import named
from .path_templates import Record

PAIR = re.compile(r'([^\s="]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s"]\S*|)))?(?=\s|$)')
WORD = re.compile(r"\s*")


def pairs(line: str) -> Record | Rejected:
    """The record of a line; a line without any pair is rejected, and so is one with a key twice."""
    found: list[tuple[str, object]] = []
    words: Record = {}
    at, end = 0, len(line.rstrip())
    while (at := _after_blanks(line, at)) < end:
        match = PAIR.match(line, at)
        if match is None:
            return Rejected("no pairs of logfmt", plain(line))
        key, quoted, word = match.groups()
        if quoted is None and word is None:
            words[key.replace(".", "_")] = True
        else:
            found.append((key, word if quoted is None else _unquoted(quoted)))
        at = match.end()
    if not found:
        return Rejected("no pairs of logfmt", plain(line))
    try:
        return words | named(found)
    except ValueError:
        return Rejected("a key twice", plain(line))


def _after_blanks(line: str, at: int) -> int:
    match = WORD.match(line, at)
    return at if match is None else match.end()


def _unquoted(text: str) -> str:
    """A text in quotes, whose escapes are those of JSON."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text.replace('\\"', '"')
