"""Tests of `spec/syntax`."""
