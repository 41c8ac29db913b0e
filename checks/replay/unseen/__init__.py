"""Traces that do not tell everything: hidden steps, missing arguments, late beginnings."""
