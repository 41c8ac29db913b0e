"""A Spark session for the tests of replay, or the reason why there is none."""

from __future__ import annotations

import importlib.util
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay.spark import session as spark_session

MISSING = spark_session.why_no_spark()
NEEDS_SPARK = [
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
    pytest.mark.xdist_group("spark"),  # One process has the session.
]
# The JVM checks no byte code, has one thread for its garbage, and does not compile with much effort
# what runs for seconds only: that is less processor time.
CHEAP_JAVA = "-XX:+UseSerialGC -Xverify:none -XX:TieredStopAtLevel=1"


def home_without_archive(folder: Path) -> Path:
    """A home of Spark in which its workers find no archive of pyspark and import the installed one.

    An archive has no byte code, so its import takes four times as long. Spark waits ten seconds for
    the worker that each run of a stream starts, which no setting changes (SPARK-45245).
    """
    found = importlib.util.find_spec("pyspark")
    assert found is not None and found.origin is not None
    for name in ("bin", "jars"):
        (folder / name).symlink_to(Path(found.origin).parent / name)
    return folder


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One session, made in this process with its JVM.

    pyspark leaves its own handler of Ctrl-C behind, which fails once the session has ended; so the
    handler before it is put back.
    """
    handler = signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", CHEAP_JAVA)
        patch.setenv("SPARK_HOME", str(home_without_archive(tmp_path_factory.mktemp("spark"))))
        made = spark_session.session("local[2]")
    signal.signal(signal.SIGINT, handler)
    yield made
    made.stop()
    assert signal.getsignal(signal.SIGINT) is handler
