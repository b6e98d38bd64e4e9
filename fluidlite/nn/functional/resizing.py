"""Images and volumes of another size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.selection import index_select
from ...functions.shaping import known_in_run, moveaxis, numbers_in, squeeze, unsqueeze
from ...ground.spellings import Spelling
from ...opdef.operand import Operand
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .windows import each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...functions.arguments import Numbers

#: by the number of dimensions of what is resized: how its sizes are called, last first
_SIZES = ("out_w", "out_h", "out_d")
_OPERATORS = {
    ("nearest", 2): "nearest_interp",
    ("nearest", 3): "nearest_interp",
    ("bilinear", 2): "bilinear_interp",
    ("bicubic", 2): "bicubic_interp",
    ("trilinear", 3): "trilinear_interp",
}
_PLAIN = ("nearest", "area")  #: modes that know no corners


def interpolate(
    x: Tensor,
    size: Numbers | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Images, or volumes, of another size.

    Args:
        x: [N, C, H, W]; [N, C, L] for ``linear``, and [N, C, D, H, W] for ``trilinear``.
        size: the new sizes: a number, or one for every dimension; fractions are cut off.
        scale_factor: how many times larger they are, in place of ``size``: a number, one for
            every dimension, or a tensor of these; the new sizes must be whole numbers.  Of
            variables whose sizes are not known, one whole number.
        mode: nearest, linear, bilinear, bicubic, trilinear, or area: averages of parts.
        align_corners: the outermost elements stay where they are.
        align_mode: 0 for elements in the middle of their cells, 1 for elements at their beginning;
            of ``bilinear`` and ``trilinear``.
        data_format: NCW, NWC, NCHW, NHWC, NCDHW or NDHWC.

    Raises:
        ArgumentError: the mode is unknown or does not fit the dimensions, or the sizes are not
            given once.

    >>> fluid.nn.functional.interpolate(fluid.ones([1, 1, 2, 2]), scale_factor=2).shape
    [1, 1, 4, 4]
    """
    rank = x.array.ndim - 2
    scale_factor, size = _known(scale_factor), _cut(_known(size))
    if align_corners and mode in _PLAIN:
        raise ArgumentError(f"expected align_corners=False for mode {mode!r}, got True")
    if isinstance(size, (list, tuple)) and len(size) != rank:
        raise ArgumentError(f"expected {rank} sizes, got {list(size)}")
    if (mode, rank) == ("linear", 1):
        return _linear(x, size, scale_factor, align_corners, align_mode, data_format)
    if mode == "area" or ((mode, rank) == ("nearest", 3) and size is not None):
        return _by_parts(x, size, scale_factor, mode, data_format)
    if (mode, rank) not in _OPERATORS:
        modes = ", ".join(f"{each} ({n} dimensions)" for each, n in _OPERATORS)
        raise ArgumentError(f"expected mode to be one of {modes}; got {mode!r} for {rank}")
    if (size is None) == (scale_factor is None):
        raise ArgumentError("expected size or scale_factor, and not both")
    first = 1 if data_format[-1] == "C" else 2
    old = x.array.shape[first : first + rank]
    late = None if x.appends is None else known_in_run("size", size)
    scale: Any = 0.0
    operator = getattr(eager, _OPERATORS[mode, rank])
    if size is None and (rank == 3 or -1 in old or not _is_whole(old, scale_factor)):
        operator = getattr(eager, f"{_OPERATORS[mode, rank]}_v2")
        scale, sizes = _factors(scale_factor, rank), (-1,) * rank
    elif late is None:
        sizes = _scaled(old, scale_factor) if size is None else numbers_in("size", size)
    else:
        sizes = (-1,) * (len(late) if isinstance(late, list) else late.array.shape[0])
    sizes = sizes * rank if len(sizes) == 1 else sizes
    if len(sizes) != rank:
        raise ArgumentError(f"expected {rank} sizes, got {list(sizes)}")
    return operator(
        x,
        OutSize=late if isinstance(late, Operand) else None,
        SizeTensor=late * (rank // len(late)) if isinstance(late, list) else None,
        interp_method=mode,
        align_corners=align_corners,
        align_mode=align_mode,
        data_layout=data_format,
        scale=scale,
        **dict(zip(_SIZES, reversed(sizes))),
    )


def _linear(
    x: Tensor, size: Any, factor: Any, align_corners: bool, align_mode: int, data_format: str
) -> Tensor:
    """Sequences of another length, as images of one row."""
    last = data_format[-1] == "C"
    images = unsqueeze(x, 1 if last else 2)
    if size is not None:
        size = [1, *(size if isinstance(size, (list, tuple)) else [size])]
    if factor is not None:
        factor = [1, *(factor if isinstance(factor, (list, tuple)) else [factor])]
    form = "NHWC" if last else "NCHW"
    found = interpolate(images, size, factor, "bilinear", align_corners, align_mode, form)
    return squeeze(found, 1 if last else 2)


def _by_parts(x: Tensor, size: Any, factor: Any, mode: str, data_format: str) -> Tensor:
    """Averages of parts, or of volumes the elements that are nearest."""
    rank = x.array.ndim - 2
    first = 1 if data_format[-1] == "C" else 2
    old = [+n for n in x.array.shape[first : first + rank]]
    new = _scaled(old, factor) if size is None else each("size", size, rank)
    if mode == "area":
        pooled = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1]
        if first == 2:
            return pooled(x, new)
        return moveaxis(pooled(moveaxis(x, -1, 1), new), 1, -1)
    for axis, (before, after) in enumerate(zip(old, new), first):
        ratio = np.float32(before / after)
        places = np.minimum((np.arange(after) * ratio).astype("int64"), before - 1)
        x = index_select(x, x.results(places), axis)
    return x


def _is_whole(old: Any, factor: Any) -> bool:
    """Whether factors make whole sizes, so that these say how far apart elements are."""
    return all(n * f == int(n * f) for n, f in zip(old, _factors(factor, len(old))))


def _known(given: Any) -> Any:
    """Factors or sizes as numbers where tensors have them."""
    if isinstance(given, (list, tuple)):
        return [*map(_known, given)]
    if not isinstance(given, Operand) or given.appends is not None:
        return given
    numbers = given.array.reshape(-1).tolist()
    return numbers[0] if len(numbers) == 1 else numbers


def _cut(size: Any) -> Any:
    """Sizes without what stands behind the point."""
    if isinstance(size, (list, tuple)):
        return [*map(_cut, size)]
    return int(size) if isinstance(size, float) else size


def _factors(factor: Any, rank: int) -> list[float]:
    """A factor for each size."""
    factors = list(factor) if isinstance(factor, (list, tuple)) else [factor] * rank
    if len(factors) != rank or not all(isinstance(f, (int, float)) and f > 0 for f in factors):
        raise ArgumentError(
            f"expected scale_factor to be a number above 0, or {rank}, got {factor!r}"
        )
    return [float(f) for f in factors]


def _scaled(old: Any, factor: Any) -> tuple[int, ...]:
    """The whole sizes that come of factors."""
    return tuple(int(length * f) for length, f in zip(old, _factors(factor, len(old))))


upsample: Callable[..., Any] = Spelling({})(
    interpolate,
    "upsample",
    """:func:`interpolate` by its other name.

    >>> x = fluid.ones([1, 1, 2, 2])
    >>> fluid.nn.functional.upsample(x, size=[4, 4], mode="nearest").shape
    [1, 1, 4, 4]
    """,
)
