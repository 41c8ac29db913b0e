"""The IR as canonical JSON, its fingerprints, and frozen declarations."""
