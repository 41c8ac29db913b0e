"""The replay on Spark: one shuffle by instance, one sort, one fold.

    lines -> mapInArrow: (instance, seq, line) -> repartition(n, instance) -> sort(instance, seq)
          -> mapInArrow: tallies

The JVM only reads and sorts lines; `rows` parses them, as in the local engine. The program is sent
as IR, so workers need lawful but not the declarations. Each partition returns one row: its tallies,
and how much it read. If Spark read less than the files have, that is an error.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .fold import Fold, ReplayProgram
from .parquet import NEEDED, arrow, check_columns, length
from .rows import Rejected, Row, decoded, plain, row_of_columns
from .sources import BLANK, ReplayError, Sources, remote
from .tally import Tallies

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

JAVA = 17
JAVA_MISSING = (
    f"Spark needs Java {JAVA} or newer: install it (Debian: default-jre-headless), "
    "or replay with the local engine"
)
PARTITION = 64 << 20  # Bytes of input for each partition of the shuffle, about.
MERGED_HERE = 32  # Tallies that the driver merges by itself; more are merged on Spark first.
SOURCE = ("form", "line")  # The columns of the input.
KEYED = "instance string, seq long, form string, line binary"
TALLIES = "tallies binary"
# The form of a line's file. Of the first two this process knows how much there is to read.
PLAIN, TABLE, PACKED, FAR_TABLE = "plain", "table", "packed", "far table"
PYTHON_ERROR = re.compile(r"[\w.]*(Error|Exception): ")


def tally(files: Sources, program: ReplayProgram, master: str | None = None) -> Tallies:
    """Replay the files in the active Spark session, or in a new one."""
    spark = session(master)
    try:
        rows = frame(spark, files)
        expected = expected_of(files)
        tallies, read = collect(rows, program, files.size)
    except Exception as error:
        line = _spark_error(error)
        if line is None:
            raise
        raise ReplayError(line) from error
    for form, much in expected.items():
        if read[form] < much:
            unit = "rows of the tables" if form == TABLE else "bytes of the lines"
            raise ReplayError(f"Spark read {read[form]} of {much} {unit}: no verdict without them")
    return tallies


def frame(spark: SparkSession, files: Sources) -> DataFrame:
    """The input as (form, line); a row of a table is a line of JSON."""
    parts = [_lines(spark, path) for path in files.lines]
    parts += [_table(spark, path) for path in files.tables]
    return functools.reduce(lambda a, b: a.unionByName(b), parts)


def expected_of(files: Sources) -> Counter[str]:
    """How much there is to read: bytes of lines, rows of tables; without remote or packed files."""
    out: Counter[str] = Counter()
    for path in files.lines:
        if _form(path) == PLAIN:
            out[PLAIN] += _bytes(Path(path))
    for path in files.tables:
        if not remote(path):
            out[TABLE] += length(path)
    return out


def _form(path: str) -> str:
    return PACKED if remote(path) or path.lower().endswith(".gz") else PLAIN


def _bytes(path: Path) -> int:
    """The size of a file; a missing newline at its end is counted."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(-1, os.SEEK_END)
        return size + (file.read(1) not in (b"", b"\n"))


