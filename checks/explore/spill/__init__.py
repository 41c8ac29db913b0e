"""The search whose states are in files: a window of them in memory, sorted runs of them on disk."""
