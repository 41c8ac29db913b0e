"""The generated function that expands a state: its steps, judgements, counts and packed words."""
