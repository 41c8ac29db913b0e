"""What recorded events are good for beyond a verdict: tests, comparisons of versions, scopes."""
