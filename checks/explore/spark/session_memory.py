"""Settings that bound the memory of Spark while it explores, for sessions that lawful makes itself.

The states are in files; what is left to bound is what holds them on their way. The heap is capped,
batches of Arrow have few bytes, and workers give back what they do not use: their large arrays are
mapped one by one, and Arrow keeps no pool.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from .level_jobs import PARTITIONS

HEAP, OF_CORE = 384, 64  # Mebibytes of the heap, and more of them for each core.
PARTITIONS_OF_CORE = 4
BATCH = 1 << 21  # Bytes of a batch of Arrow.
MAPPED = 1 << 20  # Bytes of an array that is mapped alone, from so many on.


def bounded(master: str) -> Mapping[str, str]:
    """The settings for a master. Those of the heap are for one on this computer: on a cluster the
    heaps are what `spark-submit` was given."""
    found = {
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
    return found
