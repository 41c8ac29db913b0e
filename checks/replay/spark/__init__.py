"""Replay on Spark: data frames in and out, and the counts of `lawful replay`."""
