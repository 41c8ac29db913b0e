"""The Spark session that lawful makes: what its JVM is given."""

from __future__ import annotations

import os
from io import BytesIO

import pytest

from lawful.checks.replay.spark import session as spark_session


def test_the_jvm_has_the_environment_of_an_executor_where_it_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And this process has its own again."""
    pyspark = pytest.importorskip("pyspark")
    met: list[tuple[str | None, str | None]] = []

    def launch(*_: object) -> str:
        met.append((os.environ.get("MALLOC_ARENA_MAX"), os.environ.get("PYTHONPATH")))
        return "gateway"

    monkeypatch.setattr(pyspark.SparkContext, "_gateway", None)
    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launch)
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    given = {"MALLOC_ARENA_MAX": "2", "PYTHONPATH": "of workers"}
    for master in ("local[2]", "spark://a:1"):
        conf = pyspark.SparkConf(loadDefaults=False).setMaster(master)
        for name, value in given.items():
            conf.set(f"spark.executorEnv.{name}", value)
        assert vars(spark_session)["_gateway"](conf, BytesIO()) == "gateway"
    assert met == [("2", "of workers"), (None, "mine")]
    assert (os.environ.get("MALLOC_ARENA_MAX"), os.environ["PYTHONPATH"]) == (None, "mine")
