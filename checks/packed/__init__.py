"""The compiled explorer: states as packed words, one generated transition function, LLVM."""
