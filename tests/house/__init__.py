"""The rules of the house, a module for each kind; `tests/test_house.py` runs them."""
