"""What generated code calls while an event runs."""
