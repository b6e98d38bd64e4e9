"""Where layers run at once, and what tensors are made of there."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import Any, overload

import numpy as np

from .. import unique_name
from ..eager import engine
from ..eager.mode import no_grad
from ..eager.recording import TensorRecord
from ..errors import ArgumentError
from ..functions.arguments import ArrayLike
from ..functions.creation import array_of
from ..ground import state
from ..ground.missing_names import answer
from ..ground.place import Place
from ..ground.public_names import list_public_names
from ..ground.state import in_dygraph_mode as enabled
from ..ground.values import LoDTensor
from ..ir.program import Program, program_guard
from ..opdef.operand import Operand, Operands
from .complex_variable import ComplexVariable
from .tensor import BackwardStrategy, VarBase

__all__ = [
    "disable_dygraph", "disable_imperative", "enable_dygraph", "enable_imperative", "enabled",
    "grad", "guard", "no_grad", "to_variable",
]  # fmt: skip


@contextmanager
def guard(place: Place | None = None) -> Iterator[None]:
    """A guard under which layers run at once, in its thread alone.

    Within it there are default programs of their own: nothing is appended to them, and their
    ``random_seed`` fixes the random numbers of layers.  Names are counted anew: a layer's
    parameters are called as where it builds a program.

    Args:
        place: accepted for old scripts; there is one place.

    >>> with fluid.dygraph.guard():
    ...     total = fluid.layers.fill_constant([2], "float32", 1.5)
    >>> total.numpy()
    array([1.5, 1.5], dtype=float32)
    """
    main = Program()
    main.at_once = True
    with program_guard(main, Program()), unique_name.guard(), state.eager.guard(VarBase):
        yield


def enable_dygraph(place: Place | None = None) -> None:
    """Let layers run at once from now on, in all threads.

    Args:
        place: accepted for old scripts; there is one place.

    >>> fluid.enable_dygraph()
    >>> fluid.in_dygraph_mode()
    True
    >>> fluid.disable_dygraph()
    """
    state.eager.switch(VarBase)


def disable_dygraph() -> None:
    """Let layers build programs again.

    >>> fluid.dygraph.enable_dygraph()
    >>> fluid.dygraph.disable_dygraph()
    >>> fluid.in_dygraph_mode()
    False
    """
    state.eager.switch(None)


enable_imperative = enable_dygraph
disable_imperative = disable_dygraph


@overload
def to_variable(
    value: ComplexVariable | np.ndarray[Any, np.dtype[np.complexfloating[Any, Any]]],
    name: str | None = None,
    zero_copy: bool | None = None,
) -> ComplexVariable: ...
@overload
def to_variable(
    value: ArrayLike, name: str | None = None, zero_copy: bool | None = None
) -> VarBase: ...
def to_variable(
    value: ArrayLike | ComplexVariable, name: str | None = None, zero_copy: bool | None = None
) -> VarBase | ComplexVariable:
    """A tensor with a copy of an array's values, at which gradients stop.

    Args:
        value: an array or a LoDTensor; a tensor is given back as it is.  Complex numbers make a
            ComplexVariable, which has two tensors.
        name: of the tensor; made up when None.
        zero_copy: accepted for old scripts; values are copied always.

    Raises:
        ArgumentError: outside of ``dygraph.guard()``; ``value`` is something else.

    >>> with fluid.dygraph.guard():
    ...     x = fluid.dygraph.to_variable(np.ones([2, 3], "float32"))
    >>> x.shape, x.stop_gradient
    ([2, 3], True)
    """
    if not enabled():
        raise engine.located(
            ArgumentError,
            "to_variable makes tensors for layers that run at once: call it within "
            "fluid.dygraph.guard(), or after fluid.enable_dygraph()",
        )
    if isinstance(value, (VarBase, ComplexVariable)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        name = name or unique_name.generate("_generated_var")
        parts = (value.real, f"{name}.real"), (value.imag, f"{name}.imag")
        return ComplexVariable(*(to_variable(*part) for part in parts))
    if isinstance(value, TensorRecord):
        variable = VarBase(value.array, value.origin, value.stop)
    elif isinstance(value, (np.ndarray, np.generic, LoDTensor)):
        variable = VarBase(array_of(value))
    else:
        raise engine.located(
            ArgumentError,
            f"expected an array or a tensor, got {value!r:.60} of type "
            f"{type(value).__name__}; make an array of it: np.array(...)",
        )
    if name is not None:
        variable.name = name
    return variable


@engine.GRADIENTS
def grad(
    outputs: Operands,
    inputs: Operands,
    grad_outputs: engine.Cotangents = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Operands | Set[Operand] | None = None,
    backward_strategy: BackwardStrategy | None = None,
) -> list[Any]:
    """The gradients of outputs with respect to inputs; ``gradient()`` of no tensor changes.

    Returns:
        a list with a gradient for each input.

    >>> with fluid.dygraph.guard():
    ...     x = fluid.dygraph.to_variable(np.array([2.0], "float32"))
    ...     x.stop_gradient = False
    ...     (slope,) = fluid.dygraph.grad(x * x * x, x, create_graph=True)
    ...     (curvature,) = fluid.dygraph.grad(slope, x)
    >>> slope.numpy(), curvature.numpy()
    (array([12.], dtype=float32), array([12.], dtype=float32))
    """
    return engine.grad(
        outputs,
        inputs,
        grad_outputs,
        retain_graph,
        create_graph,
        only_inputs,
        allow_unused,
        no_grad_vars,
    )


list_public_names(globals())
answer(globals())
