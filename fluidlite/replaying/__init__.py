"""Steps of eager loops that run from a plan once they repeat themselves.

``recording`` writes a step down as a program, ``watching`` says what its Python code depends on,
``steps`` is what users call.
"""

from __future__ import annotations

from .steps import replay

__all__ = ["replay"]
