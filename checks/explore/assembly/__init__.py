"""Text of generated steps -> text in LLVM's assembly language."""
