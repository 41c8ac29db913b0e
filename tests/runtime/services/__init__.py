"""Tests of `runtime/services`."""
