"""Tests of the queue cluster."""
