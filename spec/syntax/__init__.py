"""Syntax: the source text of a class statement -> the syntax tree."""
