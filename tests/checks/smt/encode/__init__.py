"""Tests of `checks/smt/encode`."""
