"""Tests of `checks/smt`."""
