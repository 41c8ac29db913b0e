"""Tests of what is had from and given to `transitions`."""
