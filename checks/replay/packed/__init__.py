"""The plain instances of a stream: packed columns, stepped by the runtime's compiled steps."""
