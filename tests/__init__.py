"""Tests, laid out as the folders they test."""
