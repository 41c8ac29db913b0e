"""The small executor that services embed."""
