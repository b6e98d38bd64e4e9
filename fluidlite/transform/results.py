"""What transformations give that ask for more values and compute more."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.program import Program
from ..ir.variable import Variable


class Transformed(NamedTuple):
    """A program that a transformation made, what it has to be fed besides, and what it computes.

    It unpacks into its three parts, and says what they are when it is printed.

    program: the new program; variables have the names that they had in the old one.
    inputs: the data variables that the transformation added, or that have other shapes than before:
        a tangent for each input of ``jvp``, the batched inputs of ``vmap``.
    outputs: the results, in the order of the request.

    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.exp(x)
    >>> program, tangents, outputs = fluid.transform.jvp(fluid.default_main_program(), [y], [x])
    >>> [v.name for v in tangents]
    ['x@TANGENT']
    """

    program: Program
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]

    def __repr__(self) -> str:
        fed, found = (", ".join(v.name for v in part) or "-" for part in self[1:])
        return f"<program with inputs {fed} and outputs {found}>"
