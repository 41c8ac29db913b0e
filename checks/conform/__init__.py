"""Conformance: an implementation, or an instance, driven beside the machine."""
