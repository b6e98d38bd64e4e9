"""Discrete Fourier transforms, and what belongs to them.

Numbers keep their precision: float32 makes complex64, integers count as fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, AxisError
from ..ground.arguments import integer, one_of
from ..ground.dtypes import as_dtype
from ..ground.spellings import given_first
from ..opdef.operand import Operand
from .arithmetic import cast_to, floor_divide, multiply
from .creation import to_tensor
from .elementary import floats
from .items import get_item
from .mixing import complex_of, default_float
from .shaping import roll

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from .arguments import DTypeLike

_NORMALIZATIONS = one_of("backward", "ortho", "forward")


# -- what transforms are of ------------------------------------------------------------------------


def _axes(function: str, x: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The dimensions of a transform, counted from the front."""
    ndim = len(x.array.shape)
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - len(s), ndim)
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise AxisError(f"{function}: expected axes in [{-ndim}, {ndim}), got {axis}")
    return tuple([axis % ndim for axis in axes])


def _sizes(function: str, s: Any, count: int) -> list[int | None]:
    if s is None:
        return [None] * count
    if len(s) != count:
        raise ArgumentError(f"{function}: expected a size for each of {count} axes, got s={s}")
    return [integer(function, "n" if count == 1 else "s", size) for size in s]


def _resized(function: str, x: Any, axes: Sequence[int], sizes: Sequence[int | None]) -> Any:
    """x cut off, or with zeros behind, to some sizes."""
    paddings = [0] * (2 * len(x.array.shape))
    cut: list[tuple[int, int]] = []
    for axis, size in zip(axes, sizes):
        there = int(x.array.shape[axis])
        if size is None or size == there:
            continue
        if size < there or there < 0:
            cut.append((axis, size))
        if size > there:
            paddings[2 * axis + 1] = size - max(there, 0)
    x = eager.pad(x, paddings=paddings) if any(paddings) else x
    if not cut:
        return x
    places, ends = zip(*cut)
    return eager.slice(x, axes=places, starts=[0] * len(cut), ends=ends)


def _kind(x: Any) -> str:
    """The kind of the elements of a tensor or a variable, as NumPy has it."""
    if not isinstance(x, Operand):
        raise ArgumentError(f"expected a tensor, got {x!r:.60} of type {type(x).__name__}")
    return str(as_dtype(x.array.dtype).dtype.kind)


