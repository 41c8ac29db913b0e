"""Liveness under fairness: strongly connected components and lassos."""
