"""The number of buckets, by which a name of an instance is in one: it is fixed for a checkpoint."""

from __future__ import annotations

from ..sources import ReplayError


def check_buckets(before: int, now: int) -> None:
    """ReplayError where a checkpoint has states in another number of buckets."""
    if before != now:
        what = f"the checkpoint is of a stream with buckets = {before}, not {now}"
        raise ReplayError(f"{what}; give {before}, or begin with a new checkpoint")
