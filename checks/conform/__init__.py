"""Conformance: an implementation, or an instance, compared with its machine in lockstep."""
