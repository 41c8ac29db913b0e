"""What an editor shows of a declaration while somebody writes it: `lawful lsp`."""
