"""``paddle.incubate.autograd`` of paddle 2.6: derivatives of functions, and of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ArgumentError, GradientShapeError, GradientStateError
from ...functions.creation import ones_like, zeros_like
from ...ground import state
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operands
from .. import jacobians, modes
from ..holders import hold
from ..jacobians import derivatives, evaluated, operands_in

__all__ = [
    "Hessian", "Jacobian", "disable_prim", "enable_prim", "forward_grad", "grad", "jvp",
    "prim2orig", "prim_enabled", "vjp",
]  # fmt: skip

_prim: state.StateSlot[bool] = state.slot("primitive operators", lambda: False)


class Jacobian:
    """The derivatives of all that a function gives by all that it takes, computed row by row.

    Args:
        func: takes tensors or variables, gives one or several.
        xs: where: one, or a list of them, whose elements, one after the other, are the columns.
        is_batched: whether the first dimension counts samples that do not depend on each other.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> J = paddle.incubate.autograd.Jacobian(lambda x: paddle.matmul(x, x), x)
    >>> J.shape, J[1].tolist()
    ((4, 4), [2.0, 5.0, 0.0, 2.0])
    """

    def __init__(self, func: Callable[..., Any], xs: Operands, is_batched: bool = False) -> None:
        arguments, _, ys = evaluated(func, xs)
        _need_dimensions(arguments)
        self._matrix = jacobians.Jacobian(ys, arguments, is_batched, whole=True)

    __repr__ = jacobians.Jacobian.__repr__

    @property
    def shape(self) -> tuple[int, ...]:
        """[M, N] for M elements that are given and N that are taken, behind that of samples."""
        return tuple(self._matrix.shape)

    def __getitem__(self, indexes: jacobians.Index) -> Any:
        """Some of the derivatives, as a tensor.

        Args:
            indexes: whole numbers and slices.
        """
        return self._matrix[indexes]


class Hessian:
    """The second derivatives of a function with one value, computed row by row.

    Args:
        func: takes tensors or variables, gives one of one element, in each sample.
        xs: where: one, or a list of them, whose elements, one after the other, are the columns.
        is_batched: whether the first dimension counts samples that do not depend on each other.

    Raises:
        GradientShapeError: there are several values.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.incubate.autograd.Hessian(lambda x: (x * x * x).sum(), x)[:].tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """

    def __init__(self, func: Callable[..., Any], xs: Operands, is_batched: bool = False) -> None:
        arguments, _, ys = evaluated(func, xs)
        jacobians.need_one_value(ys, is_batched)
        slopes = derivatives(ys, arguments)
        self._matrix = jacobians.Jacobian(slopes, arguments, is_batched, whole=True)

    shape = Jacobian.shape
    __repr__ = jacobians.Jacobian.__repr__
    __getitem__ = Jacobian.__getitem__


def _need_dimensions(operands: Sequence[Any]) -> None:
    for each in operands:
        if not each.shape:
            raise ArgumentError("expected values with dimensions, got one of shape []")


def _like(given: Any, found: Sequence[Any]) -> Any:
    return tuple(found) if isinstance(given, (list, tuple)) else found[0]


def _weights(v: Any, like: Sequence[Any]) -> list[Any]:
    """Operands in the shapes of others; ones when None."""
    if v is None:
        return [ones_like(each) for each in like]
    weights = operands_in("v", v)
    shapes = [[list(each.shape) for each in listed] for listed in (like, weights)]
    if shapes[0] != shapes[1]:
        raise GradientShapeError(f"expected v of shapes {shapes[0]}, got {shapes[1]}")
    return weights


def vjp(func: Callable[..., Any], xs: Operands, v: Operands | None = None) -> tuple[Any, Any]:
    """The value of a function, and the product of a vector with its Jacobian.

    Args:
        func: takes tensors or variables, gives one or several.
        xs: where: one, or a list of them.
        v: the vector, in the shapes of what ``func`` gives; ones when None.

    Returns:
        what ``func`` gives, and a gradient for each of ``xs``; zeros where it takes no part.

    Raises:
        GradientShapeError: ``v`` is of another shape.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.incubate.autograd.vjp(lambda x: x * x, x)[1].tolist()
    [2.0, 4.0]
    """
    arguments, value, ys = evaluated(func, xs)
    return value, _like(xs, derivatives(ys, arguments, _weights(v, ys)))


def jvp(func: Callable[..., Any], xs: Operands, v: Operands | None = None) -> tuple[Any, Any]:
    """The value of a function, and the product of its Jacobian with a vector.

    Args:
        func: takes tensors or variables, gives one or several.
        xs: where: one, or a list of them.
        v: the direction, in the shapes of ``xs``; ones when None.

    Returns:
        what ``func`` gives, and its derivative along ``v``, in the same form.

    Raises:
        GradientShapeError: ``v`` is of another shape.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.incubate.autograd.jvp(lambda x: x.sum() * x, x)[1].tolist()
    [5.0, 7.0]
    """
    arguments, value, ys = evaluated(func, xs)
    tangents = _pushed(ys, arguments, _weights(v, arguments))
    return value, _like(value, tangents)


def _pushed(ys: Sequence[Any], xs: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
    """The derivatives of ``ys`` along directions.

    The product of a vector u with the Jacobian is linear in u; its derivative by u is this.
    """
    seeds = [zeros_like(each) for each in ys]
    for seed in seeds:
        seed.stop_gradient = False
    pulled = derivatives(ys, xs, seeds)
    flowing = [(g, d) for g, d in zip(pulled, directions) if not g.stop_gradient]
    if not flowing:
        return [zeros_like(each) for each in ys]
    return derivatives([g for g, _ in flowing], seeds, [d for _, d in flowing])


def forward_grad(outputs: Operands, inputs: Operands, grad_inputs: Operands | None = None) -> Any:
    """The derivatives of variables of a program along a direction, from inputs to outputs.

    Args:
        outputs: a variable or a list of them.
        inputs: a variable or a list of them.
        grad_inputs: the direction, in the shapes of ``inputs``; ones when None.

    Returns:
        for each of ``outputs`` what it changes by.

    Raises:
        ArgumentError: the mode is dynamic.
        GradientStateError: primitive operators are not enabled.
    """
    _need_static("forward_grad")
    if not _prim.get():
        raise GradientStateError("forward_grad: call enable_prim() first, as paddle 2 needs it")
    ys, xs = operands_in("outputs", outputs), operands_in("inputs", inputs)
    tangents = _pushed(ys, xs, _weights(grad_inputs, xs))
    return tangents if isinstance(outputs, (list, tuple)) else tangents[0]


def grad(outputs: Operands, inputs: Operands, grad_outputs: Operands | None = None) -> Any:
    """The gradients of variables of a program.

    Args:
        outputs: a variable or a list of them.
        inputs: a variable or a list of them.
        grad_outputs: what each output is weighted with, in their shapes; ones when None.

    Returns:
        a gradient for each of ``inputs``.

    Raises:
        ArgumentError: the mode is dynamic.
    """
    _need_static("grad")
    ys, xs = operands_in("outputs", outputs), operands_in("inputs", inputs)
    found = derivatives(ys, xs, _weights(grad_outputs, ys))
    return found if isinstance(inputs, (list, tuple)) else found[0]


def _need_static(name: str) -> None:
    if modes.in_dynamic_mode():
        raise ArgumentError(f"{name} is for programs: call paddle.enable_static() first")


def enable_prim() -> None:
    """Say that gradients are made of primitive operators: they are, of every order, in any case.

    Raises:
        ArgumentError: the mode is dynamic.
    """
    _need_static("enable_prim")
    _prim.switch(True)


def disable_prim() -> None:
    """Say the opposite of ``enable_prim``.

    Raises:
        ArgumentError: the mode is dynamic.
    """
    _need_static("disable_prim")
    _prim.switch(False)


def prim_enabled() -> bool:
    """Whether ``enable_prim`` was called.

    Raises:
        ArgumentError: the mode is dynamic.
    """
    _need_static("prim_enabled")
    return _prim.get()


def prim2orig(block: object = None, blacklist: object = None) -> None:
    """Nothing: programs have no primitive operators that would have to be brought back.

    Args:
        block, blacklist: accepted.

    Raises:
        ArgumentError: the mode is dynamic.
    """
    _need_static("prim2orig")


list_public_names(globals())
api_boundaries(globals())
hold(globals())
