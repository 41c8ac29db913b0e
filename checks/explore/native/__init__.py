"""The search over packed words, as text from which LLVM makes machine code."""
