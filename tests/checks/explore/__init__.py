"""Tests of `checks/explore`."""
