"""Tests of `checks/report`."""
