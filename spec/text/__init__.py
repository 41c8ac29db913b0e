"""The IR as text: what `lawful show` prints, and the words of a refusal."""
