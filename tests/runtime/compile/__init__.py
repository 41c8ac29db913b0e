"""Tests of `runtime/compile`."""
