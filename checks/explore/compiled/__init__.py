"""The compiled search: generated code run as plain Python or as machine code by LLVM."""
