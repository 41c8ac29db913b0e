"""Exploration on Spark: large levels of a search are jobs, whose states are in Parquet files."""
