"""Tests of `checks/explore/assembly`."""
