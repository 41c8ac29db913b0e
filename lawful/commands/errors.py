"""Why a command has no answer.

    error   := {"kind", "exit", "message", "problems": [problem]}
    problem := {"number", "what", "file", "line", "column", "found", "expected", "rewrite"}

`kind` is `refused`, `usage`, `stopped` or `fault`. Problems are those of a refused declaration;
lines and columns count from 1. `outcome_report` writes an error into files.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from lawful.spec.errors import RULES, DeclarationError, Problem
from lawful.spec.ir import Json

from .exit_codes import ExitCode

ErrorKind = Literal["refused", "usage", "stopped", "fault"]


class CommandError(Exception):
    """A command cannot do its work; the text says what is missing or wrong."""


class Ended(NamedTuple):
    """How a command ended that has no answer."""

    kind: ErrorKind
    code: ExitCode
    message: str
    problems: tuple[Problem, ...] = ()

    @classmethod
    def usage(cls, message: str) -> Ended:
        """The command line, or what it names, cannot be used."""
        return cls("usage", ExitCode.USAGE, message)

    @classmethod
    def refused(cls, error: DeclarationError) -> Ended:
        """A declaration is outside the language."""
        return cls("refused", ExitCode.REFUSED, str(error), error.problems)

    def to_json(self) -> dict[str, Json]:
        """The key `error` of the answer in JSON."""
        problems: list[Json] = [_problem(each) for each in self.problems]
        return {"kind": self.kind, "exit": self.code, "message": self.message, "problems": problems}


def _problem(each: Problem) -> Json:
    return {
        "number": each.number,
        "what": RULES[each.number],
        "file": each.place.file,
        "line": each.place.line,
        "column": each.place.column + 1,
        "found": each.found,
        "expected": each.expected,
        "rewrite": each.rewrite,
    }
