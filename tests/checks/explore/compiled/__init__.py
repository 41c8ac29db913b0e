"""Tests of `checks/explore/compiled`."""
