"""Tests of the message scheduler."""