def collect(rows: DataFrame, program: ReplayProgram, size: int) -> tuple[Tallies, Counter[str]]:
    """The tallies of all partitions, merged, and how much was read in each form."""
    from pyspark.sql import functions as F

    cores = rows.sparkSession.sparkContext.defaultParallelism
    n = max(cores, -(-size // PARTITION))
    # Rows without an instance are distributed by their text, or one task would get them all.
    spread = F.coalesce(F.col("instance").cast("binary"), F.col("line"))
    lines: Any = rows  # Its `mapInArrow` has no types.
    keyed: DataFrame = lines.mapInArrow(KeyPartition(program), KEYED)
    sorted_rows: Any = keyed.repartition(n, spread).sortWithinPartitions("instance", "seq")
    folded = sorted_rows.mapInArrow(FoldPartition(program), TALLIES)
    if n > MERGED_HERE:
        folded = folded.repartition(MERGED_HERE).mapInArrow(merged, TALLIES)
    return _together(row["tallies"] for row in folded.collect())


def merged(batches: Iterable[Any]) -> Iterator[Any]:
    """Merge the tallies of several partitions, so that the driver gets only a few."""
    yield _tallied(*_together(each for batch in batches for each in batch.column(0).to_pylist()))


def _together(pickled: Iterable[bytes]) -> tuple[Tallies, Counter[str]]:
    tallies, read = Tallies(), Counter[str]()
    for each in pickled:
        more, also = pickle.loads(each)
        tallies.merge(more)
        read.update(also)
    return tallies, read


def _tallied(tallies: Tallies, read: Counter[str]) -> Any:
    return arrow().RecordBatch.from_pydict({"tallies": [pickle.dumps((tallies, read))]})


def row_in(form: str, line: bytes, program: ReplayProgram) -> Row | Rejected | None:
    """The row of a line, as the local engine parses it; None for a blank line."""
    if form in (TABLE, FAR_TABLE):
        return row_of_columns(_columns(line))
    return decoded(line, program.row_of) if line.strip(BLANK) else None


class KeyPartition:
    """Adds the columns `instance` and `seq` to each line; null for a line of no instance."""

    def __init__(self, program: ReplayProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches with the two columns added."""
        pa = arrow()
        for batch in batches:
            forms, lines = (batch.column(i).to_pylist() for i in range(2))
            rows = [row_in(f, line, self.program) for f, line in zip(forms, lines, strict=True)]
            names = [row.instance if isinstance(row, Row) else None for row in rows]
            seqs = [row.seq if isinstance(row, Row) else None for row in rows]
            keys = [pa.array(names, pa.string()), pa.array(seqs, pa.int64())]
            columns = [*keys, batch.column(0), batch.column(1)]
            yield pa.RecordBatch.from_arrays(columns, names=["instance", "seq", *SOURCE])


class FoldPartition:
    """Folds the sorted rows of one partition; an instance may span several batches."""

    def __init__(self, program: ReplayProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The tallies of a partition, pickled, as one row."""
        tallies, read = Tallies(), Counter[str]()
        open_fold: Fold | None = None
        for batch in batches:
            columns = [batch.column(i).to_pylist() for i in (2, 3)]
            for form, line in zip(*columns, strict=True):
                read[form] += 1 if form == TABLE else len(line) + 1
                row = row_in(form, line, self.program)
                if row is None:
                    continue
                if isinstance(row, Rejected):
                    tallies.reject(row)
                    continue
                if open_fold is None or open_fold.instance != row.instance:
                    if open_fold is not None:
                        tallies.add(open_fold.end())
                    open_fold = Fold(self.program, row.instance)
                open_fold.take(row)
        if open_fold is not None:
            tallies.add(open_fold.end())
        yield _tallied(tallies, read)


def _columns(line: bytes) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(line)
    if data.get("corrupt") is not None:
        data["corrupt"] = bytes.fromhex(data["corrupt"])
    return data


# Frames.


def _lines(spark: SparkSession, path: str) -> DataFrame:
    from pyspark.sql import functions as F

    # Only "\n" ends a line, as in Python; Spark's own rule also takes a lone "\r".
    text = spark.read.text(_url(path), lineSep="\n")
    return text.select(
        F.lit(_form(path)).alias("form"), F.col("value").cast("binary").alias("line")
    )


def _table(spark: SparkSession, path: str) -> DataFrame:
    from pyspark.sql import functions as F

    read = spark.read.parquet(_url(path))
    types = {f.name: f.dataType.simpleString().replace("bigint", "int") for f in read.schema.fields}
    check_columns(path, types)
    columns: list[Column] = [F.col(name) for name in NEEDED]
    if "universe" in types:
        columns.append(F.col("universe"))
    if "corrupt" in types:
        columns.append(F.hex("corrupt").alias("corrupt"))
    whole = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
    form = FAR_TABLE if remote(path) else TABLE
    return read.select(F.lit(form).alias("form"), whole.cast("binary").alias("line"))


def _url(path: str) -> str:
    """The path as a URL for Spark, with the characters of patterns escaped."""
    if remote(path):
        return path
    # A link keeps its own name, which `sources` has checked.
    whole = str(Path(path).parent.resolve() / Path(path).name)
    plain_path = "".join(f"\\{c}" if c in "[]{}*?\\" else c for c in whole)
    return f"file://{plain_path}"


# The session.


def session(master: str | None = None) -> SparkSession:
    """The active session, or a new one with `settings`."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ReplayError("Spark needs pyspark: pip install 'lawful[spark]'") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    check_java()
    return _started(SparkSession, master or "local[*]")


def check_java() -> None:
    """ReplayError, with what to install, where Java is missing or too old for Spark."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    if shutil.which(java) is None:
        raise ReplayError(JAVA_MISSING)
    found = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    # Warnings about options come first, and some of them contain numbers.
    told = re.search(r'version "((?:1\.)?(\d+)[^"]*)"', found.stderr + found.stdout)
    if told is None or int(told[2]) < JAVA:
        raise ReplayError(f"{JAVA_MISSING}; found {told[1] if told else 'no version'}")


def settings(master: str) -> dict[str, str]:
    """The settings of a new session: no web interface, and no network for a local master."""
    out = {
        "spark.master": master,
        "spark.app.name": "lawful replay",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    }
    if master.startswith("local"):
        # Workers are processes on this computer: they import lawful from where this process did.
        root = str(Path(__file__).absolute().parents[3])
        paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        out["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        out["spark.driver.bindAddress"] = out["spark.driver.host"] = "127.0.0.1"
        out["spark.sql.shuffle.partitions"] = "4"
        # Most local replays take seconds: the second JIT compiler would cost more than it saves.
        out["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
    return out


def _started(sessions: type[SparkSession], master: str) -> SparkSession:
    """A new session; ReplayError where Spark does not start."""
    from pyspark import SparkConf, SparkContext

    if master.startswith("local"):
        # Another Python in the environment may lack the packages of this one.
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    conf = SparkConf().setAll(list(settings(master).items()))
    number, log = tempfile.mkstemp(prefix="lawful-spark-", suffix=".log")
    with os.fdopen(number, "wb") as file:
        try:
            context = SparkContext(conf=conf, gateway=_gateway(conf, file))
        except Exception as error:
            why = plain(str(error), 200)
            raise ReplayError(f"Spark does not start: {why} (see {log})") from error
    atexit.register(Path(log).unlink, missing_ok=True)
    context.setLogLevel("ERROR")
    return sessions(context)


def _gateway(conf: Any, log: IO[bytes]) -> Any:
    """The JVM of this process, one for all contexts; its output goes to a log file."""
    from pyspark import SparkContext, java_gateway

    running = vars(SparkContext)["_gateway"]
    launch: Any = vars(java_gateway)["launch_gateway"]  # It has no types.
    return running or launch(conf, {"stdout": log, "stderr": log})


def _spark_error(error: Exception) -> str | None:
    """The error as one line; None where it is not an error of Spark."""
    from pyspark.errors import PySparkException

    # Errors that pyspark does not translate are those of its bridge to the JVM, py4j.
    bridge = type(error).__module__.startswith("py4j.")
    if not bridge and not isinstance(error, PySparkException):
        return None
    lines = [line.strip() for line in str(error).splitlines()]
    texts = [line for line in lines if line and not line.startswith(("at ", "An error occurred"))]
    causes = [line for line in texts if line.startswith("Caused by: ")]
    head = texts[0].removeprefix(": ") if texts else type(error).__name__
    if "Python worker" in head:
        # The traceback of a worker follows; its last error is the cause.
        head = next((line for line in reversed(texts) if PYTHON_ERROR.match(line)), head)
    return f"Spark: {plain(head, 250)}" + "".join(f" ({plain(c, 250)})" for c in causes[-1:])
