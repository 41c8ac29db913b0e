"""The replay on Spark: one shuffle by instance, one sort, one fold; few rows come back.

    lines -> (instance, seq, line) -> repartition(n, instance) -> sort(instance, seq) -> mapInArrow

The JVM reads no more of a row than its instance and number: `rows` alone says what a row is, here
as in the local engine. The program travels as the machines' IR; workers need lawful installed, and
nothing of the declaration. A partition gives one row, its tallies.
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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .fold import Fold, ReplayProgram
from .rows import Rejected, Row, decoded, plain, row_of_columns
from .tables import NEEDED, arrow, check_columns
from .tally import Tallies
from .traces import ReplayError, Sources, remote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

JAVA = 17
JAVA_MISSING = (
    f"Spark needs Java {JAVA} or newer: install it (Debian: default-jre-headless), "
    "or replay with the local engine"
)
PARTITION = 64 << 20  # Bytes of input for each partition of the shuffle, about.
MERGED_HERE = 32  # Tallies that the driver merges by itself.
TALLIES = "tallies binary"
PYTHON_ERROR = re.compile(r"[\w.]*(Error|Exception): ")


def tally(files: Sources, program: ReplayProgram, master: str | None = None) -> Tallies:
    """Replay the files on Spark: the session that is there, or one that is made."""
    spark = session(master)
    try:
        return collect(frame(spark, files, program), program, files.size)
    except Exception as error:
        line = _spark_error(error)
        if line is None:
            raise
        raise ReplayError(line) from error


def frame(spark: SparkSession, files: Sources, program: ReplayProgram) -> DataFrame:
    """The rows as (instance, seq, table, line); what has no instance has null there."""
    mapping = program.mapping
    paths = ("$.instance", "$.seq") if mapping is None else (mapping.instance, mapping.seq)
    parts = [_lines(spark, path, paths) for path in files.lines]
    parts += [_table(spark, path) for path in files.tables]
    return functools.reduce(lambda a, b: a.unionByName(b), parts)


def collect(rows: DataFrame, program: ReplayProgram, size: int) -> Tallies:
    """The tallies of all partitions, merged."""
    from pyspark.sql import functions as F

    cores = rows.sparkSession.sparkContext.defaultParallelism
    n = max(cores, -(-size // PARTITION))
    # Rows without an instance are spread by their text, or one task would get them all.
    spread = F.coalesce(F.col("instance").cast("binary"), F.col("line"))
    sorted_rows: Any = rows.repartition(n, spread).sortWithinPartitions("instance", "seq")
    folded = sorted_rows.mapInArrow(FoldPartition(program), TALLIES)
    if n > MERGED_HERE:
        folded = folded.repartition(MERGED_HERE).mapInArrow(merged, TALLIES)
    tallies = Tallies()
    for row in folded.collect():
        tallies.merge(pickle.loads(row["tallies"]))
    return tallies


def merged(batches: Iterable[Any]) -> Iterator[Any]:
    """The tallies of several partitions as those of one: the driver holds only a few."""
    tallies = Tallies()
    for batch in batches:
        for each in batch.column(0).to_pylist():
            tallies.merge(pickle.loads(each))
    yield _tallied(tallies)


def _tallied(tallies: Tallies) -> Any:
    return arrow().RecordBatch.from_pydict({"tallies": [pickle.dumps(tallies)]})


class FoldPartition:
    """Folds the sorted rows of one partition: an instance may span batches, a batch instances."""

    def __init__(self, program: ReplayProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The tallies of a partition, pickled, as one row."""
        tallies = Tallies()
        open_fold: Fold | None = None
        for batch in batches:
            columns = [batch.column(i).to_pylist() for i in range(4)]
            for instance, _seq, table, line in zip(*columns, strict=True):
                row = self.read(instance, table, line)
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
        yield _tallied(tallies)

    def read(self, instance: str | None, table: bool, line: bytes) -> Row | Rejected:
        """The row of a line, which Spark has sorted under this instance."""
        row = row_of_columns(_columns(line)) if table else decoded(line, self.program.row_of)
        if isinstance(row, Row) and row.instance != instance:
            return Rejected("read otherwise by Spark", plain(line.decode("latin-1")))
        return row


