"""How long an instance may be in a control state, as a mapping says it."""
