"""Tests of object diffusion."""
