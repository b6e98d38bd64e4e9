"""Sizes, strides and paddings of windows, in the forms that users write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..ir.variable import Variable
from ..opdef.attribute import whole_number
from ..opdef.windows import FORMATS, WindowArguments
from .layer import LAYERS
from .sizes import as_list

ALGORITHMS = ("SAME", "VALID")

#: convolutions and poolings
WINDOWS = LAYERS.extended(
    {
        "num_filters": "the channels of the output.",
        "dilation": "distances between neighbouring elements of the filter.",
        "groups": "each group of filters sees its part of the channels only; divides both.",
        "param_attr": "of the filters.",
        "pool_type": '"max" or "avg".',
    },
    raises="ArgumentError: a parameter has none of the forms above.",
)
IMAGES = WINDOWS.extended(
    {
        "input": "images, [N, C, H, W], or [N, H, W, C] with ``data_format`` NHWC.",
        "filter_size": "height and width of a filter, or one number for both.",
        "data_format": "NCHW or NHWC.",
    }
)
VOLUMES = WINDOWS.extended(
    {
        "input": "volumes, [N, C, D, H, W], or [N, D, H, W, C] with ``data_format`` NDHWC.",
        "filter_size": "depth, height and width of a filter, or one number for all.",
        "data_format": "NCDHW or NDHWC.",
    }
)


def each(value: Any, what: str, count: int = 2) -> list[int]:
    """A number for each dimension of a window.

    Args:
        value: one number for all of them, or a list.
        what: the parameter, for messages.
        count: how many dimensions a window has.

    Raises:
        ArgumentError: it is neither.
    """
    listed = as_list(value)
    if len(listed) == 1 and not isinstance(value, (list, tuple)):
        listed *= count
    try:
        numbers = [whole_number(n) for n in listed]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != count:
        raise ArgumentError(
            f"expected {what} to be an integer or a list of {count} integers, got {value!r:.60}"
        )
    return numbers


def windows_of(
    count: int,
    sizes: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    dilation: Any = 1,
    prefix: str = "",
) -> WindowArguments:
    """Windows, from what users of layers write.

    Args:
        count: how many dimensions a window has.
        sizes: a number for each dimension, or one for all; None where they follow later.
        stride, dilation: the same.
        padding: as of :func:`padding_of`.
        data_format: of what they move over.
        prefix: of the names of parameters, for messages: ``"pool_"``.

    Raises:
        ArgumentError: one of them has another form.
    """
    last = is_channels_last(data_format, FORMATS[count])
    numbers = () if sizes is None else each(sizes, f"{prefix or 'filter_'}size", count)
    paddings, algorithm = padding_of(padding, f"{prefix}padding", last, count)
    steps = each(stride, f"{prefix}stride", count)
    spread = each(dilation, "dilation", count)
    given = (tuple(numbers), tuple(steps), tuple(paddings), tuple(spread))
    return WindowArguments(*given, data_format, algorithm)


def padding_of(
    padding: Any, what: str, channels_last: bool, count: int = 2
) -> tuple[list[int], str]:
    """Paddings and their algorithm, as convolutions and poolings take them.

    Args:
        padding: "SAME" or "VALID"; a number; a number for each dimension; the numbers before and
            after for each dimension; or pairs for all dimensions, batch and channels included.
        what: the parameter, for messages.
        channels_last: whether the channels are the last dimension.
        count: how many dimensions a window has.

    Returns:
        ``count`` numbers, or ``2 * count`` where before and after differ; and "EXPLICIT", "SAME"
        or "VALID".

    Raises:
        ArgumentError: it has none of these forms.
    """
    if isinstance(padding, str):
        if padding.upper() not in ALGORITHMS:
            raise ArgumentError(
                f"expected {what} to be 'SAME', 'VALID' or numbers, got {padding!r}"
            )
        return [0] * count, padding.upper()
    if not isinstance(padding, (list, tuple)) and len(as_list(padding)) > 1:
        padding = as_list(padding)
    if isinstance(padding, (list, tuple)) and any(isinstance(p, (list, tuple)) for p in padding):
        padding = _of_pairs(padding, what, channels_last, count)
    if isinstance(padding, (list, tuple)) and len(padding) == 2 * count:
        sides = each(padding, what, 2 * count)
        before, after = sides[::2], sides[1::2]
        return (before if before == after else sides), "EXPLICIT"
    return each(padding, what, count), "EXPLICIT"


def _of_pairs(padding: Sequence[Any], what: str, channels_last: bool, count: int) -> list[int]:
    window = slice(1, -1) if channels_last else slice(2, None)
    others = [p for i, p in enumerate(padding) if i not in range(len(padding))[window]]
    pairs = list(padding)[window]
    if len(padding) != count + 2 or any(list(each(p, what)) != [0, 0] for p in others):
        raise ArgumentError(
            f"expected {what} to be {count + 2} pairs, those of batch and channels [0, 0], "
            f"got {padding!r:.80}"
        )
    return [n for pair in pairs for n in each(pair, what)]


def is_channels_last(data_format: str, names: tuple[str, str] = ("NCHW", "NHWC")) -> bool:
    """Whether a data format names the channels last.

    Args:
        data_format: what the user gave.
        names: the format with the channels in dimension 1, and the one with the channels last.

    Raises:
        ArgumentError: it is none of the two.
    """
    if data_format not in names:
        raise ArgumentError(f"expected data_format {' or '.join(names)}, got {data_format!r}")
    return data_format == names[1]


def known_channels(input: Variable, channels_last: bool = False) -> int:
    """The number of channels of images.

    Raises:
        ShapeError: it is unknown.
    """
    channels = input.shape[-1 if channels_last else 1] if input.ndim > 1 else -1
    if channels < 1:
        raise ShapeError(
            f"expected the number of channels of {input.name!r} to be known, got shape "
            f"{list(input.shape)} with the channels {'last' if channels_last else 'in dimension 1'}"
        )
    return channels
