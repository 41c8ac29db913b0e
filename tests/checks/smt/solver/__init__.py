"""Tests of `checks/smt/solver`."""
