"""Tests of `spec/analysis`."""
