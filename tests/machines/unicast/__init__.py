"""Tests of reliable unicast."""
