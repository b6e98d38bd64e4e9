"""What users of modules do with all of their parameters, and with single weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eager.engine import located
from ...errors import ArgumentError
from ...functions.arithmetic import divide, multiply
from ...functions.elementary import sqrt, square
from ...functions.reduction import sum as total
from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...nn.gradient_clips import clip_grad_norm_, clip_grad_value_
from ...nn.utils import parameters_to_vector, vector_to_parameters
from . import packed as rnn
from .module import Module, Parameter


def _lengths(v: Any, dim: int | None) -> Any:
    axes = [d for d in range(len(v.array.shape)) if d != dim]
    return sqrt(total(square(v), axes, keepdim=True))


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
        ArgumentError: there is no such weight.

    >>> layer = fluid.flow.nn.utils.weight_norm(fluid.flow.nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()], layer.weight_g.shape
    (['bias', 'weight_g', 'weight_v'], [3, 1])
    """
    weight = module.own_parameters.get(name)
    if weight is None:
        raise located(
            ArgumentError(
                f"{type(module).__name__} has no parameter {name!r}, but "
                f"{sorted(module.own_parameters)}"
            )
        )
    axis = None if dim is None else dim % len(weight.array.shape)
    direction = weight.detach().clone()
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(_lengths(direction, axis)))
    module.register_parameter(f"{name}_v", Parameter(direction))

    def make(module: Module, inputs: Any = None) -> None:
        v, g = getattr(module, f"{name}_v"), getattr(module, f"{name}_g")
        object.__setattr__(module, name, multiply(v, divide(g, _lengths(v, axis))))

    make(module)
    kept = module.__dict__.setdefault("_weights_made", {})
    kept[name] = (module.register_forward_pre_hook(make), make)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo :func:`weight_norm`: the weight is a parameter again, as it is.  Returns the module.

    Raises:
        ArgumentError: the weight is not made so.
    """
    kept = module.__dict__.get("_weights_made", {}).pop(name, None)
    if kept is None:
        raise located(ArgumentError(f"{name!r} of {type(module).__name__} has no weight_norm"))
    handle, make = kept
    handle.remove()
    make(module)
    value = getattr(module, name).detach()
    delattr(module, f"{name}_g")
    delattr(module, f"{name}_v")
    object.__delattr__(module, name)
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
