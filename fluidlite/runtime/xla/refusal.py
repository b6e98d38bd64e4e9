"""What JAX cannot compile."""

from __future__ import annotations


class NotTraceable(Exception):
    """A step cannot be part of a compiled function; the text says why."""
