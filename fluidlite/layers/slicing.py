"""Parts of a variable, and room around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, is_variable, layer, stopped
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer, same_shape
from .sizes import Given, Sizes, integers, sizes_of


def _bounds(f: LayerBuilder, axes: Sequence[int], **given: Given) -> dict[str, Any]:
    """Slots and attributes of a slice."""
    axes = integers(axes, "axes")
    arguments: dict[str, Any] = {"axes": axes}
    known = True
    for what, bounds in given.items():
        sizes = sizes_of(f, bounds, what)
        if sizes.whole is None and len(sizes.numbers) != len(axes):
            raise ArgumentError(
                f"expected one of {what} for each of axes={axes}, got {len(sizes.numbers)}"
            )
        known = known and sizes.are_known
        slot = f"{what.capitalize()}Tensor"
        arguments.update({what: sizes.numbers, slot: sizes.whole, f"{slot}List": sizes.each})
    return {**arguments, "infer_flags": [1 if known else -1] * len(axes)}


def _ends(f: LayerBuilder, axes: Sequence[int], starts: Given, ends: Given) -> dict[str, Any]:
    return _bounds(f, axes, starts=starts, ends=ends)


def _strides(
    f: LayerBuilder, axes: Sequence[int], starts: Given, ends: Given, strides: Given
) -> dict[str, Any]:
    return _bounds(f, axes, starts=starts, ends=ends, strides=strides)


_PARTS = LAYERS.extended(
    {
        "axes": "the dimensions.",
        "starts": "where the part begins, for each of ``axes``; may count from the end, and may be "
        "integer variables of one element, or one integer variable that holds them all.",
        "ends": "where it ends; this index does not belong to it.  Larger ones mean the end.",
        "strides": "steps from one element to the next; negative ones go backwards.",
    },
    returns="A variable with as many dimensions as ``input``.",
    raises="ArgumentError: there is not one bound for each of ``axes``.",
)
slice: Layer = OperatorLayers(_PARTS, _ends)("""
    slice(input, axes, starts, ends)

    >>> x = fluid.data("x", [4, 5, 6])
    >>> fluid.layers.slice(x, axes=[0, 2], starts=[1, -2], ends=[3, 100]).shape
    (2, 5, 2)
""")
strided_slice: Layer = OperatorLayers(_PARTS, _strides)("""
    strided_slice(input, axes, starts, ends, strides)

    >>> x = fluid.data("x", [4, 5])
    >>> fluid.layers.strided_slice(x, axes=[1], starts=[0], ends=[5], strides=[2]).shape
    (4, 3)
""")


@layer
def crop(
    f: LayerBuilder,
    x: Variable,
    shape: Sequence[int] | Variable | None = None,
    offsets: Sequence[int] | Variable | None = None,
    name: str | None = None,
) -> Variable:
    """The part of a variable that has a given shape.

    Args:
        x: a variable.
        shape: the shape of the part; or a variable that has it.
        offsets: where the part begins in each dimension, as a list or an integer variable; 0 when
            None.

    Returns:
        A variable of that shape.

    Raises:
        ArgumentError: no shape is given.

    >>> fluid.layers.crop(fluid.data("x", [4, 5]), shape=[2, 3], offsets=[1, 1]).shape
    (2, 3)
    """
    ins, attrs = {"X": x}, {}
    if is_variable(shape):
        ins["Y"] = shape
    else:
        attrs["shape"] = integers(_given(shape), "shape")
    if is_variable(offsets):
        ins["Offsets"] = stopped(offsets)
    else:
        attrs["offsets"] = [0] * x.ndim if offsets is None else integers(offsets, "offsets")
    out = f.new_variable()
    f.into("crop", ins, {"Out": out}, **attrs)
    return out


def _given(shape: Any) -> Any:
    if shape is None:
        raise ArgumentError("expected the shape of the part to crop, got None")
    return shape


@operator_layer.signature("crop_tensor(x, shape: Given | None, offsets: Given | None, name)")
def crop_tensor(f: LayerBuilder, call: LayerCall) -> Variable:
    """The part of a variable that has a given shape.

    Args:
        x: a variable.
        shape: the sizes of the part, -1 for all from the offset on; some may be integer variables
            of one element; or one integer variable that holds them all.
        offsets: where the part begins in each dimension, likewise; 0 when None.

    Returns:
        A variable of that shape.

    Raises:
        ArgumentError: no shape is given.

    >>> fluid.layers.crop_tensor(fluid.data("x", [4, 5]), shape=[2, -1], offsets=[0, 2]).shape
    (2, 3)
    """
    out = f.new_variable()
    x, offsets = call.x, call.offsets
    corner = Sizes([0] * x.ndim) if offsets is None else sizes_of(f, offsets, "offsets")
    sizes = sizes_of(f, _given(call.shape), "shape", unknown=0)
    ins = {
        **call.ins,
        "Shape": sizes.whole,
        "ShapeTensor": sizes.each,
        "Offsets": corner.whole,
        "OffsetsTensor": corner.each,
    }
    at = corner.numbers if corner.whole is None else [-1] * x.ndim
    f.into("crop_tensor", ins, {"Out": out}, shape=sizes.numbers, offsets=at)
    return out


pad: Layer = operator_layer("""
    pad(x, paddings, pad_value, name)

    Raises:
        ShapeError: there are not two numbers for each dimension.

    >>> fluid.layers.pad(fluid.data("x", [None, 4]), [0, 0, 1, 2]).shape
    (-1, 7)
""")


def _room(
    f: LayerBuilder,
    paddings: Sequence[int] | Variable = [0, 0, 0, 0],  # noqa: B006 (as in fluid; never changed)
    mode: str = "constant",
) -> dict[str, Any]:
    if mode not in ("constant", "reflect", "edge"):
        raise ArgumentError(f"expected mode 'constant', 'reflect' or 'edge', got {mode!r}")
    sizes = sizes_of(f, paddings, "paddings")
    return {"Paddings": sizes.whole, "paddings": sizes.numbers, "mode": mode}


pad2d: Layer = OperatorLayers(convert=_room)("""
    pad2d(input: X, paddings, mode, pad_value, data_format, name)

    Images with room around them.

    Args:
        paddings: sizes above, below, left and right; or an int32 variable that holds them.
        mode: "constant": ``pad_value`` stands there; "reflect": the image as in a mirror through
            the middle of its outermost elements; "edge": its outermost elements.

    Returns:
        Larger images.

    Raises:
        ArgumentError: there is no such mode.

    >>> fluid.layers.pad2d(fluid.data("x", [None, 3, 8, 8]), [1, 1, 2, 2]).shape
    (-1, 3, 10, 12)
""")
pad_constant_like: Layer = same_shape("""
    pad_constant_like(x, y, pad_value, name)

    >>> x, y = fluid.data("x", [3, 4]), fluid.data("y", [2, 4])
    >>> fluid.layers.pad_constant_like(x, y).shape
    (3, 4)
""")
