"""Tests of `runtime/kernel`."""
