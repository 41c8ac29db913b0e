"""The formats of files, each version as it was written."""
