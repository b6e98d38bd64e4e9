"""Random numbers."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..ir.variable import Variable
from .creation import FILLED, shape_of
from .layer import LayerBuilder
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer
from .sizes import Given, Sizes, known_integer, sizes_of

_DRAWN = FILLED.extended(
    {
        "dtype": "float32 or float64.",
        "min": "the least number.",
        "max": "what all numbers are below.",
        "mean": "their expectation.",
        "std": "their standard deviation.",
        "seed": "fixes the numbers of every run; 0 goes on with the program's own.",
    },
    returns="A variable of that shape.",
)


def _int64_sizes(f: LayerBuilder, shape: Given) -> Sizes:
    return sizes_of(f, shape, "shape", constant=lambda n: known_integer(f, n, DType.INT64))


def _inputs(sizes: Sizes) -> dict[str, Any]:
    return {"ShapeTensor": sizes.whole, "ShapeTensorList": sizes.each}


def _of_int64(f: LayerBuilder, shape: Given) -> dict[str, Any]:
    sizes = _int64_sizes(f, shape)
    return {**_inputs(sizes), "shape": sizes.numbers}


def _of_int32(f: LayerBuilder, shape: Given) -> dict[str, Any]:
    sizes = shape_of(f, shape)
    return {**_inputs(sizes), "shape": sizes.numbers}


_drawn = OperatorLayers(_DRAWN)

uniform_random: Layer = OperatorLayers(_DRAWN, _of_int64)("""
    uniform_random(shape, dtype='float32', min, max, seed)

    >>> fluid.layers.uniform_random([2, 3], min=0.0).shape
    (2, 3)
""")
gaussian_random: Layer = OperatorLayers(_DRAWN, _of_int32)("""
    gaussian_random(shape, mean, std, seed, dtype='float32')

    >>> fluid.layers.gaussian_random([2, 3], std=0.1).shape
    (2, 3)
""")


@_drawn.signature(
    """
    randn(shape: Given, out, dtype: DTypeLike = None, device: str | None,
        stop_gradient: bool = True, name) -> gaussian_random
    """,
    stem="randn",
)
def randn(f: LayerBuilder, call: LayerCall) -> Variable:
    """Normally distributed numbers of expectation 0 and standard deviation 1.

    Args:
        dtype: float32, also when None, or float64.

    >>> fluid.layers.randn([2, 3]).shape
    (2, 3)
    """
    out = f.result(call.out)
    sizes = shape_of(f, call.shape)
    dtype = DType.FP32 if call.dtype is None else call.dtype
    f.into("gaussian_random", _inputs(sizes), {"Out": out}, shape=sizes.numbers, dtype=dtype)
    out.stop_gradient = call.stop_gradient
    return out


uniform_random_batch_size_like: Layer = _drawn("""
    uniform_random_batch_size_like(input, shape, dtype='float32', input_dim_idx,
        output_dim_idx, min, max, seed)

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.uniform_random_batch_size_like(x, [1, 5]).shape
    (-1, 5)
""")
gaussian_random_batch_size_like: Layer = _drawn("""
    gaussian_random_batch_size_like(input, shape, input_dim_idx, output_dim_idx, mean, std,
        seed, dtype='float32')

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.gaussian_random_batch_size_like(x, [1, 5]).shape
    (-1, 5)
""")


@_drawn.signature("""
    randint(low: int, high: int | None, shape: Given | None, out, dtype: DTypeLike = None,
        device: str | None, stop_gradient: bool = False, seed, name)
""")
def randint(f: LayerBuilder, call: LayerCall) -> Variable:
    """Integers that are equally likely everywhere in [low, high).

    Args:
        low, high: the bounds; [0, low) when ``high`` is None.
        shape: sizes, some of which may be integer variables of one element; one integer variable
            that holds them all; [1] when None.
        dtype: int64, also when None, or int32.
        name: of the result.

    Raises:
        ArgumentError: ``high`` is None and ``low`` not positive.

    >>> fluid.layers.randint(0, 10, shape=[2, 3]).shape
    (2, 3)
    """
    low, high = call.low, call.high
    if high is None:
        if low < 1:
            raise ArgumentError(
                f"expected a positive low where high is not given: integers are drawn from "
                f"[0, low); got low={low}"
            )
        low, high = 0, low
    sizes = _int64_sizes(f, [1] if call.shape is None else call.shape)
    out = f.named_result() if call.out is None else f.result(call.out)
    f.into(
        "randint",
        _inputs(sizes),
        {"Out": out},
        shape=sizes.numbers if sizes.are_known else [],
        low=low,
        high=high,
        dtype=DType.INT64 if call.dtype is None else call.dtype,
        **call.attrs,
    )
    out.stop_gradient = call.stop_gradient
    return out


@_drawn.signature("""
    randperm(n, out, dtype="int64", device: str | None, stop_gradient: bool = True, seed)
""")
def randperm(f: LayerBuilder, call: LayerCall) -> Variable:
    """The numbers 0, 1, ..., n - 1 in random order.

    Args:
        n: how many.
        dtype: int64, int32, float32 or float64.
        seed: fixes the order of every run; 0 goes on with the program's own numbers.

    Returns:
        A variable of shape [n].

    >>> fluid.layers.randperm(5).shape
    (5,)
    """
    out = f.result(call.out)
    f.into("randperm", {}, {"Out": out}, **call.attrs)
    out.stop_gradient = call.stop_gradient
    return out


sampling_id: Layer = operator_layer("""
    sampling_id(x, min, max, seed, dtype='float32')

    Args:
        dtype: accepted, without meaning: columns are int64.

    Raises:
        ShapeError: ``x`` is no matrix, or has no columns.
        AttributeValueError: ``min`` is above ``max``.

    >>> shares = fluid.layers.assign(np.array([[0, 1, 0], [0, 0, 1]], "float32"))
    >>> fluid.Executor().run(fetch_list=[fluid.layers.sampling_id(shares)])
    [array([1, 2])]
""")