def _transformed(function: str, x: Any, s: Any, axes: Any, norm: str) -> Any:
    """A transform by its name: ``ifft`` of all numbers, ``rfft`` of real ones, and so on."""
    _NORMALIZATIONS(function, "norm", norm)
    kind = _kind(x)
    if kind in "iu":
        x = floats(x)
    places = _axes(function, x, s, axes)
    sizes = _sizes(function, s, len(places))
    inverse, of = function.startswith("i"), function.lstrip("i")[0]
    # what is conjugate to another half has its direction the other way round
    attrs: dict[str, Any] = dict(axes=places, normalization=norm, forward=not inverse)
    if (of == "r" and inverse) or (of == "h" and not inverse):  # makes real numbers
        if kind != "c":
            x = cast_to(x, complex_of(as_dtype(x.array.dtype).dtype))
        last = sizes[-1]
        halves = [*sizes[:-1], None if last is None else last // 2 + 1]
        return eager.fft_c2r(
            _resized(function, x, places, halves), last_dim_size=last or 0, **attrs
        )
    x = _resized(function, x, places, sizes)
    if kind == "c" and of == "f":
        return eager.fft_c2c(x, **attrs)
    return eager.fft_r2c(x, onesided=of != "f", **attrs)


def _along_one(
    function: str,
    x: Tensor,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """A transform along one dimension.

    Args:
        x: a tensor.
        n: how many numbers are transformed, or made of a half; x is cut off, or has zeros behind.
        axis: the dimension.
        norm: which direction is divided by their number: forward or backward; with ortho both by
            the root of it.
    """
    found: Tensor = _transformed(function, x, None if n is None else [n], [axis], norm)
    return found


def _over_several(
    function: str,
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """A transform over several dimensions.

    Args:
        x: a tensor.
        s: how many numbers are transformed, or made of a half, for each of ``axes``; x is cut off,
            or has zeros behind.
        axes: the dimensions; when None, all, or as many of the last as ``s`` has.
        norm: which direction is divided by their number: forward or backward; with ortho both by
            the root of it.
    """
    if function.endswith("2"):
        if axes is not None and len(axes) != 2:
            raise ArgumentError(f"{function}: expected two axes, got {axes}")
        axes = (-2, -1) if axes is None else axes
    found: Tensor = _transformed(function, x, s, axes, norm)
    return found


_ALL = "The Fourier transform {}, of real or complex numbers."
_BACK = "The inverse of the Fourier transform {}, of real or complex numbers."
_REAL = """The Fourier transform {}, of real numbers, without the half of the last dimension that is
    conjugate to the other one."""
_TO_REAL = "The inverse of :func:`{}`: real numbers of a half of their transform."
_HERMITIAN = """The Fourier transform {}, of numbers of which a half is given and the other half is
    conjugate to it, so that the result is real."""
_OF_HERMITIAN = """The inverse of :func:`{}`: a half of what real numbers are the transform of."""

#: what those over two dimensions have in place of what those over several have
_TWO = {
    "defaults": {"axes": (-2, -1)},
    "words": {"; when None, all, or as many of the last as ``s`` has": ""},
}

fft = given_first(
    _along_one,
    "fft",
    "fft",
    _ALL.format("along one dimension")
    + """

    >>> fluid.paddle.fft.fft(fluid.to_tensor([1.0, 2.0, 3.0, 4.0])).tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """,
)
ifft = given_first(_along_one, "ifft", "ifft", _BACK.format("along one dimension"))
rfft = given_first(
    _along_one,
    "rfft",
    "rfft",
    _REAL.format("along one dimension")
    + """

    >>> fluid.paddle.fft.rfft(fluid.to_tensor([1.0, 2.0, 3.0, 4.0])).tolist()
    [(10+0j), (-2+2j), (-2+0j)]
    """,
)
irfft = given_first(_along_one, "irfft", "irfft", _TO_REAL.format("rfft"))
hfft = given_first(_along_one, "hfft", "hfft", _HERMITIAN.format("along one dimension"))
ihfft = given_first(_along_one, "ihfft", "ihfft", _OF_HERMITIAN.format("hfft"))
fft2 = given_first(_over_several, "fft2", "fft2", _ALL.format("over two dimensions"), **_TWO)
ifft2 = given_first(_over_several, "ifft2", "ifft2", _BACK.format("over two dimensions"), **_TWO)
rfft2 = given_first(_over_several, "rfft2", "rfft2", _REAL.format("over two dimensions"), **_TWO)
irfft2 = given_first(_over_several, "irfft2", "irfft2", _TO_REAL.format("rfft2"), **_TWO)
hfft2 = given_first(
    _over_several, "hfft2", "hfft2", _HERMITIAN.format("over two dimensions"), **_TWO
)
ihfft2 = given_first(_over_several, "ihfft2", "ihfft2", _OF_HERMITIAN.format("hfft2"), **_TWO)
fftn = given_first(_over_several, "fftn", "fftn", _ALL.format("over several dimensions"))
ifftn = given_first(_over_several, "ifftn", "ifftn", _BACK.format("over several dimensions"))
rfftn = given_first(_over_several, "rfftn", "rfftn", _REAL.format("over several dimensions"))
irfftn = given_first(_over_several, "irfftn", "irfftn", _TO_REAL.format("rfftn"))
hfftn = given_first(_over_several, "hfftn", "hfftn", _HERMITIAN.format("over several dimensions"))
ihfftn = given_first(_over_several, "ihfftn", "ihfftn", _OF_HERMITIAN.format("hfftn"))


# -- frequencies -----------------------------------------------------------------------------------


def _frequencies(
    function: str, n: int, d: float = 1.0, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """Frequencies.

    Args:
        n: how many numbers are transformed.
        d: how far from each other they were taken.
        dtype: the element type; the default one of fractions when None.
    """
    if n == 0 or d == 0:
        raise ArgumentError(f"{function}: expected n and d other than 0, got n={n} and d={d}")
    count = integer(function, "n", n)
    kind = as_dtype(dtype if dtype is not None else default_float())
    found = getattr(np.fft, function)(count, d)
    return to_tensor(found.astype(kind.dtype if kind.is_float else default_float()))


fftfreq = given_first(
    _frequencies,
    "fftfreq",
    "fftfreq",
    """The frequencies of what :func:`fft` gives, the negative ones behind the others.

    >>> fluid.paddle.fft.fftfreq(4, 0.5).tolist()
    [0.0, 0.5, -1.0, -0.5]
    """,
)
rfftfreq = given_first(
    _frequencies,
    "rfftfreq",
    "rfftfreq",
    """The frequencies of what :func:`rfft` gives.

    >>> fluid.paddle.fft.rfftfreq(4, 0.5).tolist()
    [0.0, 0.5, 1.0]
    """,
)


def _shifted(function: str, x: Any, axes: Any, back: bool) -> Any:
    places = _axes(function, x, None, [axes] if isinstance(axes, int) else axes)
    sizes = [int(x.array.shape[axis]) for axis in places]
    if -1 in sizes:
        halves = floor_divide(get_item(eager.shape(x), list(places)), 2)
        return roll(x, multiply(halves, -1) if back else halves, list(places))
    return roll(x, [-(n // 2) if back else n // 2 for n in sizes], list(places))


def fftshift(x: Tensor, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """x with the frequency 0 in the middle.

    Args:
        x: what a transform gave.
        axes: the dimensions; all when None.

    >>> fluid.paddle.fft.fftshift(fluid.paddle.fft.fftfreq(4, 0.5)).tolist()
    [-1.0, -0.5, 0.0, 0.5]
    """
    found: Tensor = _shifted("fftshift", x, axes, back=False)
    return found


def ifftshift(
    x: Tensor, axes: int | Sequence[int] | None = None, name: str | None = None
) -> Tensor:
    """The inverse of :func:`fftshift`.

    Args:
        x: what that gave.
        axes: the dimensions; all when None.
    """
    found: Tensor = _shifted("ifftshift", x, axes, back=True)
    return found
