"""Tests of the systems."""
