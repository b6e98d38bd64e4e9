"""Gradients beside quotients of small differences, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...eager import engine
from ...errors import ArgumentError, GradientCheckError
from ...ground.docstrings import Family
from ..tensor import Tensor

#: functions that compare gradients
CHECKS = Family(
    {
        "func": "takes the inputs, and gives a tensor or several.",
        "inputs": "a tensor or several, best of float64; those that want gradients are checked.",
        "eps": "how far an element is moved.",
        "atol, rtol": "how far gradients may be from quotients: rtol times those, and atol.",
        "raise_exception": "False: give False instead of an error.",
    },
    raises="GradientCheckError: a gradient is another one.\n"
    "ArgumentError: no input wants a gradient.",
)


@CHECKS
def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Whether the gradients of a function are the quotients of small differences.

    >>> x = fluid.flow.tensor([0.5, 2.0], dtype=fluid.flow.float64, requires_grad=True)
    >>> fluid.flow.autograd.gradcheck(lambda x: (x * x).sin(), x)
    True
    """
    arguments = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    wanted = [each for each in arguments if isinstance(each, Tensor) and not each.stop]
    if not wanted:
        raise engine.located(ArgumentError, "expected an input that wants a gradient")
    outputs = _listed(func(*arguments))
    for k, output in enumerate(outputs):
        for tensor, slopes in zip(wanted, _slopes_of(output, wanted)):
            quotients = _quotients(func, arguments, tensor, k, output.array.size, eps)
            if not np.allclose(slopes, quotients, rtol, atol):
                if not raise_exception:
                    return False
                far = np.abs(slopes - quotients).max()
                place = next(i for i, each in enumerate(arguments) if each is tensor)
                raise engine.located(
                    GradientCheckError,
                    f"expected the gradients of output {k} with respect to input {place} to be "
                    f"the quotients of small differences, got some that are {far:.3g} away",
                )
    return True


@CHECKS
def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Whether the second derivatives of a function are the quotients of differences of its
    gradients.

    Args:
        grad_outputs: the cotangents of the outputs; some that are drawn when None.

    >>> x = fluid.flow.tensor([0.5, 2.0], dtype=fluid.flow.float64, requires_grad=True)
    >>> fluid.flow.autograd.gradgradcheck(lambda x: x * x * x, x)
    True
    """
    arguments = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if grad_outputs is None:
        draw = np.random.default_rng(0).standard_normal
        seeds = [
            Tensor.results(np.asarray(draw(each.array.shape), each.array.dtype))
            for each in _listed(func(*arguments))
        ]
    else:
        seeds = _listed(grad_outputs)

    def slopes(*moved: Any) -> tuple[Any, ...]:
        outputs = _listed(func(*moved))
        wanted = [each for each in moved if isinstance(each, Tensor) and not each.stop]
        found = engine.gradients_of(outputs, wanted, seeds, retain_graph=True, create_graph=True)
        return tuple(each for each in found if each is not None and not each.stop)

    return gradcheck(slopes, arguments, eps, atol, rtol, raise_exception)


def _listed(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def _slopes_of(output: Any, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """The derivatives of all elements of an output with respect to those of each input."""
    size = output.array.size
    slopes = [np.zeros((size, each.array.size)) for each in inputs]
    if output.stop:
        return slopes
    for place in range(size):
        seed = np.zeros(size, output.array.dtype)
        seed[place] = 1
        seeds = [output.results(seed.reshape(output.array.shape))]
        found = engine.gradients_of([output], inputs, seeds, retain_graph=True, create_graph=False)
        for row, gradient in zip(slopes, found):
            if gradient is not None:
                row[place] = gradient.array.reshape(-1)
    return slopes


def _quotients(
    func: Callable[..., Any], arguments: Sequence[Any], tensor: Any, k: int, size: int, eps: float
) -> np.ndarray[Any, Any]:
    """How output k changes with each element of an input."""
    quotients = np.zeros((size, tensor.array.size))
    for place in range(tensor.array.size):
        ends = []
        for step in (eps, -eps):
            array = np.array(tensor.array).reshape(-1)
            array[place] += step
            moved = tensor.results(array.reshape(tensor.array.shape), None, False)
            moved_ones = [moved if each is tensor else each for each in arguments]
            ends.append(_value(func, moved_ones, k))
        quotients[:, place] = (ends[0] - ends[1]) / (2 * eps)
    return quotients


def _value(func: Callable[..., Any], arguments: Sequence[Any], k: int) -> Any:
    """Output k of a function, as a vector."""
    outputs = _listed(func(*arguments))
    return np.asarray(outputs[k].array, "float64").reshape(-1)
