"""Certificates: what a verdict rests on, in files that somebody else can count or prove again."""
