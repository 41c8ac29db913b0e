"""The databases that a store can be in."""
