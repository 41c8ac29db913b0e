"""Layout: how values of a bounded type are stored in cells and packed words."""
