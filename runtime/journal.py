"""The journal: one JSON line for each event of each instance, to be replayed against the machine.

    row := {"v": 3, "instance", "seq", "time", "machine", "fingerprint", "event", "transition",
            "args": {name: JSON}, "outcome", "before", "after", "changed": {name: JSON},
            "output", "why", "wall", "sum"}

`seq` counts an instance's rows from 0 without gaps; `time` is in seconds of the instance's clock,
`wall` in seconds since 1970 when the row was made (rows of older journals lack it);
`fingerprint` is that of the machine's behaviour. `outcome` is "done", "refused" (`why` says why)
or "ignored". `changed` has the new values of the variables that the event changed, and of a large
container only the entries that differ (`instances.container_changes` has the form). `sum` has the
checksums of the line and of the line before (`instances.row_checksums`). Rows of older journals
have no `sum`, and `v` 1, or 2 where they hold such a change. Three more outcomes have the event
null, the parameters
as `args` and the whole state as `changed`, so that a replay can begin at such a row:

    "made"       an instance that is as its class makes it, and whose name is new to the journal
    "attached"   any other instance that is attached: it had events before, or was restored
    "continued"  how an attached instance is where a new file begins, after a rotation

Where the instance was told the elements of sorts, these rows also have `universe`,
{sort: [element]} in their order. Values have the JSON form of the command line's page: opaque ones
as hashes, timers by whether they are armed, a clock by its tick (told when it has gone on since the
last row, whatever the event did), parts as objects of their variables and parameters.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from .instances.journal_lines import LineWriter
from .instances.journal_rows import HIDDEN, KEYS, Hidden, RowWriter
from .instances.observers import Observed
from .instances.row_checksums import sealed
from .journal_numbers import Numbers
from .journal_reading import JournalError, Reading, read

if sys.platform != "win32":
    import fcntl
if TYPE_CHECKING:
    from .instance import Machine

MOST_NAMED = 5  # Instances whose lost rows an error names.
__all__ = ["HIDDEN", "KEYS", "Hidden", "Journal", "JournalError", "read", "rotated"]


class Journal:
    """Writes rows to the end of a file.

    An existing file is kept: the journal reads it once, cuts a torn last line off, and appends; the
    rows of an instance whose name it has already are numbered on. With `append=False` it deletes
    what is in `path` (not the files into which that was rotated). Up to `buffer` rows are held back
    (0: none) until `flush` or `close`, and are lost if the process dies; a row that it dies in is
    torn at the end of the file, which `read` recognises. Where the file takes no row, because the
    disk is full say, the event is done and raises the OSError; its row waits, and the next event,
    `flush` or `close` tries again. Meanwhile the file ends with a whole row, unless it cannot even
    be cut. Errors: OSError, a BlockingIOError where another journal
    writes the file (but on Windows); JournalError for a file that is damaged, or no journal: it
    stays as it is. In a forked process every event is a RuntimeError, and nothing is written.

    Once the file has `largest` bytes it becomes `path.1`, the next one `path.2` and so on, and
    `path` begins anew: with a row for how each instance is then, so that each file can be read
    and replayed without the others. Instances of several threads may have one journal; but where
    it begins anew, only those whose events go through one runner.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        buffer: int = 64,
        append: bool = True,
        largest: int | None = None,
    ) -> None:
        if type(buffer) is not int or buffer < 0:
            raise ValueError(f"buffer: a number of rows, from 0 on, not {buffer!r}")
        if largest is not None and (type(largest) is not int or largest < 1):
            raise ValueError(f"largest: a number of bytes, from 1 on, not {largest!r}")
        self.path = Path(path)
        self.buffer = buffer
        self.largest = largest
        self._process = os.getpid()
        self._lock = threading.RLock()  # A file that begins anew is written in between.
        self._file: FileIO | None = _opened(self.path)
        try:
            # A device has no rows, and may have no end.
            kept = append and self.path.is_file()
            self._next, self._sum = _counted(self.path) if kept else (Numbers(), 0)
            self._rotated = list(rotated(self.path)) if append else []
            self._older = Numbers()  # Of the rotated files, once somebody has asked.
            if not append:
                self._file.truncate(0)
        except BaseException:
            self._file.close()
            raise
        self._rows: list[str] = []
        self._sealing: list[str] = []  # Rows that get their checksums now.
        self._flushing = False
        self._data = b""  # What is being written from `_size` on, and how much of it has been;
        self._done = 0  # with `_unsure` it may be more, or less.
        self._unsure = False
        self._moving: Path | None = None  # Where the file goes that is full, until it is there.
        self._preparing = False
        self._size = self.path.stat().st_size  # Of the whole rows in the file.
        self._holding = False
        self._known: set[str] = set()
        self._attached: list[tuple[Machine, LineWriter, list[Callable[[], None]]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def attach(
        self, entry: Machine, instance: str, hidden: Hidden | None = None, *, refused: bool = True
    ) -> Callable[[], None]:
        """Write a row for each event of `entry` from now on, and one for how it is now.

        With `refused=False` refused events have no rows: for a caller that tries what it may do.
        Gives the function that ends it: then the name is free, also for another instance, whose
        rows go on behind these. Errors: ValueError for a name that an attached instance has, for
        a hidden name that the machine does not have, and where the journal is closed; TypeError for
        a name that is no text; OSError.
        """
        name: Any = instance
        if not isinstance(name, str):  # With it in a row nobody could read the file.
            raise TypeError(f"the name of an instance is a text, not {instance!r}")
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{name!r} cannot be a name: {error}") from error
        if self._file is None:
            raise ValueError(f"the journal {self.path} is closed")
        if instance in self._known:
            raise ValueError(f"the journal {self.path} has an instance {instance} already")
        self._own()
        writer = LineWriter(entry, instance, self._write, hidden, refused)
        writer.at = writer.at._replace(seq=self._number(instance))
        observers = writer.waiting.append, writer.drain
        ends: list[Callable[[], None]] = [partial(entry.lawful.forget, each) for each in observers]
        row = entry, writer, ends
        try:
            for each in observers:
                entry.lawful.observe(each)
            self._attached.append(row)
            writer.attached(entry)
            self._known.add(instance)
        except BaseException:
            self._next.put(instance, writer.at.seq)  # It may have its first row.
            self._known.discard(instance)
            writer.waiting.clear()
            self._end(row, instance)
            raise
        return lambda: self._end(row, instance)

    def _number(self, instance: str) -> int:
        """The number of an instance's first row; of one that the file does not have, the rotated
        files tell it, which are read once for that."""
        number = self._next.get(instance)
        if number is not None:
            return number
        if self._rotated:
            older = Numbers()
            for path in self._rotated:
                for row in read(path):
                    older.put(row["instance"], row["seq"] + 1)
            self._older, self._rotated = older, []
        return self._older.get(instance) or 0

    def _end(
        self, row: tuple[Machine, LineWriter, list[Callable[[], None]]], instance: str
    ) -> None:
        row[1].drain()
        for end in row[2]:
            end()
        if any(each is row for each in self._attached):  # Its name is free, and its numbers go on.
            self._next.put(instance, row[1].at.seq)  # First: an interrupt may come after it.
            self._known.discard(instance)
        self._attached = [each for each in self._attached if each is not row]

    def flush(self) -> None:
        """Write the rows that are held back to the operating system. Errors: OSError; then they
        wait, and you may try again."""
        self._holding = True  # A row that the file does not take must not keep others from waiting.
        try:
            for _, writer, _ in self._attached:
                writer.drain()
        finally:
            self._holding = False
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        if self._file is None or self._flushing or self._preparing:
            return  # Who is interrupted by a handler's event writes the row of that, too.
        self._flushing = True
        try:
            if self._moving is not None:  # An interrupt came while a new file began.
                self._begin_anew(self._moving)
            if self._unsure:  # A write was interrupted, or failed: how much did it write?
                done = self._in_file()
                self._unsure = False
                self._written(done)
            while self._data or self._sealing or self._rows:
                # No call in these two lines: a handler's row comes before them or after them.
                self._sealing += self._rows
                self._rows = []
                data, last = sealed(self._sealing, self._sum)
                self._data, self._sum, self._sealing = self._data + data, last, []
                done = self._file.write(self._data[self._done :])
                self._written(self._done + done)
        except BaseException as error:
            self._unsure = True
            if isinstance(error, OSError):
                self._cut()
            raise
        finally:
            self._flushing = False

    def _written(self, done: int) -> None:
        """Note that so many bytes of the data are in the file: those of whole rows are done."""
        whole = self._data.rfind(b"\n", 0, done) + 1
        rest = self._data[whole:]
        # No call between: an interrupt would leave half of it.
        self._data, self._size, self._done = rest, self._size + whole, done - whole

    def _in_file(self) -> int:
        """How many bytes of the data are in the file; of a device nobody knows it."""
        assert self._file is not None
        of = os.fstat(self._file.fileno())
        return of.st_size - self._size if stat.S_ISREG(of.st_mode) else self._done

    def _cut(self) -> None:
        """Cut a row off that the file did not take whole, if that is possible: whoever reads the
        file finds no torn one."""
        if self._moving is not None or self._file is None:  # No row is being written.
            return
        with suppress(OSError):
            done = self._in_file()
            whole = self._data.rfind(b"\n", 0, done) + 1
            if whole < done:
                os.ftruncate(self._file.fileno(), self._size + whole)

    def _lost(self, error: OSError) -> OSError:
        """The error where rows cannot be written any more: which ones are lost."""
        data, _ = sealed([*self._sealing, *self._rows], self._sum)
        rows = [json.loads(line) for line in (self._data + data).splitlines()]
        first = {row["instance"]: row["seq"] for row in reversed(rows)}
        last = {row["instance"]: row["seq"] for row in rows}
        told = [f"{name} {first[name]} to {end}" for name, end in last.items()]
        more = ", ..." if len(told) > MOST_NAMED else ""
        what = f"{error.strerror or error}; lost rows: {', '.join(told[:MOST_NAMED])}{more}"
        return OSError(error.errno or errno.EIO, what, str(self.path))

    def close(self) -> None:
        """Write everything, and end what was attached. Closing twice is closing once. Errors:
        OSError, which names the rows that could not be written and are lost."""
        if self._file is None:
            return
        for _, _, ends in self._attached:
            for end in ends:
                end()
        try:
            if self._process == os.getpid():
                self.flush()
        except OSError as error:
            if not (self._data or self._sealing or self._rows):
                raise
            raise self._lost(error) from error
        finally:
            self._file.close()
            self._file = None

    def _own(self) -> None:
        if self._process != os.getpid():
            raise RuntimeError("a journal is written by the process that opened it")

    def _write(self, writer: RowWriter, line: str) -> None:
        self._own()
        with self._lock:
            self._rows += [line]
            writer.at = writer.next  # No call between: see `RowWriter`.
            if self._waits() and not (self._preparing or self._flushing or self._holding):
                self._flush()
                if self.largest is not None and self._size >= self.largest and not self._behind():
                    self._rotate()

    def _waits(self) -> bool:
        """Whether to write now: there are enough rows, or some that the file did not take."""
        late = self._data or self._sealing or self._moving is not None
        return bool(late) or len(self._rows) > self.buffer

    def _behind(self) -> bool:
        """Whether an instance has had later events than the present row, or is in one: no file may
        begin there."""
        return any(_is_behind(entry, writer) for entry, writer, _ in [*self._attached])

    def _rotate(self) -> None:
        """Begin a new file with a row for each instance.

        An interrupt may come anywhere. While the rows are prepared it leaves them for the present
        file, where they do no harm; after that, the next one that writes goes on. A handler's event
        that comes while they are prepared leaves them there, too.
        """
        self._preparing = True
        try:
            number = 1 + max(map(_place, rotated(self.path)), default=0)
            several = [(entry, writer) for entry, writer, _ in self._attached]
            for count, (entry, writer) in enumerate(several):
                prepare, watch = partial(self._prepare, count, entry, writer), entry.__watch__
                if not (watch.at_rest(prepare) if isinstance(watch, Observed) else prepare()):
                    break
            else:
                self._moving = self.path.with_name(f"{self.path.name}.{number}")
        finally:
            self._preparing = False
        if len(self._rows) > self.buffer:
            self._flush()
        else:
            self._move()

    def _prepare(self, count: int, entry: Machine, writer: LineWriter) -> bool:
        """Make the first row of an instance in a new file, which begins with `count` others, unless
        events came in between."""
        if len(self._rows) != count or _is_behind(entry, writer, prepared=True):
            return False
        writer.whole(entry, "continued")
        return True

    def _move(self) -> None:
        self._flushing = True
        try:
            if self._moving is not None:
                self._begin_anew(self._moving)
        finally:
            self._flushing = False

    def _begin_anew(self, kept: Path) -> None:
        """Give the full file this name, and open a new one. This may be done twice."""
        assert self._file is not None
        self._file.close()
        if not kept.exists():
            os.replace(self.path, kept)
        # No call by name between: what was opened and locked would stay so.
        opening = map(FileIO, (os.fspath(self.path),), ("ab",))
        _ = [*map(setattr, (self,), ("_file",), opening)]
        _lock(self._file, self.path)
        size = os.fstat(self._file.fileno()).st_size
        self._size, self._sum, self._moving = size, 0, None


def _is_behind(entry: Machine, writer: LineWriter, prepared: bool = False) -> bool:
    """Whether an instance has had later events than its last row, or, unless its row is being
    `prepared`, is in one."""
    watch = entry.__watch__
    if isinstance(watch, Observed) and (
        watch.awaits(writer.drain) or (watch.runs and not prepared)
    ):
        return True
    return any(done is not writer.at.last for done in tuple(writer.waiting))


def _opened(path: Path) -> FileIO:
    """The file, to be written at its end, by nobody else. Errors: OSError."""
    file = FileIO(os.fspath(path), "ab")
    try:
        _lock(file, path)
    except BlockingIOError:
        file.close()
        raise
    return file


def _lock(file: IO[bytes], path: Path) -> None:
    """Let nobody else write the file. BlockingIOError where somebody does. A device may be written
    by several: to lock it would stop strangers."""
    if sys.platform == "win32" or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BlockingIOError(error.errno, "another journal writes it", str(path)) from None
    except OSError:  # Not every file system has locks.
        pass


def _counted(path: Path) -> tuple[Numbers, int]:
    """The next number of each instance of a journal, whose torn last line is cut off, and the last
    checksum."""
    torn: list[str] = []
    reading = Reading(path, lambda _, text: torn.append(text))
    for _ in reading.rows():
        pass
    if torn:
        whole = path.read_bytes()
        os.truncate(path, whole.rfind(b"\n") + 1)
    return reading.next, reading.last


def rotated(path: Path) -> list[Path]:
    """The files into which a journal was rotated, `path.1` and so on, in their order."""
    return sorted(filter(_place, path.parent.glob(f"{glob.escape(path.name)}.*")), key=_place)


def _place(path: Path) -> int:
    """The number at the end of a rotated file's name; 0 if it has none."""
    last = path.suffix[1:]
    return int(last) if last.isdecimal() and last.isascii() else 0
