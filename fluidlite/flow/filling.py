"""Start values of parameters, written in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.engine import located
from ..eager.mode import no_grad
from ..eager.prepared import generator
from ..errors import ArgumentError, ShapeError
from ..initializer import fans_of
from ..nn.initializer import calculate_gain as calculate_gain
from ..nn.initializer import orthogonal
from .spelling import ONEFLOW

if TYPE_CHECKING:
    from .spelling import Function
    from .tensor import Tensor


def _written(tensor: Tensor, array: Any) -> Tensor:
    made = np.asarray(array, tensor.array.dtype)
    with no_grad():
        written: Tensor = tensor.write(lambda old: old.results(made))
    return written


def _draw() -> Any:
    return generator.get()()


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Draw all elements, equally likely in [a, b), in place.

    >>> w = fluid.flow.nn.init.uniform_(fluid.flow.empty(3), -0.5, 0.5)
    >>> bool((w.abs() <= 0.5).all())
    True
    """
    return _written(tensor, _draw().uniform(a, b, tensor.array.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Draw all elements, normally distributed, in place."""
    return _written(tensor, _draw().standard_normal(tensor.array.shape) * std + mean)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Tensor:
    """Draw all elements, normally distributed within [a, b], in place."""
    if not a < b:
        raise located(ArgumentError, f"expected a below b, got {a} and {b}")
    drawn = _draw().standard_normal(tensor.array.shape) * std + mean
    for _ in range(10_000):
        outside = (drawn < a) | (drawn > b)
        if not outside.any():
            return _written(tensor, drawn)
        drawn[outside] = _draw().standard_normal(int(outside.sum())) * std + mean
    raise located(ArgumentError, f"there are hardly any such numbers in [{a}, {b}]")


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Make all elements one number, in place."""
    return _written(tensor, np.full(tensor.array.shape, val))


def ones_(tensor: Tensor) -> Tensor:
    """Make all elements 1, in place."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Make all elements 0, in place."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the one of ones where row and column are the same, in place."""
    if tensor.array.ndim != 2:
        raise located(ShapeError, f"expected a matrix, got shape {list(tensor.array.shape)}")
    return _written(tensor, np.eye(*tensor.array.shape))


def _fans(tensor: Tensor, data_format: str = "NCHW") -> tuple[int, int]:
    """How many numbers an output is made of, and an input goes to."""
    into = calc_fan(tensor.array.shape, "fan_in", data_format)
    return int(into), int(calc_fan(tensor.array.shape, "fan_out", data_format))


def _fans_of(shape: Sequence[int]) -> tuple[int, int]:
    if len(shape) < 2:
        raise located(ShapeError, f"expected 2 or more dimensions, got shape {list(shape)}")
    return fans_of((*shape, 1))  # a matrix as a filter of one place


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, *, data_format: str = "NCHW") -> Tensor:
    """Draw all elements so that the variance stays forwards and backwards, equally likely."""
    bound = gain * sqrt(6.0 / sum(_fans(tensor, data_format)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, *, data_format: str = "NCHW") -> Tensor:
    """Draw all elements so that the variance stays forwards and backwards, normally."""
    return normal_(tensor, 0.0, gain * sqrt(2.0 / sum(_fans(tensor, data_format))))


def _kaiming(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    *,
    data_format: str = "NCHW",
    draw: Callable[[Tensor, float], Tensor],
) -> Tensor:
    """Draw all elements so that the variance stays behind a function.

    Args:
        tensor: of 2 or more dimensions.
        a: the slope of leaky_relu.
        mode: "fan_in": forwards; "fan_out": backwards.
        nonlinearity: the function, as :func:`calculate_gain` has it.
        data_format: "NCHW", or "NHWC" where channels are last.
        draw: draws elements of such a deviation.
    """
    if mode not in ("fan_in", "fan_out"):
        raise located(ArgumentError, f"expected mode 'fan_in' or 'fan_out', got {mode!r:.60}")
    fan = _fans(tensor, data_format)[mode == "fan_out"]
    return draw(tensor, calculate_gain(nonlinearity, a) / sqrt(fan))


kaiming_uniform_: Function = ONEFLOW(
    _kaiming,
    "kaiming_uniform_",
    "Draw all elements so that the variance stays behind a function, equally likely.",
    fixed={"draw": lambda tensor, std: uniform_(tensor, -sqrt(3.0) * std, sqrt(3.0) * std)},
)
kaiming_normal_: Function = ONEFLOW(
    _kaiming,
    "kaiming_normal_",
    "Draw all elements so that the variance stays behind a function, normally.",
    fixed={"draw": lambda tensor, std: normal_(tensor, 0.0, std)},
)


def orthogonal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Make rows, or columns where they are fewer, orthogonal to each other, at random."""
    shape = tensor.array.shape
    _fans(tensor)
    return _written(tensor, orthogonal(shape, gain, _draw()))


def calc_fan(shape: Sequence[int], mode: str, data_format: str = "NCHW") -> float:
    """How many numbers an output is made of ("fan_in"), an input goes to, or the mean of both.

    Args:
        shape: of a weight.
        mode: "fan_in", "fan_out" or "fan_avg".
        data_format: "NCHW", or "NHWC" where channels are last.

    Raises:
        ArgumentError: there is no such mode.
        ShapeError: there are fewer than 2 dimensions.

    >>> fluid.flow.nn.init.calc_fan((3, 4), "fan_in")
    4.0
    """
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise located(ArgumentError, f"expected 'fan_in', 'fan_out' or 'fan_avg', got {mode!r:.60}")
    if get_data_format(data_format) == "channels_last":
        shape = (shape[0], shape[-1], *shape[1:-1])
    into, out = _fans_of(shape)
    return float({"fan_in": into, "fan_out": out, "fan_avg": (into + out) / 2}[mode])


def get_data_format(data_format: str) -> str:
    """Where channels are: "channels_first", or "channels_last" where the name ends with C."""
    return "channels_last" if str(data_format).endswith("C") else "channels_first"