def _columns(line: bytes) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(line)
    if data.get("corrupt") is not None:
        data["corrupt"] = bytes.fromhex(data["corrupt"])
    return data


# Frames.


def _lines(spark: SparkSession, path: str, paths: tuple[str, str]) -> DataFrame:
    from pyspark.sql import functions as F

    # Only "\n" ends a line, as in Python; Spark's own rule also takes a lone "\r".
    text = spark.read.text(_url(path), lineSep="\n").where(F.trim("value", F.lit(" \t\r")) != "")
    return text.select(
        F.get_json_object("value", paths[0]).alias("instance"),
        F.get_json_object("value", paths[1]).try_cast("long").alias("seq"),
        F.lit(False).alias("table"),
        F.col("value").cast("binary").alias("line"),
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
    return read.select(
        F.col("instance"),
        F.col("seq").cast("long").alias("seq"),
        F.lit(True).alias("table"),
        whole.cast("binary").alias("line"),
    )


def _url(path: str) -> str:
    """The path as Spark takes it: of this computer, with what would be a pattern made plain."""
    if remote(path):
        return path
    plain_path = "".join(f"\\{c}" if c in "[]{}*?\\" else c for c in str(Path(path).resolve()))
    return f"file://{plain_path}"


# The session.


def session(master: str | None = None) -> SparkSession:
    """The session that is active, or a new one: offline, quiet, on this computer by default."""
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
    """ReplayError, with what to install, where there is no Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    if shutil.which(java) is None:
        raise ReplayError(JAVA_MISSING)
    found = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    words = (found.stderr + found.stdout).replace('"', " ").split()
    version = next((w for w in words if w[:1].isdigit()), "0")
    major = version.removeprefix("1.").split(".")[0].split("-")[0].split("+")[0]
    if not major.isdigit() or int(major) < JAVA:
        raise ReplayError(f"{JAVA_MISSING}; found {version}")


def settings(master: str) -> dict[str, str]:
    """What a session needs: little, and nothing from outside this computer unless told to."""
    out = {
        "spark.master": master,
        "spark.app.name": "lawful replay",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    }
    if master.startswith("local"):
        # Workers are processes of this computer: they find lawful where this process found it.
        root = str(Path(__file__).absolute().parents[2])
        paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        out["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        out["spark.driver.bindAddress"] = out["spark.driver.host"] = "127.0.0.1"
        out["spark.sql.shuffle.partitions"] = "4"
        # Most replays here take seconds: the second compiler would cost more than it gives.
        out["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
    return out


def _started(sessions: type[SparkSession], master: str) -> SparkSession:
    """A new session; ReplayError where Spark does not start."""
    from pyspark import SparkConf, SparkContext

    if master.startswith("local"):
        # Another Python that stands in the environment may lack what this one has.
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
    """The JVM of this process, one for all contexts; its warnings go to a file, not to the user."""
    from pyspark import SparkContext, java_gateway

    running = vars(SparkContext)["_gateway"]
    launch: Any = vars(java_gateway)["launch_gateway"]  # It has no types.
    return running or launch(conf, {"stdout": log, "stderr": log})


def _spark_error(error: Exception) -> str | None:
    """One line for what Spark could not do; None where the error is none of Spark's."""
    from pyspark.errors import PySparkException

    # Errors that pyspark does not know come as those of the bridge that it brings with it.
    bridge = type(error).__module__.startswith("py4j.")
    if not bridge and not isinstance(error, PySparkException):
        return None
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("at ", "An error occurred"))]
    causes = [line for line in told if line.startswith("Caused by: ")]
    head = told[0].removeprefix(": ") if told else type(error).__name__
    if "Python worker" in head:
        # A traceback follows, and ends with what it is about.
        head = next((line for line in reversed(told) if PYTHON_ERROR.match(line)), head)
    return f"Spark: {plain(head, 250)}" + "".join(f" ({plain(c, 250)})" for c in causes[-1:])
