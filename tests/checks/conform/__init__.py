"""Tests of `checks/conform`."""
