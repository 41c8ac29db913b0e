"""Tests of `checks/prove`."""
