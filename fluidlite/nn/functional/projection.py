"""Linear maps and lookups, and what thins them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...eager.composite import composite
from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arithmetic import add, matmul, maximum, multiply, true_divide
from ...functions.reduction import norm
from ...functions.reduction import sum as total
from ...functions.shaping import in_run
from ...opdef.operand import Operand

if TYPE_CHECKING:
    from ...functions.arguments import Axes


@composite
def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None
) -> Tensor:
    """x weight + bias.

    Args:
        x: [..., m].
        weight: [m, n].
        bias: [n].

    >>> x, w = fluid.to_tensor([[1.0, 2.0]]), fluid.to_tensor([[1.0], [10.0]])
    >>> fluid.nn.functional.linear(x, w, fluid.to_tensor([0.5])).tolist()
    [[21.5]]
    """
    out = matmul(x, weight)
    return out if bias is None else add(out, bias)


def embedding(
    x: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Rows of a table by number.

    Args:
        x: integers, of any shape.
        weight: the table, a row for each number.
        padding_idx: the number that stands for zeros, through which no gradient flows.
        sparse: the gradient of the table has only the rows that were used.

    >>> x = fluid.to_tensor([2, 0])
    >>> y = fluid.to_tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> fluid.nn.functional.embedding(x, y).tolist()
    [[4.0, 5.0], [0.0, 1.0]]
    """
    rows = +weight.array.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise ArgumentError(f"expected padding_idx in [{-rows}, {rows}), got {padding_idx!r}")
    padding = -1 if padding_idx is None else padding_idx
    if padding_idx is not None and padding_idx < 0:
        padding += rows
    return eager.lookup_table_v2(weight, x, padding_idx=padding, is_sparse=sparse)


def one_hot(x: Tensor, num_classes: int, name: str | None = None) -> Tensor:
    """Zeros, and a 1 where a number says.

    >>> fluid.nn.functional.one_hot(fluid.to_tensor([1, 0]), 3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if hasattr(num_classes, "variable"):
        num_classes = in_run(num_classes)
    if isinstance(num_classes, Operand) and num_classes.appends is not None:
        return eager.one_hot_v2(x, num_classes)
    return eager.one_hot_v2(x, depth=int(num_classes))


def dropout(
    x: Tensor,
    p: float = 0.5,
    axis: Axes = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """x with each element set to 0 with probability p.

    Args:
        x: a tensor.
        p: the probability.
        axis: dimensions along which elements are chosen; whole slices in the others are kept or
            dropped together.
        training: False: nothing is set to 0.
        mode: "upscale_in_train": what is kept is divided by 1 - p; "downscale_in_infer": in tests
            everything is multiplied by 1 - p.

    Raises:
        ArgumentError: ``p`` is no probability, or the mode is unknown.

    >>> fluid.nn.functional.dropout(fluid.to_tensor([1.0, 2.0]), 0.5, training=False).tolist()
    [1.0, 2.0]
    """
    ways = {"upscale_in_train": "upscale_in_train", "downscale_in_infer": "downgrade_in_infer"}
    if mode not in ways:
        raise ArgumentError(f"expected mode {' or '.join(map(repr, ways))}, got {mode!r}")
    if not 0 <= p <= 1:
        raise ArgumentError(f"expected p in [0, 1], got {p!r}")
    axes = [] if axis is None else list(axis) if isinstance(axis, (list, tuple)) else [axis]
    for each in axes:
        if not -x.array.ndim <= each < x.array.ndim:
            raise ArgumentError(f"expected axis below {x.array.ndim}, got {axis!r}")
    if p == 0:
        return x
    attrs = dict(dropout_prob=p, is_test=not training, dropout_implementation=ways[mode])
    if axis is None:
        return eager.dropout(x, **attrs)
    return eager.dropout_nd(x, axis=axes, **attrs)


def label_smooth(
    label: Tensor, prior_dist: Tensor | None = None, epsilon: float = 0.1, name: str | None = None
) -> Tensor:
    """(1 - epsilon) label + epsilon times a distribution, the uniform one when None.

    >>> x = fluid.to_tensor([[0.0, 1.0]])
    >>> fluid.nn.functional.label_smooth(x, epsilon=0.1).numpy().round(4)
    array([[0.05, 0.95]], dtype=float32)
    """
    if not 0 <= epsilon <= 1:
        raise ArgumentError(f"expected epsilon in [0, 1], got {epsilon!r}")
    if prior_dist is None:
        return eager.label_smooth(label, epsilon=epsilon)
    return add(multiply(label, 1.0 - epsilon), multiply(prior_dist.detach(), epsilon))


def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension.

    >>> x = fluid.to_tensor([[1.0, 0.0]])
    >>> fluid.nn.functional.cosine_similarity(x, fluid.to_tensor([[1.0, 1.0]])).numpy().round(4)
    array([0.7071], dtype=float32)
    """
    lengths = multiply(norm(x1, 2, axis), norm(x2, 2, axis))
    return true_divide(total(multiply(x1, x2), axis), maximum(lengths, eps))


def bilinear(
    x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None
) -> Tensor:
    """``x1 weight[k] x2`` for every k, plus a bias.

    Args:
        x1: [N, I].
        x2: [N, J].
        weight: [K, I, J].
        bias: [1, K].

    >>> x = fluid.ones([1, 2])
    >>> fluid.nn.functional.bilinear(x, x, fluid.ones([3, 2, 2])).tolist()
    [[4.0, 4.0, 4.0]]
    """
    return eager.bilinear_tensor_product(x1, x2, weight, bias)
