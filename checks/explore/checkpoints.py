"""Snapshots of a search: a file from which it goes on, whole or not there at all.

    file    := MAGIC, header as one line of JSON, SHA-256 of the rest, item*
    item    := a pickled pair (name, value)

A snapshot is written beside the old one, forced to the disk and then put in its place, so that a
process that is killed leaves the one or the other. It belongs to one machine within one scope.
Nothing in it is run when it is read: only the classes named here are made, and those of the
machine's own values.
"""

from __future__ import annotations

import contextlib
import enum
import json
import os
import pickle
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any

from lawful.spec.codec.as_json import digest, flat_to_json
from lawful.spec.records import field_names
from lawful.spec.values.world import FrozenBag, FrozenMap, Token, World
from lawful.spec.words import Sort

from ..reference import Done, Fault
from ..reference.states import PartState
from ..verdict import Verdict
from .search_result import FirstFailure
from .space import Edge, Space

MAGIC = b"lawful snapshot\n"
VERSION = 4
KNOWN = {
    (cls.__module__, cls.__name__): cls
    for cls in (
        Counter,
        PartState,
        FrozenMap,
        FrozenBag,
        Token,
        Edge,
        Done,
        Fault,
        FirstFailure,
        Verdict,
    )
}
Items = Mapping[str, Any]


class Unfit(ValueError):
    """A snapshot that this search cannot go on from; the text says why."""


class Snapshots:
    """The snapshot of one search in a folder; `engine` is which engine is at work."""

    def __init__(self, space: Space, folder: Path, symmetry: bool, every: float = 30.0) -> None:
        self.world = space.world
        self.fields = {cls: field_names(cls) for cls in space.world.records.values()}
        self.path = folder / f"{space.machine.name}.snapshot"
        bounds = ", ".join(f"{name}={bound}" for name, bound in space.flat.scope)
        self.scope = bounds or "none"
        self.about = {
            "version": VERSION,
            "machine": space.machine.name,
            "scope": self.scope,
            "flat": digest(flat_to_json(space.flat, places=False)),
            "symmetry": symmetry,
        }
        self.engine = ""
        self.every = every
        self.last = time.monotonic()
        self.took = 0.0

    def due(self) -> bool:
        """Whether it is time for another: not so often that writing takes a good part of it."""
        return time.monotonic() - self.last >= max(self.every, 20 * self.took)

    # Writing.

    def write(self, items: Iterable[tuple[str, Any]]) -> None:
        """Put a snapshot in the place of the last one. `Unfit` where that cannot be done."""
        began = time.monotonic()
        new = self.path.with_suffix(".new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(new, "wb") as file:
                self._write(file, items)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.path)
            _settled(self.path.parent)
        except OSError as error:
            raise Unfit(f"no snapshot can be written to {self.path}: {error.strerror}") from error
        self.last = time.monotonic()
        self.took = self.last - began

    def _write(self, file: IO[bytes], items: Iterable[tuple[str, Any]]) -> None:
        header = json.dumps({**self.about, "engine": self.engine}).encode()
        file.write(MAGIC + header + b"\n")
        at = file.tell()
        import hashlib  # Most checks keep no snapshot.

        summed = Summed(file, hashlib.sha256())
        file.write(bytes(summed.sum.digest_size))
        for item in items:
            _Writer(summed, self).dump(item)
        file.seek(at)
        file.write(summed.sum.digest())

    # Reading.

    def read(self) -> Items | None:
        """What was kept, `engine` included; None where there is none. `Unfit` where it is not of
        this machine within this scope, or is no whole snapshot."""
        try:
            with open(self.path, "rb") as file:
                return self._read(file)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unfit(f"{self.path} cannot be read: {error.strerror}") from error
        except (pickle.UnpicklingError, EOFError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, Unfit):
                raise
            raise Unfit(f"{self.path} is no snapshot that can be read") from error

    def _read(self, file: BufferedReader) -> Items:
        import hashlib

        if file.readline() != MAGIC:
            raise Unfit(f"{self.path} is no snapshot")
        header = json.loads(file.readline())
        self._fits(header)
        wanted = file.read(hashlib.sha256().digest_size)
        at = file.tell()
        if hashlib.file_digest(file, "sha256").digest() != wanted:
            raise Unfit(f"{self.path} is damaged: its content does not match its checksum")
        end = file.tell()
        file.seek(at)
        found: dict[str, Any] = {"engine": header["engine"]}
        while file.tell() < end:
            name, value = _Reader(file, self.world).load()
            found[name] = value
        return found

    def _fits(self, header: Mapping[str, Any]) -> None:
        wrong = {name for name, value in self.about.items() if header.get(name) != value}
        if not wrong:
            return
        if "version" in wrong:
            why = "was written by another version of lawful"
        elif "machine" in wrong:
            why = f"is of {header['machine']}"
        elif "scope" in wrong:
            why = f"is within another scope: {header['scope']}, not {self.scope}"
        elif "flat" in wrong:
            why = f"is of another {header['machine']}: its declaration has changed"
        else:
            why = f"was made with{'' if header['symmetry'] else 'out'} --symmetry"
        raise Unfit(f"{self.path} {why}; remove it, or give another folder")


