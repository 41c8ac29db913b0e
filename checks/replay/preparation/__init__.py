"""What is done with a foreign trace before a mapping reads its rows: formats, fields, order."""
