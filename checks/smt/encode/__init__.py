"""Encoding: values, expressions, statements, time and parts as terms."""
