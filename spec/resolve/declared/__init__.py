"""What is written out, as the type that is declared where it stands: serial numbers, literals."""
