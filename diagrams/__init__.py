"""Pictures of a machine."""
