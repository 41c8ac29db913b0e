"""Values at run time: their order, bounds, text and JSON form."""
