"""Layout: how the values of a bounded type stand in cells and packed words."""
