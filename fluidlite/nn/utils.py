"""What users of layers do with all of their parameters, and with single weights."""

from __future__ import annotations

from collections.abc import Iterable

from ..eager.tensor import Tensor
from ..errors import ArgumentError, ShapeError
from ..functions.shaping import concat, reshape
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from .gradient_clips import clip_grad_norm_, clip_grad_value_
from .reparametrized import remove_weight_norm, spectral_norm, weight_norm


def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Tensor:
    """The elements of tensors in one vector, through which no gradient flows back to them.

    Args:
        parameters: tensors of one element type.
        name: accepted.

    Raises:
        ArgumentError: there are none.

    >>> fluid.nn.utils.parameters_to_vector(fluid.nn.Linear(2, 3).parameters()).shape
    [9]
    """
    found = list(parameters)
    if not found:
        raise ArgumentError("expected parameters, got none")
    vector = concat([reshape(each, [-1]) for each in found]).detach()
    vector.stop_gradient = False
    return vector


def vector_to_parameters(
    vec: Tensor, parameters: Iterable[Tensor], name: str | None = None
) -> None:
    """Give tensors the elements of a vector.

    Args:
        vec: as many elements as the tensors have together.
        parameters: tensors, in their order in the vector.
        name: accepted.

    Raises:
        ShapeError: there are more or fewer elements.

    >>> layer = fluid.nn.Linear(1, 1)
    >>> fluid.nn.utils.vector_to_parameters(fluid.to_tensor([2.0, 3.0]), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[2.0]], [3.0])
    """
    tensors = list(parameters)
    sizes = [each.array.size for each in tensors]
    if vec.array.size != sum(sizes):
        raise ShapeError(
            f"expected a vector of {sum(sizes)} elements for {len(tensors)} parameters, got shape "
            f"{list(vec.shape)}"
        )
    begin, flat = 0, vec.array.reshape(-1)
    for each, size in zip(tensors, sizes):
        each.set_value(flat[begin : begin + size].reshape(each.array.shape))
        begin += size


__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "remove_weight_norm",
    "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
