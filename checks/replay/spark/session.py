"""The Spark session of a replay: the active one, or a new one with settings of our own."""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..rows import plain
from ..sources import ReplayError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17
JAVA_MISSING = (
    f"Spark needs Java {JAVA} or newer: install it (Debian: default-jre-headless), "
    "or use another engine"
)
OF_EXECUTORS = "spark.executorEnv."  # What follows is a variable of their environment.
OURS = f"{ReplayError.__module__}.{ReplayError.__name__}: "
PYTHON_ERROR = re.compile(r"[\w.]*(Error|Exception): ")


def session(master: str | None = None, more: Mapping[str, str] = {}) -> SparkSession:
    """The active session, or a new one with `settings` and more of them."""
    check_pyspark()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    check_java()
    return _started(SparkSession, {**settings(master or "local[*]"), **more})


def why_no_spark() -> str:
    """Why no session can be started on this computer; empty where one can."""
    try:
        check_pyspark()
        check_java()
    except ReplayError as error:
        return str(error)
    return ""


def check_pyspark() -> None:
    """ReplayError, with what to install, where pyspark is missing."""
    if importlib.util.find_spec("pyspark") is None:
        raise ReplayError("Spark needs pyspark: pip install 'lawful[spark]'")


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
        root = str(Path(__file__).absolute().parents[4])
        paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        out["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        out["spark.driver.bindAddress"] = out["spark.driver.host"] = "127.0.0.1"
        out["spark.sql.shuffle.partitions"] = "32"  # At most: few where there is little to do.
    return out


def _started(sessions: type[SparkSession], given: Mapping[str, str]) -> SparkSession:
    """A new session; ReplayError where Spark does not start."""
    from pyspark import SparkConf, SparkContext

    if given["spark.master"].startswith("local"):
        # Another Python in the environment may lack the packages of this one.
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    conf = SparkConf().setAll(list(given.items()))
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
    """The JVM of this process, one for all contexts; its output goes to a log file. With a local
    master it is the executor, too, and has the environment of one."""
    from pyspark import SparkContext, java_gateway

    running = vars(SparkContext)["_gateway"]
    if running:
        return running
    launch: Any = vars(java_gateway)["launch_gateway"]  # It has no types.
    given: dict[str, str] = {}
    if conf.get("spark.master").startswith("local"):
        given = {
            name.removeprefix(OF_EXECUTORS): value
            for name, value in conf.getAll()
            if name.startswith(OF_EXECUTORS)
        }
    with _environment(given):
        return launch(conf, {"stdout": log, "stderr": log})


@contextmanager
def _environment(given: Mapping[str, str]) -> Generator[None]:
    """Processes that start meanwhile have these variables, too."""
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def plain_errors() -> Generator[None]:
    """Errors of Spark become a ReplayError of one line."""
    try:
        yield
    except Exception as error:
        line = spark_error(error)
        if line is None:
            raise
        raise ReplayError(line) from error


def spark_error(error: Exception) -> str | None:
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
    if OURS in head:
        return head.partition(OURS)[2]  # As this process says it.
    if head.startswith("ModuleNotFoundError"):
        head += "; the workers' Python lacks it: set PYSPARK_PYTHON before the session starts"
    return f"Spark: {plain(head, 250)}" + "".join(f" ({plain(c, 250)})" for c in causes[-1:])
