"""Weights of which a part stays zero while they are trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....errors import ArgumentError
from ....ground import state
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....ir.program import Program, default_startup_program
from ....ir.variable import Variable
from ....nn.layer import Layer
from ....optimizer.arguments import stepping_within
from ....optimizer.wrapped import Delegates
from ....scope import global_scope
from .masks import MaskAlgo, create_mask

_ALGORITHMS = {
    "mask_1d": MaskAlgo.MASK_1D,
    "mask_2d_greedy": MaskAlgo.MASK_2D_GREEDY,
    "mask_2d_best": MaskAlgo.MASK_2D_BEST,
}
Prune = Callable[..., Any]


class _Job:
    """Which weights are pruned, and how those of optimizers were."""

    def __init__(self) -> None:
        self.excluded: set[str] = set()
        self.supported: dict[str, Prune | None] = dict.fromkeys(["linear", "fc", "conv2d"])
        self.masks: dict[str, Any] = {}  #: of eager parameters, by name; None before pruning


_job: state.StateSlot[_Job] = state.slot("sparsity", _Job)


def set_excluded_layers(param_names: Sequence[str], main_program: Program | None = None) -> None:
    """Leave layers as they are.

    Args:
        param_names: names of layers, or what the names of their parameters begin with.
        main_program: accepted.
    """
    _job.get().excluded |= {*param_names}


def reset_excluded_layers(main_program: Program | None = None) -> None:
    """Leave out none.

    Args:
        main_program: accepted.
    """
    _job.get().excluded.clear()


def add_supported_layer(layer: Any, pruning_func: Prune | None = None) -> None:
    """Have the weights of more layers pruned.

    Args:
        layer: what the names of their parameters begin with, a layer, or its class.
        pruning_func: called with a weight, n, m, the way and the name; gives the pruned weight and
            its mask.  As of other layers when None.

    Raises:
        ArgumentError: it is something else.
    """
    if isinstance(layer, str):
        name = layer
    elif isinstance(layer, Layer):
        name = type(layer).__name__.lower()
    elif isinstance(layer, type) and issubclass(layer, Layer):
        name = layer.__name__.lower()
    else:
        raise ArgumentError(f"expected a name, a layer or its class, got {layer!r:.60}")
    _job.get().supported[name] = pruning_func


def _is_pruned(name: str, shape: Sequence[int]) -> bool:
    """Whether a weight is one of a layer that is supported, and not left out."""
    job = _job.get()
    if len(shape) < 2 or any(name.startswith(f"{each}.") or name == each for each in job.excluded):
        return False
    return _kind(name) in job.supported


def _kind(name: str) -> str:
    """The kind of layer that a parameter is called after: ``conv2d`` of ``conv2d_0.w_0``."""
    return name.partition(".")[0].rstrip("0123456789").rstrip("_")


def _pruned(name: str, weight: Any, n: int, m: int, algo: MaskAlgo) -> tuple[Any, Any]:
    function = _job.get().supported[_kind(name)]
    if function is not None:
        return function(weight, n, m, algo, name)
    # what is added up by one product: the rows of the transposed weight
    mask = create_mask(weight.T, algo, n, m).T
    return weight * mask, mask


def _mask_name(name: str) -> str:
    return f"{name}.asp_mask"


class OptimizerWithSparsityGuarantee(Delegates):
    """An optimizer behind whose steps pruned weights are pruned still.

    Args:
        optimizer: makes the steps.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        self._parameters: list[Any] = [
            parameter
            for parameter in getattr(optimizer, "_parameter_list", None) or ()
            if _is_pruned(parameter.name, parameter.shape)
        ]
        _job.get().masks.update({each.name: None for each in self._parameters})

    def step(self) -> None:
        """Make a step, and take away what pruning takes away."""
        self._optimizer.step()
        self._mask()

    def _mask(self) -> None:
        masks = _job.get().masks
        for parameter in self._parameters:
            if masks.get(parameter.name) is not None:
                parameter.set_value(parameter.numpy() * masks[parameter.name])

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        *,
        memory: str | float | None = None,
        batch_size: int | None = None,
    ) -> Any:
        """Make a step, or append it with masks of the weights, which are ones before
        ``prune_model``.

        Args:
            loss: the value to make small.
            startup_program: where variables get their first values.
            parameters: what is updated.
            no_grad_set: variables at which gradients stop.
            memory, batch_size: as of optimizers, for programs.
        """
        arguments = (loss, startup_program, parameters, no_grad_set)
        if not isinstance(loss, Variable):
            result = self._optimizer.minimize(*arguments, memory=memory, batch_size=batch_size)
            self._mask()
            return result
        startup = default_startup_program() if startup_program is None else startup_program
        with stepping_within(loss, startup, memory, batch_size):
            result = self._optimizer.minimize(*arguments)
            for parameter in loss.block.program.all_parameters():
                if _is_pruned(parameter.name, parameter.shape):
                    _append_mask(parameter, startup)
        return result


