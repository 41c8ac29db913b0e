"""Tests of the windows of read-only transactions."""
