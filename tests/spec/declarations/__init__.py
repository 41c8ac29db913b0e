"""Machines that several tests use."""
