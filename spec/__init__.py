"""The language: what a declarer writes and what it becomes."""
