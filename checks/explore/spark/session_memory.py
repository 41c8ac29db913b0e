"""What bounds the memory of a search on Spark: settings for sessions that lawful makes itself, and
giving back what a process does not use.

The states are in files; what is left to bound is what holds them on their way. The heap is capped,
batches of Arrow have few bytes, and workers give back what they do not use: their large arrays are
mapped one by one, and Arrow keeps no pool. The JVM moves a few binary values, so that code of its
first compiler is good enough: that of the second takes tens of mebibytes while it is made. A level
is one plan that says how many tasks it has, so that nothing is won by planning it again. Files of
old levels are removed one after another: else each has threads of its own.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping

from .arrow_rows import arrow
from .level_jobs import PARTITIONS

HEAP, OF_CORE = 384, 64  # Mebibytes of the heap, and more of them for each core.
PARTITIONS_OF_CORE = 4
BATCH = 1 << 21  # Bytes of a batch of Arrow.
MAPPED = 1 << 20  # Bytes of an array that is mapped alone, from so many on.
FIRST_COMPILER = "-XX:TieredStopAtLevel=1"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"


def bounded(master: str) -> Mapping[str, str]:
    """The settings for a master. Those of the JVM are for one on this computer: on a cluster they
    are what `spark-submit` was given."""
    found = {
        "spark.cleaner.referenceTracking.blocking.shuffle": "true",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH),
        "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
        "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(MAPPED),
        "spark.executorEnv.MALLOC_ARENA_MAX": "2",
    }
    local = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\s*\d+)?\])?", master)
    if local:
        cores = (os.cpu_count() or 1) if local[1] == "*" else int(local[1] or 1)
        found["spark.driver.memory"] = f"{HEAP + OF_CORE * cores}m"
        found[PARTITIONS] = str(PARTITIONS_OF_CORE * cores)
        found[JAVA_OPTIONS] = FIRST_COMPILER
    return found


def give_back() -> None:
    """Give the system the memory that this process has freed, where its C library can do so."""
    arrow().default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it.
        if trim is not None:
            trim(0)
