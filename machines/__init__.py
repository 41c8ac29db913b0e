"""The systems declared in the language, a package each."""
