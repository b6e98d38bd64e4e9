"""Certificates: how it is found whether the gradient part of a program is the derivative of its
forward part.

``field.py`` computes in a prime field, ``jets.py`` with values and their derivatives, there and in
numbers. ``namespace.py`` has the array functions that kernels call on them, ``evaluation.py`` runs
operators on them. ``sweeps.py`` finds what a program claims to be a gradient, ``equations.py``
checks the claims; ``certificate.py`` is what is said of it.
"""

from __future__ import annotations
