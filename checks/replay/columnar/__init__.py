"""Replay of typed columns: a fast path for instances that fit; all others go to the row fold."""
