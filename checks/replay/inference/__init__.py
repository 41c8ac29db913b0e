"""Proposals of mappings, from samples of foreign traces."""
