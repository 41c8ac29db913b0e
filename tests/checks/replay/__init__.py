"""Tests of `checks/replay`."""
