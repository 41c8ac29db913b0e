"""Tests of `checks/mutation`."""
