"""Weights divided by their largest singular value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..dygraph.nn.norm import singular_vectors
from ..eager.tensor import Tensor
from ..functions.arguments import DTypeLike
from ..functions.arithmetic import matmul, multiply, true_divide
from ..functions.reduction import norm
from ..functions.reduction import sum as total
from ..functions.shaping import reshape, t, transpose
from .layer import TensorLayer


def by_largest(weight: Any, u: Any, v: Any, dim: int, rounds: int, eps: float) -> Any:
    """A weight divided by its largest singular value, and the vectors that found it, through which
    no gradient flows.

    Args:
        weight: of any shape.
        u, v: the vectors to start from: as long as ``dim``, and as the other dimensions together.
        dim: the dimension that numbers the rows of the matrix.
        rounds: how often the vectors are improved.
        eps: the smallest norm that is divided by.
    """
    rank = len(weight.shape)
    order = [dim % rank, *(d for d in range(rank) if d != dim % rank)]
    matrix = reshape(transpose(weight, order), [int(weight.shape[dim]), -1])
    fixed = matrix.detach()
    u, v = reshape(u, [-1, 1]), reshape(v, [-1, 1])
    for _ in range(rounds):
        v = _unit(matmul(t(fixed), u), eps)
        u = _unit(matmul(fixed, v), eps)
    u, v = u.detach(), v.detach()
    largest = total(multiply(u, matmul(matrix, v)))
    return true_divide(weight, largest), reshape(u, [-1]), reshape(v, [-1])


def _unit(x: Any, eps: float) -> Any:
    return true_divide(x, norm(x, 2) + eps)


class SpectralNorm(TensorLayer):
    """A weight divided by its largest singular value (Miyato et al. 2018, "Spectral normalization
    for generative adversarial networks").

    Args:
        weight_shape: of the weights that it is called with.
        dim: the dimension that numbers the rows of the matrix.
        power_iters: how often the vectors that find the value are improved in a call.
        eps: added to norms that are divided by.
        dtype: the element type.

    >>> norm = fluid.nn.SpectralNorm([2, 2], power_iters=20)
    >>> norm(fluid.to_tensor([[2.0, 0.0], [0.0, 1.0]])).numpy().round(2).tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """

    def __init__(
        self,
        weight_shape: Iterable[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        sizes = [int(n) for n in weight_shape]
        self._dim, self._rounds, self._eps = dim, power_iters, eps
        singular_vectors(self, sizes, dim)

    def forward(self, x: Tensor) -> Tensor:
        """The weight, divided."""
        found = (self.weight_u, self.weight_v, self._dim, self._rounds, self._eps)
        return by_largest(x, *found)[0]
