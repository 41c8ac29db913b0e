"""Concurrent histories: calls and returns of many processes, in place of events in an order."""
