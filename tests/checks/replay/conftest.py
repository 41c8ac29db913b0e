"""A Spark session for the tests of replay, or the reason why there is none."""

from __future__ import annotations

import signal
from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """One session, made in this process with its JVM.

    pyspark leaves its own handler of Ctrl-C behind, which fails once the session has ended; so the
    handler before it is put back.
    """
    handler = signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", CHEAP_JAVA)
        made = spark_session.session("local[2]")
    signal.signal(signal.SIGINT, handler)
    yield made
    made.stop()
    assert signal.getsignal(signal.SIGINT) is handler
