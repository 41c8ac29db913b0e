"""Tests of `checks/lint`."""
