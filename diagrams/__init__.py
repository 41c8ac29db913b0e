"""Diagrams of machines and traces: Graphviz DOT and Mermaid."""
