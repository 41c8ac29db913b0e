"""Tests of `spec/lower`."""
