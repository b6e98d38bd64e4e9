"""What users of modules do with all of their parameters, and with single weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ground.missing_names import answer
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....modules.reparametrization import (
    lengths,
    no_longer_remade,
    of_parts,
    remade,
    weight_to_remake,
)
from ....nn.gradient_clips import clip_grad_norm_, clip_grad_value_
from ....nn.utils import parameters_to_vector, vector_to_parameters
from ..module import Parameter
from . import rnn as rnn


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Have a module's weight made of a direction, ``<name>_v``, and lengths, ``<name>_g``, which
    are trained in its place (Salimans and Kingma 2016, "Weight normalization").

    Args:
        module: the module.
        name: of the weight.
        dim: the dimension whose slices have lengths of their own; None for one length.

    Returns:
        the module.

    Raises:
        ArgumentError: there is no such weight, or it is normalised already.

    >>> layer = fluid.flow.nn.utils.weight_norm(fluid.flow.nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()], layer.weight_g.shape
    (['bias', 'weight_g', 'weight_v'], oneflow.Size([3, 1]))
    """
    weight = weight_to_remake(module, name, Parameter)
    axis = None if dim is None else dim % len(weight.array.shape)
    direction = weight.detach().clone()
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(lengths(direction, axis)))
    module.register_parameter(f"{name}_v", Parameter(direction))
    remade(module, name, of_parts(name, axis), axis)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo :func:`weight_norm`: the weight is a parameter again, as it is.  Returns the module.

    Raises:
        ArgumentError: the weight is not made so.
    """
    (axis,) = no_longer_remade(module, name)
    value = of_parts(name, axis)(module).detach()
    for part in "gv":
        delattr(module, f"{name}_{part}")
    module.register_parameter(name, Parameter(value))
    return module


__all__: Sequence[str] = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "rnn",
    "vector_to_parameters",
    "weight_norm",
]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
