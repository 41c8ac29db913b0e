"""Colours of verdicts on a terminal: green is as expected, red is not, yellow is open."""

from __future__ import annotations

import os
import re
from typing import TextIO

from lawful.spec.verdicts import Verdict

GREEN, YELLOW, RED, OFF = "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
WORDS = "|".join(sorted((verdict.value for verdict in Verdict), key=len, reverse=True))
# The verdict of a table's row: a cell behind others. `EXPECTED` and `as expected` are cells, too.
ROW = re.compile(rf"^(\s*\S.*?\s\s)((?:{WORDS})(?: after \d+ events?)?)(?=\s\s|\s*$)(.*)$")
FALSE = re.compile(r"^(\S+ is )(violated|undefined)(?=: | after |$)")


def wanted(file: TextIO) -> bool:
    """Whether a file is a terminal that shows colours, and NO_COLOR does not ask for none."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and file.isatty()


def coloured(text: str) -> str:
    """The text of an answer, with the verdicts of its tables and counterexamples in colour."""
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    row = ROW.match(line)
    if row is None:
        return FALSE.sub(rf"\1{RED}\2{OFF}", line)
    before, verdict, rest = row.groups()
    return f"{before}{_colour(verdict, rest)}{verdict}{OFF}{rest}"


def _colour(verdict: str, rest: str) -> str:
    if "EXPECTED" in rest:
        return RED
    if rest.rstrip().endswith("  as expected"):
        return GREEN
    found = Verdict(verdict.partition(" ")[0])
    return GREEN if found.good else YELLOW if found.open else RED
