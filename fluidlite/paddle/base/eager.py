"""What the modules of ``paddle.base`` have of their own: guards of modes, and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ... import unique_name
from ...backward import gradients
from ...eager.tensor import Tensor
from ...functions.arguments import ArrayLike, DTypeLike
from ...functions.creation import to_tensor
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.program import Program, default_startup_program, program_guard
from ...ir.variable import Parameter, Variable
from ...optimizer import Optimizer
from .. import modes


@contextmanager
def guard(place: object = None) -> Iterator[None]:
    """A guard under which functions make tensors, in its thread alone.

    Within it there are default programs of their own, and names are counted anew.

    Args:
        place: accepted; there is one place.

    >>> from fluidlite import paddle
    >>> paddle.enable_static()
    >>> with paddle.base.dygraph.guard():
    ...     print(paddle.ones([2]).numpy())
    [1. 1.]
    >>> paddle.disable_static()
    """
    with program_guard(Program(), Program()), unique_name.guard(), modes.dynamic_mode():
        yield


def enable_dygraph(place: object = None) -> None:
    """Have functions make tensors from here on.

    Args:
        place: accepted; there is one place.
    """
    modes.disable_static()


def disable_dygraph() -> None:
    """Have functions build programs from here on."""
    modes.enable_static()


enable_imperative = enable_dygraph
disable_imperative = disable_dygraph


def in_pir_mode() -> bool:
    """False: programs are of one kind."""
    return False


def to_variable(
    value: ArrayLike,
    name: str | None = None,
    zero_copy: bool | None = None,
    dtype: DTypeLike = None,
) -> Tensor:
    """A tensor with a copy of an array's values, at which gradients stop.

    Args:
        value: an array; a tensor is given back as it is.
        name: of the tensor; made up when None.
        zero_copy: accepted; values are copied always.
        dtype: the element type; the array's when None.

    >>> from fluidlite import paddle
    >>> paddle.base.dygraph.to_variable(np.ones([2, 3], "float32")).shape
    [2, 3]
    """
    if isinstance(value, Tensor):
        return value
    made = to_tensor(value, dtype)
    if name is not None:
        made.name = name
    return made


def calc_gradient(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Any = None
) -> Any:
    """The gradients of variables: one if there is one of them, else a list.

    Args:
        targets, inputs, target_gradients, no_grad_set: as of ``paddle.static.gradients``.
    """
    made = gradients(targets, inputs, target_gradients, no_grad_set)
    return made[0] if len(made) == 1 else made


def gradients_with_optimizer(
    program: Program, optimizer: Optimizer, inputs: Any = None, outputs: Any = None
) -> tuple[Any, list[tuple[Parameter, Variable | None]]]:
    """Append what computes the gradients of a program's result, and an optimizer's updates.

    Args:
        program: the program.
        optimizer: the optimizer.
        inputs: what gradients are computed of; what the program reads and does not write when
            None.
        outputs: what is differentiated; what the program writes and does not read when None.

    Returns:
        the optimizer's operators, and pairs of parameters and gradients.

    >>> from fluidlite import paddle
    >>> paddle.enable_static()
    >>> loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [None, 3]), 2))
    >>> updates, pairs = paddle.base.backward.gradients_with_optimizer(
    ...     paddle.static.default_main_program(), paddle.optimizer.SGD(0.1)
    ... )
    >>> [op.type for op in updates], [parameter.name for parameter, _ in pairs]
    (['sgd', 'sgd'], ['fc_0.w_0', 'fc_0.b_0'])
    >>> paddle.disable_static()
    """
    block = program.global_block()
    read = {name: None for op in block.ops for name in op.input_arg_names}
    written = {name: None for op in block.ops for name in op.output_arg_names}
    if inputs is None:
        sources = [block.var(name) for name in read if name not in written]
        inputs = [each for each in sources if not each.stop_gradient]
    if outputs is None:
        outputs = [block.var(name) for name in written if name not in read]
    with program_guard(program, default_startup_program()):
        of_each = zip(inputs, gradients(outputs, inputs))
        pairs = [(each, slope) for each, slope in of_each if isinstance(each, Parameter)]
        return optimizer.apply_gradients(pairs), pairs


list_public_names(globals())
api_boundaries(globals())