def _append_mask(parameter: Variable, startup: Program) -> None:
    """Multiply a weight with its mask, behind the step."""
    told: dict[str, Any] = {
        "name": _mask_name(parameter.name),
        "shape": parameter.shape,
        "dtype": parameter.dtype,
    }
    block = parameter.block
    mask = block.create_var(**told, persistable=True, stop_gradient=True)
    block.append_op("elementwise_mul", {"X": parameter, "Y": mask}, {"Out": parameter})
    first = startup.global_block()
    ones = {"shape": list(parameter.shape), "dtype": parameter.dtype, "value": 1.0}
    made = first.create_var(**told, persistable=True)
    first.append_op("fill_constant", {}, {"Out": made}, ones)


def decorate(optimizer: Any) -> OptimizerWithSparsityGuarantee:
    """An optimizer that keeps pruned weights pruned.

    Args:
        optimizer: makes the steps.

    Raises:
        ArgumentError: it is no optimizer.
    """
    if not hasattr(optimizer, "minimize"):
        raise ArgumentError(f"asp.decorate: expected an optimizer, got {optimizer!r:.60}")
    return OptimizerWithSparsityGuarantee(optimizer)


def prune_model(
    model: Layer | Program,
    n: int = 2,
    m: int = 4,
    mask_algo: str = "mask_1d",
    with_mask: bool = True,
) -> dict[str, Any]:
    """Set all but a part of the weights of linear layers and convolutions to zero.

    Args:
        model: a layer; or a program, whose weights are in the scope.
        n: how many are taken away.
        m: of how many neighbours.
        mask_algo: "mask_1d", "mask_2d_greedy" or "mask_2d_best".
        with_mask: whether the optimizer that ``decorate`` gave is to keep them zero.

    Returns:
        the masks, by the names of weights.

    Raises:
        ArgumentError: there is no such way, or ``decorate`` has not been called.

    >>> from fluidlite import paddle
    >>> net = paddle.nn.Linear(8, 4)
    >>> optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    >>> optimizer = paddle.incubate.asp.decorate(optimizer)
    >>> _ = paddle.incubate.asp.prune_model(net)
    >>> paddle.incubate.asp.calculate_density(net.weight.numpy())
    0.5
    """
    if mask_algo not in _ALGORITHMS:
        raise ArgumentError(
            f"expected mask_algo to be one of {', '.join(_ALGORITHMS)}, got {mask_algo!r:.60}"
        )
    if not 0 <= n <= m or m < 1:
        raise ArgumentError(f"expected n to be 0 to m, got {n} of {m}")
    algo = _ALGORITHMS[mask_algo]
    if isinstance(model, Program):
        return _prune_program(model, n, m, algo, with_mask)
    if not isinstance(model, Layer):
        raise ArgumentError(f"expected a layer or a program, got {model!r:.60}")
    weights = [each for each in model.parameters() if _is_pruned(each.name, each.shape)]
    masks = _job.get().masks
    unknown = [each.name for each in weights if with_mask and each.name not in masks]
    if unknown:
        raise ArgumentError(f"no optimizer keeps {unknown[0]} pruned: call asp.decorate() first")
    pruned = {}
    for weight in weights:
        value, mask = _pruned(weight.name, weight.numpy(), n, m, algo)
        weight.set_value(value)
        pruned[weight.name] = mask
        if with_mask:
            masks[weight.name] = mask
    return pruned


def _prune_program(
    program: Program, n: int, m: int, algo: MaskAlgo, with_mask: bool
) -> dict[str, Any]:
    scope = global_scope()
    pruned = {}
    for parameter in program.all_parameters():
        if not _is_pruned(parameter.name, parameter.shape):
            continue
        holder = scope.find_var(parameter.name).get_tensor()
        value, mask = _pruned(parameter.name, np.array(holder), n, m, algo)
        holder.set(value)
        mask_holder = scope.find_var(_mask_name(parameter.name))
        if with_mask and mask_holder is None:
            raise ArgumentError(
                f"no optimizer keeps {parameter.name} pruned: call asp.decorate() and run the "
                "startup program first"
            )
        if with_mask:
            mask_holder.get_tensor().set(mask)
        pruned[parameter.name] = mask
    return pruned


list_public_names(globals())
api_boundaries(globals())
