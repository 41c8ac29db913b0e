"""Tests of `checks/reference`."""
