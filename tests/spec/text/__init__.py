"""Tests of `spec/text`."""
