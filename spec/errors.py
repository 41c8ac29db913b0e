"""Numbered problems: where, what was found, what was expected, how to mend it; all at once."""

from __future__ import annotations

import inspect
import linecache
import unicodedata
from collections.abc import Iterable

from .quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of source text: lines count from 1, columns from 0, as in `ast`."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


NOWHERE = Place("", 0, 0, 0, 0)


class Unsupported(Exception):
    """An engine, or a form of output, does not know a construct of the machine; the text names it.

    The base of what each of them raises, so that a caller of several catches one class.
    """


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal of a declaration: `number` is a key of `RULES`, `rewrite` says how to mend it."""

    number: str
    place: Place
    found: str
    expected: str
    rewrite: str

    def render(self) -> str:
        """The problem as text: place, the line with a caret under it, found, expected, rewrite."""
        lines = [f"{self.place.file}:{self.place.line}: {self.number} {RULES[self.number]}"]
        source = linecache.getline(self.place.file, self.place.line).rstrip("\r\n")
        if source.strip():
            lines += _marked(source, self.place)
        lines.append(f"  found:    {self.found}")
        lines.append(f"  expected: {self.expected}")
        lines.append(f"  rewrite:  {self.rewrite}")
        return "\n".join(lines)


WIDEST = 96  # A longer line is shown as the stretch around the caret.


def _marked(source: str, place: Place) -> list[str]:
    """A line of source and the carets under the stretch of it that a place is."""
    raw = source.encode()
    end = place.end_column if place.end_line == place.line else len(source.rstrip().encode())
    # Columns of `ast` count bytes of UTF-8; a screen shows characters, some of double width.
    before = raw[: place.column].decode(errors="replace").expandtabs(4)
    marked = raw[place.column : max(end, place.column + 1)].decode(errors="replace").expandtabs(4)
    after = raw[max(end, place.column + 1) :].decode(errors="replace").expandtabs(4)
    indent = len(before) - len(before.lstrip())
    before, after = before[indent:], after.rstrip()
    if len(before) + len(marked) + len(after) > WIDEST:
        before = before if len(before) <= WIDEST // 3 else "..." + before[-WIDEST // 3 :]
        marked = marked if len(marked) <= WIDEST // 2 else marked[: WIDEST // 2] + "..."
        left = max(0, WIDEST - len(before) - len(marked))
        after = after if len(after) <= left else after[:left] + "..."
    carets = " " * _width(before) + "^" * max(1, _width(marked))
    return [f"    {before}{marked}{after}", f"    {carets}"]


def _width(text: str) -> int:
    """How many columns a text takes on a screen."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


# One row a number; the hundreds say which stage refuses.
RULES: dict[str, str] = {
    # 1xx: syntax, judged when the class is created.
    "L101": "the source of the declaration is not readable",
    "L102": "this statement is outside the language",
    "L103": "this expression is outside the language",
    "L104": "this signature is outside the language",
    "L105": "this decorator is outside the language",
    "L106": "this class-level statement is outside the language",
    "L107": "a machine inherits from one other machine",
    "L108": "this name is reserved",
    "L109": "this name is declared twice",
    "L110": "the frozen file does not belong to this code",
    "L190": "this part of the language is not supported yet",
    # 2xx: names and types, judged at the first instance, check or lint.
    "L201": "this name is unknown",
    "L202": "this type is outside the language",
    "L203": "the types do not fit",
    "L204": "this call does not fit",
    "L205": "this attribute is unknown",
    "L206": "this place cannot be assigned",
    "L207": "the value may be None",
    "L208": "a property must not change the state",
    "L209": "helpers call one another recursively",
    "L210": "the order of an unordered collection would be observable",
    "L211": "two places would share one mutable container",
    "L212": "the header of this transition does not fit",
    "L213": "this variable has no initial value",
    "L214": "the machine's behaviour depends on a ghost",
    "L215": "an annotation is missing",
    "L216": "an ignored event's output does not admit None",
    "L217": "the declaration names something that does not exist",
    "L218": "a collection is changed while a loop goes through it",
    "L219": "one name means two things",
    "L220": "an @initial may be called only where its machine is made",
    "L221": "a machine and its parts share one clock",
    "L222": "an urgent timer needs a clock",
    "L223": "the name `tick` belongs to the step of time",
    "L224": "a growing sort does not fit here",
    # 3xx: scopes, judged by check.
    "L301": "the scope gives no bound",
    "L302": "the scope names something that does not exist",
    "L303": "the scope gives a bound of the wrong kind",
    "L304": "the scope cannot enumerate this type",
    "L305": "no engine explores or proves this of a growing sort",
}


class DeclarationError(Exception):
    """A declaration is refused; `problems` lists every `Problem` found, in source order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems), key=_in_source_order))
        super().__init__("\n\n".join(problem.render() for problem in self.problems))


def _in_source_order(problem: Problem) -> tuple[str | int, ...]:
    place = problem.place
    return place.file, place.line, place.column, problem.number, problem.found, problem.expected


class Problems:
    """Collects problems while a stage runs, so that all of them are reported at once."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(self, number: str, place: Place, found: str, expected: str, rewrite: str) -> None:
        """Note one problem; `number` must be a row of `RULES`."""
        assert number in RULES, number
        self.found.append(Problem(number, place, found, expected, rewrite))

    def stop_if_any(self) -> None:
        """Raise `DeclarationError` with everything collected so far, if anything was."""
        if self.found:
            raise DeclarationError(self.found)


def a(thing: object) -> str:
    """The thing with its article."""
    text = str(thing)
    return f"{'an' if text[:1] in 'aeioAEIO' else 'a'} {text}"


def nearest(name: str, known: Iterable[str], otherwise: str = "correct the name") -> str:
    """How to mend a name that nothing has: the known one that is most like it."""
    import difflib  # Rarely needed, and every command waits for what is imported.

    names = sorted(known)
    found = difflib.get_close_matches(name, names, 1)
    if not found:  # Another case is another letter there.
        lower = {each.lower(): each for each in reversed(names)}
        found = [lower[each] for each in difflib.get_close_matches(name.lower(), lower, 1)]
    return f"write {found[0]}" if found else otherwise


def misused(
    function: object, found: str, expected: str, rewrite: str | None = None, again: int = 0
) -> DeclarationError:
    """The error for a decorator that is given what it does not take.

    `again` is how many functions of lawful are between this call and the one that users write.
    """
    code = getattr(function, "__code__", None)
    if code is not None:
        file, line = code.co_filename, code.co_firstlineno
    else:
        caller = inspect.stack(context=0)[2 + again]
        file, line = caller.filename, caller.lineno
    width = len(linecache.getline(file, line).rstrip())
    indent = width - len(linecache.getline(file, line).strip())
    place = Place(file, line, indent, line, width)
    return DeclarationError(
        [Problem("L105", place, found, expected, rewrite or f"write {expected}")]
    )
