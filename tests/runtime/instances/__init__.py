"""Tests of `runtime/instances`."""
