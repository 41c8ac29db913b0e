"""Replays in increments: the state of each instance, in and out."""
