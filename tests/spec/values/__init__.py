"""Tests of `spec/values`."""
