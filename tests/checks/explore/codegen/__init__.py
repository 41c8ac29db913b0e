"""Tests of `checks/explore/codegen`."""
