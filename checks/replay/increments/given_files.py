"""The files of all increments, where rows have their place in the files as number.

A file that is given again in a later increment has the number of before, so its rows are known as
rows that come again. It is known by its path, and by what it begins with: all bytes that it had
when it was read last. So a file that grew is one file, and another one with the name of a file that
was rotated is not.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawful.spec.ir import Json

from ..sources import ReplayError, Sources, remote

CHUNK = 1 << 20
NOT_KNOWN = (
    'order = "file" goes on only if the files of the increments before are known: give those of '
    "the last one, `files`. States that an earlier version of lawful kept have none: replay the "
    "whole log"
)


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file as it was read last: its number, its bytes and their SHA-256, and the number of the
    last record of which a row was judged."""

    number: int
    size: int
    sum: str
    last: int


@dataclass(frozen=True)
class GivenFiles:
    """The files of the increments so far: how many of them are not one, and what is known of each,
    by its path. It is empty where rows have numbers of their own."""

    count: int = 0
    known: Mapping[str, GivenFile] = field(default_factory=dict[str, GivenFile])

    def to_json(self) -> dict[str, Json]:
        """The files as JSON; `of_json` reads it."""
        known: dict[str, Json] = {
            path: [each.number, each.size, each.sum, each.last] for path, each in self.known.items()
        }
        return {"given": self.count, "known": known}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> GivenFiles:
        """The files in JSON. Raises LookupError, TypeError or AttributeError where it has another
        form."""
        known = {path: GivenFile(*each) for path, each in data["known"].items()}
        return cls(data["given"], known)


NO_FILES = GivenFiles()


class FileNumbers:
    """The numbers of the files of an increment among those of all increments.

    Raises ReplayError where the files of the increments before are not known.
    """

    def __init__(self, files: Sources, before: GivenFiles | None) -> None:
        if before is None:
            raise ReplayError(NOT_KNOWN)
        self.before = before
        self.count = before.count
        self.numbers: dict[int, int] = {}  # Those in all increments, by those in this one.
        self.names: dict[int, str] = {}
        self.read: dict[int, int] = {}  # How many records an earlier increment read, by number.
        self.remark = ""  # Which file looks like a copy of an earlier one.
        self._last: Counter[int] = Counter()
        self._paths: dict[int, Path] = {}
        for number, path in files.numbered:
            if number not in self.numbers and not remote(path):
                self._add(number, path)

    def _add(self, number: int, path: str) -> None:
        place = Path(path).resolve()
        known = self.before.known
        sizes = {each.size for each in known.values()}
        begins = {*_sums(place, sizes)}
        same = known.get(str(place))
        if same is not None and (same.size, same.sum) in begins:
            new = same.number
            # The last record of a file that grew may have been written in part.
            whole = place.stat().st_size == same.size
            self.read[new] = same.last if whole else same.last - 1
        else:
            new = self.count
            self.count += 1
            self._copied(path, begins)
        self.numbers[number] = new
        self.names[new] = path
        self._paths[new] = place

    def _copied(self, path: str, begins: set[tuple[int, str]]) -> None:
        """Note an earlier file whose rows this one has, too."""
        known = self.before.known.items()
        copied = [
            (each.size, other)
            for other, each in known
            if each.last and (each.size, each.sum) in begins
        ]
        if copied:
            what = f"{path} begins with all that {max(copied)[1]} had in an earlier increment"
            self.remark = self.remark or f"{what}; each row counts, so leave out a copy"

    def lacks(self, place: tuple[int, int] | None) -> bool:
        """Whether a row of an earlier increment is in a file that was not given."""
        return place is not None and place[0] >= self.before.count

    def number(self, file: int, record: int) -> int:
        """The number of a file of this increment, of which this record is judged."""
        number = self.numbers[file]
        self._last[number] = max(self._last[number], record)
        return number

    def after(self) -> GivenFiles:
        """The files for the next increment, after the last row."""
        known = dict(self.before.known)
        for number, place in self._paths.items():
            ((size, told),) = _sums(place, ())
            before = self.read.get(number, 0)
            known[str(place)] = GivenFile(number, size, told, max(self._last[number], before))
        return GivenFiles(self.count, known)


def _sums(path: Path, sizes: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The SHA-256 of the first bytes of a file, as many as each size says, of those that it has;
    last of all bytes."""
    made, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            for wanted in sorted(sizes):
                while size < wanted and (chunk := file.read(min(CHUNK, wanted - size))):
                    made.update(chunk)
                    size += len(chunk)
                if size == wanted:
                    yield size, made.hexdigest()
            while chunk := file.read(CHUNK):
                made.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error
    yield size, made.hexdigest()
