"""Tests of `spec/codec`."""
