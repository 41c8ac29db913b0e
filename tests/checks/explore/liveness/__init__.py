"""Tests of `checks/explore/liveness`."""
