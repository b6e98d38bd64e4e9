"""Layers whose weight is made of other parameters before each call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..eager.mode import no_grad
from ..eager.parameter import Parameter, initial_value
from ..eager.tensor import Tensor
from ..errors import ArgumentError
from ..functions.shaping import reshape
from ..ground.arguments import integer
from ..initializer import Normal, Xavier
from ..layers.creation import assign as assign_variable
from ..modules.reparametrization import (
    lengths,
    no_longer_remade,
    of_parts,
    remade,
    weight_to_remake,
)
from .conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from .dense import Linear
from .layer import Layer
from .spectral import by_largest


def _twin(parameter: Parameter, array: Any, ending: str) -> Parameter:
    """Another parameter in place of one."""
    _drawn_and_dropped(array)
    return Parameter(array, f"{parameter.name}_{ending}", parameter.trainable)


def _drawn_and_dropped(array: Any) -> None:
    """Draw what a parameter begins with, which gets other values here: paddle 2.6 does, and what a
    program draws next follows it.
    """
    initial_value(Xavier(), array.shape, str(array.dtype))


def _dimension(weight: Parameter, name: str, dim: Any) -> int:
    """A dimension of a weight, counted from 0."""
    rank = weight.array.ndim
    if not isinstance(dim, int) or not -rank <= dim < rank:
        raise ArgumentError(
            f"expected dim to be a dimension of {name!r} of shape {list(weight.array.shape)}, or "
            f"None, got {dim!r}"
        )
    return dim % rank


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Have a layer's weight made of a direction, ``<name>_v``, and lengths, ``<name>_g``, which are
    trained in its place (Salimans and Kingma 2016, "Weight normalization").

    Args:
        layer: the layer.
        name: of the weight.
        dim: the dimension whose slices have lengths of their own, from the last one below 0; None
            or -1 for one length.

    Returns:
        the layer.

    Raises:
        ArgumentError: there is no such weight or dimension, or it is normalised already.

    >>> layer = fluid.nn.utils.weight_norm(fluid.nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_v', 'weight_g']
    """
    weight = weight_to_remake(layer, name, Parameter)
    along = None if dim in (None, -1) else _dimension(weight, name, dim)
    with no_grad():
        start = reshape(lengths(weight, along), [1] if along is None else [-1]).numpy()
    delattr(layer, name)
    layer.add_parameter(f"{name}_v", _twin(weight, weight.array, "v"))
    layer.add_parameter(f"{name}_g", _twin(weight, start, "g"))
    remade(layer, name, of_parts(name, along), weight, along)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Make a weight that :func:`weight_norm` took apart one parameter again.

    Args:
        layer: the layer.
        name: of the weight.

    Returns:
        the layer.

    Raises:
        ArgumentError: the weight is not made of a direction and lengths.
    """
    weight, along = no_longer_remade(layer, name)
    with no_grad():
        weight.set_value(of_parts(name, along)(layer))
    _drawn_and_dropped(weight.array)
    for part in "vg":
        delattr(layer, f"{name}_{part}")
    layer.add_parameter(name, weight)
    return layer


def spectral_norm(
    layer: Layer,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Layer:
    """Have a layer's weight divided by its largest singular value from the first call on; what is
    trained is ``<name>_orig`` (Miyato et al. 2018, "Spectral normalization for generative
    adversarial networks").

    Args:
        layer: the layer.
        name: of the weight.
        n_power_iterations: how often the vectors that find the value are improved in a call, while
            the layer trains.
        eps: added to norms that are divided by.
        dim: the dimension that numbers the rows of the matrix; when None 1 of linear layers and
            transposed convolutions, else 0.

    Returns:
        the layer.

    Raises:
        ArgumentError: there is no such weight or dimension, it is normalised already, or
            ``n_power_iterations`` is below 1.

    >>> layer = fluid.nn.utils.spectral_norm(fluid.nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_orig']
    """
    weight = weight_to_remake(layer, name, Parameter)
    last = isinstance(layer, (Linear, Conv1DTranspose, Conv2DTranspose, Conv3DTranspose))
    along = _dimension(weight, name, int(last) if dim is None else dim)
    integer("spectral_norm", "n_power_iterations", n_power_iterations)
    rows = weight.array.shape[along]
    delattr(layer, name)
    layer.add_parameter(f"{name}_orig", weight)
    vectors = [f"{name}_u", f"{name}_v"]
    for which, size in zip(vectors, (rows, weight.array.size // rows)):
        _drawn_and_dropped(np.empty(size, weight.array.dtype))
        start = initial_value(Normal(0.0, 1.0), [size], str(weight.array.dtype))
        kept = Tensor(start / np.linalg.norm(start))
        kept.name, kept.persistable = f"{weight.name}_{which[-1]}", True
        layer.register_buffer(which, kept)

    def divided(owner: Any) -> Any:
        whole = getattr(owner, f"{name}_orig")
        u, v = (getattr(owner, which) for which in vectors)
        rounds = n_power_iterations if owner.training else 0
        weight, *after = by_largest(whole, u, v, along, rounds, eps)
        for vector, value in zip((u, v), after if rounds else ()):
            if whole.appends is None:
                vector.replace(value.array)
            else:  # names stay: the next run reads what this one writes
                assign_variable(value, vector)
        return weight

    remade(layer, name, divided, first=weight)
    return layer
