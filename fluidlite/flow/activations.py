"""Activations, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..eager.engine import located
from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..functions import arithmetic, elementary, shaping
from ..functions.selection import chosen
from ..ground.spellings import Spelling
from ..nn.functional import activation, randomized
from .elementary import logsigmoid
from .functions import log_softmax, relu, softmax
from .spelling import ONEFLOW, WRITTEN_IF_ASKED, in_oneflow

if TYPE_CHECKING:
    from .spelling import Function
    from .tensor import Tensor

__all__ = [
    "celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "quick_gelu", "relu",
    "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softshrink", "softsign", "tanh",
    "threshold",
]  # fmt: skip

#: as ONEFLOW, of functions whose options stay what they are
_WITHOUT_OPTIONS = Spelling({"x": "input"}, without=["name", "scale", "alpha"], examples=in_oneflow)


def _anew(result: Tensor, inplace: bool = False) -> Tensor:
    """The result as it is.

    Args:
        result: of an activation.
        inplace: accepted; the input stays what it is all the same.
    """
    return result


sigmoid: Function = elementary.sigmoid
tanh: Function = elementary.tanh
relu6: Function = ONEFLOW(activation.relu6, then=_anew)
silu: Function = ONEFLOW(activation.silu)
mish: Function = ONEFLOW(activation.mish)
softsign: Function = ONEFLOW(activation.softsign)
hardswish: Function = ONEFLOW(activation.hardswish)
elu: Function = ONEFLOW(activation.elu)
selu: Function = _WITHOUT_OPTIONS(
    activation.selu,
    doc="An elu whose scale and alpha keep mean and variance (Klambauer et al., 2017).",
)
softplus: Function = ONEFLOW(activation.softplus)
gumbel_softmax: Function = ONEFLOW(
    randomized.gumbel_softmax, order="input, tau, hard, dim", temperature="tau"
)
leaky_relu: Function = WRITTEN_IF_ASKED(activation.leaky_relu, x="x", negative_slope="alpha")
celu: Function = WRITTEN_IF_ASKED(activation.celu)
hardsigmoid: Function = WRITTEN_IF_ASKED(
    activation.hardsigmoid,
    doc="min(max(x / 6 + 1 / 2, 0), 1).",
    fixed={"slope": 1 / 6, "offset": 0.5},
)
hardshrink: Function = WRITTEN_IF_ASKED(activation.hardshrink, threshold="lambd")
softshrink: Function = WRITTEN_IF_ASKED(activation.softshrink, threshold="lambd")


def quick_gelu(x: Tensor) -> Tensor:
    """x times the sigmoid of 1.702 x: nearly a gelu.

    >>> fluid.flow.nn.functional.quick_gelu(fluid.flow.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8458], dtype=oneflow.float32)
    """
    return arithmetic.multiply(x, elementary.sigmoid(arithmetic.multiply(x, 1.702)))


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the probability of a normal number below x.

    Args:
        input: a tensor.
        approximate: "none", or "tanh" for an approximation by that.

    Raises:
        ArgumentError: something else.

    >>> fluid.flow.gelu(fluid.flow.tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.8413], dtype=float32)
    """
    if approximate not in ("none", "tanh"):
        raise located(
            ArgumentError, f"expected approximate 'none' or 'tanh', got {approximate!r:.60}"
        )
    return activation.gelu(input, approximate == "tanh")


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x, kept in [min_val, max_val].

    >>> fluid.flow.nn.functional.hardtanh(fluid.flow.tensor([-3.0, 1.5]), 0.0, 1.0)
    tensor([0., 1.], dtype=oneflow.float32)
    """
    if not min_val < max_val:
        raise located(ArgumentError, f"expected min_val below max_val, got {min_val}, {max_val}")
    return activation.hardtanh(input, min_val, max_val)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """x where it is above the threshold, and the value elsewhere.

    >>> fluid.flow.nn.functional.threshold(fluid.flow.tensor([0.5, 2.0]), 1.0, -7.0).tolist()
    [-7.0, 2.0]
    """
    above = arithmetic.greater_than(input, threshold)
    return chosen(above, eager.thresholded_relu(input, threshold=float(threshold)), float(value))


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x, or weight x where x is negative.

    Args:
        input: a tensor.
        weight: one slope, or one for each channel.

    >>> x = fluid.flow.tensor([-2.0, 2.0])
    >>> fluid.flow.nn.functional.prelu(x, fluid.flow.tensor([0.25])).tolist()
    [-0.5, 2.0]
    """
    slopes = shaping.reshape(weight, [1]) if weight.array.size == 1 else weight
    return activation.prelu(input, slopes)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension, times the sigmoid of the second.

    Raises:
        ShapeError: the dimension has an odd size.

    >>> fluid.flow.nn.functional.glu(fluid.flow.tensor([1.0, 2.0, 0.0, 0.0])).tolist()
    [0.5, 1.0]
    """
    if input.array.shape[dim] % 2:
        raise located(
            ShapeError, f"expected an even size along {dim}, got {list(input.array.shape)}"
        )
    return activation.glu(input, dim)
