"""Questions asked of a machine; every answer is a verdict."""
