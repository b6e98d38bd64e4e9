"""Products of vectors and matrices, diagonals and triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.spellings import Spelling
from ..ir.variable import Variable
from .creation import assign
from .layer import LAYERS, LayerBuilder, is_variable, layer, stopped
from .operator_layers import Layer, LayerCall, operator_layer, same_shape

bmm: Layer = operator_layer("""
    bmm(x, y, name)

    >>> x, y = fluid.data("x", [None, 3, 4]), fluid.data("y", [None, 4, 5])
    >>> fluid.layers.bmm(x, y).shape
    (-1, 3, 5)
""")
dot: Layer = operator_layer("""
    dot(x, y, name)

    >>> fluid.layers.dot(fluid.data("x", [None, 4]), fluid.data("y", [None, 4])).shape
    (-1, 1)
""")
addmm: Layer = operator_layer("""
    addmm(input, x, y, alpha, beta, name)

    >>> i, x, y = (fluid.data(n, s) for n, s in (("i", [3, 5]), ("x", [3, 4]), ("y", [4, 5])))
    >>> fluid.layers.addmm(i, x, y, alpha=2.0).shape
    (3, 5)
""")
cross: Layer = same_shape("""
    cross(input: X, other: Y, dim=None)

    >>> fluid.layers.cross(fluid.data("x", [2, 3]), fluid.data("y", [2, 3])).shape
    (2, 3)
""")
kron: Layer = operator_layer("""
    kron(x, y, out, name)

    >>> fluid.layers.kron(fluid.data("x", [2, 3]), fluid.data("y", [4, 5])).shape
    (8, 15)
""")


@operator_layer.signature("""
    bilinear_tensor_product(x, y, size: int, act, name, param_attr, bias_attr)
""")
def bilinear_tensor_product(f: LayerBuilder, call: LayerCall) -> Variable:
    """``size`` products of rows of ``x``, learned matrices, and rows of ``y``, plus a bias.

    Args:
        x: [N, I], float.
        y: [N, J].
        size: how many matrices there are.
        param_attr: of the matrices, [size, I, J].
        bias_attr: of the bias, [1, size]; False for none.

    Returns:
        A variable of shape [N, size].

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 2])
    >>> fluid.layers.bilinear_tensor_product(x, y, size=5).shape
    (-1, 5)
    """
    x, y, size = call.x, call.y, call.size
    weight = f.weight(call.param_attr, [size, x.shape[1], y.shape[1]], x.dtype)
    bias = f.bias_parameter(call.bias_attr, [1, size], x.dtype)
    return f.bilinear_tensor_product(x, y, weight, bias)


fsp_matrix: Layer = operator_layer("""
    fsp_matrix(x, y) -> fsp

    >>> x, y = fluid.data("x", [None, 4, 8, 8]), fluid.data("y", [None, 6, 8, 8])
    >>> fluid.layers.fsp_matrix(x, y).shape
    (-1, 4, 6)
""")
trace: Layer = operator_layer("""
    trace(input, offset, dim1=0, dim2=1, out, name)

    >>> fluid.layers.trace(fluid.data("x", [None, 3, 4]), dim1=1, dim2=2).shape
    (-1,)
""")


@layer
def diag(f: LayerBuilder, diagonal: Variable | np.ndarray[Any, Any]) -> Variable:
    """A square matrix of zeros with a vector on its diagonal.

    Args:
        diagonal: the vector: a variable or an array.

    Returns:
        A variable of shape [n, n].  No gradient flows through.

    >>> fluid.layers.diag(np.array([1.0, 2.0], "float32")).shape
    (2, 2)
    """
    return stopped(f.diag(_variable(diagonal)))


@layer
def diag_embed(
    f: LayerBuilder,
    input: Variable | np.ndarray[Any, Any],
    offset: int = 0,
    dim1: int = -2,
    dim2: int = -1,
) -> Variable:
    """Square matrices of zeros with the last dimension of a variable on a diagonal.

    Args:
        input: a variable, or an array.
        offset: 0 the main diagonal; above 0 that many columns to the right, below 0 rows down.
        dim1: the dimension of the rows; may count from the end.
        dim2: the dimension of the columns; may count from the end.

    Returns:
        A variable with one dimension more than ``input``.  No gradient flows through.

    >>> fluid.layers.diag_embed(fluid.data("x", [None, 3]), offset=1).shape
    (-1, 4, 4)
    """
    return stopped(f.diag_embed(_variable(input), offset=offset, dim1=dim1, dim2=dim2))


def _variable(given: Variable | np.ndarray[Any, Any]) -> Variable:
    return given if is_variable(given) else assign(given)


def _triangle(
    f: LayerBuilder, input: Variable, diagonal: int = 0, name: str | None = None, lower: bool = True
) -> Variable:
    """The lower triangles of matrices, and zeros above.

    Args:
        input: a variable; the matrices are in its last two dimensions.
        diagonal: the last diagonal that stays: 0 the main one; above 0 that many columns to the
            right, below 0 rows down.
        name: of the result.

    Returns:
        A variable of the shape of ``input``.
    """
    taken = f.block.has_var(f.name)
    result = f.new_variable() if taken else f.block.create_var(name=f.name)
    f.into("tril_triu", {"X": input}, {"Out": result}, diagonal=diagonal, lower=lower)
    return result


_TRIANGLES = LAYERS.extended(
    {},
    example="""
    >>> fluid.layers.{name}(fluid.data("x", [3, 4]), diagonal=1).shape
    (3, 4)
    """,
)
_UPPER = {"lower": "upper", "above.": "below.", "the last": "the first"}
_as_written = Spelling({})
tril: Layer = layer(family=_TRIANGLES)(_as_written(_triangle, "tril", fixed={"lower": True}))
triu: Layer = layer(family=_TRIANGLES)(
    _as_written(_triangle, "triu", fixed={"lower": False}, words=_UPPER)
)
