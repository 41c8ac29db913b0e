"""Code generation: a machine within a scope -> Python text over packed integer words."""
