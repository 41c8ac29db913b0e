"""Which arguments a scope leaves out that might have been a step, by interval analysis."""
