"""The functions that generated code calls while an event runs."""