def _settled(folder: Path) -> None:
    """The folder's own entry forced to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Summed(RawIOBase):
    """Writes through, and sums up what was written."""

    def __init__(self, file: IO[bytes], sum_: Any) -> None:
        super().__init__()
        self.file = file
        self.sum = sum_

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Through."""
        self.sum.update(data)
        return self.file.write(data)


class _Writer(pickle.Pickler):
    """Writes a machine's own values by the names of their classes."""

    def __init__(self, file: Any, snapshots: Snapshots) -> None:
        super().__init__(file, protocol=5)
        self.world = snapshots.world
        self.fields = snapshots.fields

    def reducer_override(self, value: Any) -> Any:
        """How such a value is made again."""
        cls: Any = value.__class__
        name = cls.__name__
        if isinstance(value, enum.Enum) and self.world.enums.get(name) is cls:
            return _enum, (name, value.name)
        if cls in self.fields:
            return _record, (name, *(getattr(value, field) for field in self.fields[cls]))
        if isinstance(value, Sort) and self.world.sorts.get(name) is cls:
            return _sort, (name, str(value))
        return NotImplemented


class _Reader(pickle.Unpickler):
    """Makes them again; of other classes only those that are known."""

    def __init__(self, file: IO[bytes], world: World) -> None:
        super().__init__(file)
        self.world = world
        made = (self._enum, self._record, self._sort)
        self.made: dict[str, Any] = {each.__name__: each for each in made}

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """The class of that name; `Unfit` for any other."""
        if module_name == __name__ and global_name in self.made:
            return self.made[global_name]
        found = KNOWN.get((module_name, global_name))
        if found is None:
            raise Unfit(f"a snapshot holds no {module_name}.{global_name}")
        return found

    def _enum(self, name: str, member: str) -> Any:
        return self.world.enums[name][member]

    def _record(self, name: str, *fields: Any) -> Any:
        return self.world.records[name](*fields)

    def _sort(self, name: str, value: str) -> Any:
        return self.world.sorts[name](value)


def _enum(name: str, member: str) -> Any:
    """Replaced by what makes it of the machine's own classes."""
    raise NotImplementedError(name, member)


def _record(name: str, *fields: Any) -> Any:
    """The same."""
    raise NotImplementedError(name, fields)


def _sort(name: str, value: str) -> Any:
    """The same."""
    raise NotImplementedError(name, value)


def named(of: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Attributes, to be written."""
    return ((name, getattr(of, name)) for name in names)


def taken_up(of: Any, names: Iterable[str], items: Items) -> None:
    """Attributes as they were written."""
    for name in names:
        setattr(of, name, items[name])
