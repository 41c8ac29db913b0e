"""Files as rows of tables, on any file system that Spark knows: hdfs://, s3a:// and others.

    of          what the file has: "new" or "seen" states; "told" is what the second task tells
    bucket      of the states
    name        of the file, which begins with what it has
    piece       the place of this piece among those of the file
    content     at most `PIECE` bytes
    kind, told  as in `level_tasks.TOLD`

A table is written once, by a job or by the driver. The rows of each `of` are in a folder of their
own, so that those of runs which stand in others can be removed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .arrow_rows import Row

TABLE = "of string, bucket int, name string, piece int, content binary, kind int, told binary"
FILES = "bucket int, name string, piece int, content binary"
REPORTS = "name string, kind int, told binary"
NEW, SEEN, TOLD = "new", "seen", "told"
PIECE = 1 << 18


def what_it_has(name: str) -> str:
    """The `of` of a file."""
    return name.partition(".")[0]


def pieces(bucket: int, path: Path) -> Iterator[Row]:
    """The rows of `TABLE` of a file."""
    with open(path, "rb") as file:
        for piece, content in enumerate(iter(lambda: file.read(PIECE), b"")):
            yield what_it_has(path.name), bucket, path.name, piece, content, None, None


def put_together(path: Path, contents: Iterable[bytes]) -> Path:
    """Write a file of its pieces, which come in order."""
    with open(path, "wb") as file:
        for content in contents:
            file.write(content)
    return path


class FileTables:
    """The tables of a search, in a folder of their own in the given one, and where each file is."""

    def __init__(self, session: Any, folder: str) -> None:
        self.session = session
        self.folder = f"{folder.rstrip('/')}/lawful-explore-{uuid.uuid4().hex}"
        self.table_of: dict[str, str] = {}  # By the name of a file.

    def save(self, files: Iterable[tuple[int, str]]) -> None:
        """Write files of this computer as a table, each with one bucket, but for those in one."""
        lacking = {Path(path): b for b, path in files if Path(path).name not in self.table_of}
        if lacking:
            rows = [row for path, bucket in lacking.items() for row in pieces(bucket, path)]
            table = self.write(self.session.createDataFrame(rows, TABLE))
            self.table_of.update((path.name, table) for path in lacking)

    def write(self, frame: Any) -> str:
        """Write rows of `TABLE`; the folder of the table."""
        table = f"{self.folder}/{uuid.uuid4().hex}"
        frame.write.partitionBy("of").parquet(table)
        return table

    def told_in(self, table: str) -> Sequence[tuple[int, bytes]]:
        """What the second task told."""
        frame = self.session.read.schema(REPORTS).parquet(f"{table}/of={TOLD}")
        return [(kind, bytes(told)) for kind, told in frame.select("kind", "told").collect()]

    def files(self, names: Sequence[str]) -> Any:
        """A frame of `FILES` with the pieces of these files, all of new or all of seen states."""
        folders = sorted({f"{self.table_of[name]}/of={what_it_has(name)}" for name in names})
        wanted = self.session.createDataFrame([(name,) for name in names], "name string")
        frame = self.session.read.schema(FILES).parquet(*folders)
        return frame.join(wanted.hint("broadcast"), "name", "leftsemi").select(
            "bucket", "name", "piece", "content"
        )

    def fetched(self, path: str) -> str:
        """The path, where the file is now: it comes from its table unless it was there."""
        file = Path(path)
        if not file.exists():
            rows = self.files([file.name]).select("piece", "content").collect()
            put_together(file, (bytes(content) for _, content in sorted(rows)))
        return path

    def lacking(self, paths: Iterable[str]) -> list[str]:
        """Those of the files that are neither here nor in their table."""
        gone = [path for path in paths if not Path(path).exists()]
        found: set[str] = set()
        for of in (NEW, SEEN):
            names = [name for path in gone if what_it_has(name := Path(path).name) == of]
            if known := [name for name in names if name in self.table_of]:
                found.update(row[0] for row in self.files(known).select("name").collect())
        return [path for path in gone if Path(path).name not in found]

    def remove(self, names: Iterable[str]) -> None:
        """Forget runs; where all of a table are forgotten, their folder is removed."""
        tables = {self.table_of.pop(name) for name in names if name in self.table_of}
        held = {t for name, t in self.table_of.items() if what_it_has(name) == SEEN}
        for table in tables - held:
            self.delete(f"{table}/of={SEEN}")

    def begin(self) -> None:
        """Make the folder. Raises the error of Spark where it knows no such file system."""
        for system, path in self._at(self.folder):
            system.mkdirs(path)

    def delete(self, folder: str) -> None:
        """Remove a folder; a session of Spark Connect cannot."""
        for system, path in self._at(folder):
            system.delete(path, True)

    def _at(self, folder: str) -> Iterator[tuple[Any, Any]]:
        """The file system of a folder, and its path there, as the JVM of the driver knows them.
        Nothing with a session of Spark Connect, which has no JVM here."""
        context = getattr(self.session, "sparkContext", None)
        if context is not None:
            path = context._jvm.org.apache.hadoop.fs.Path(folder)
            yield path.getFileSystem(context._jsc.hadoopConfiguration()), path
