"""JAX as a backend: its array namespace with what kernels use beyond it, and random numbers by
counter.

Kernels run while JAX traces them.  What they would refuse in values that are not known then is kept
as a check (``checks``), and looked at when the compiled function has run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.scipy import special

from ..ground import state
from ..ground.values import LoDTensor, LoDTensorArray, SelectedRows, on_host
from ..kernels import linear_algebra
from ..opdef.rank_table import RankTable
from . import jax_linalg, numpy_

name = "jax"

_KINDS = (LoDTensor, LoDTensorArray, RankTable, SelectedRows)

#: what was promised of values while a function is traced: truths, all of which must hold
checks: state.StateSlot[list[Any]] = state.slot("checks of values", list)


def asarray(value: Any, dtype: Any = None) -> Any:
    """``value`` as an array; other kinds of values as they are."""
    if isinstance(value, _KINDS):
        return value
    if dtype is not None and np.dtype(dtype).kind == "f" and _is_mask(value):
        # XLA would make a choice of a product with a mask that is converted, which hides NaN
        return jnp.where(value, np.ones((), dtype), np.zeros((), dtype))
    return jnp.asarray(value, dtype)


def _is_mask(value: Any) -> bool:
    """Whether an array of truths is traced."""
    return isinstance(value, jax.core.Tracer) and value.dtype == np.bool_


def is_known(value: Any) -> bool:
    """Whether the elements of an array are there, and not only traced."""
    return not isinstance(value, jax.core.Tracer)


def in_range(index: Any, size: int, what: str) -> Any:
    """``index``; where its values are not known yet, they are looked at later.

    Raises:
        OutOfRangeError: one of them is outside [0, size).
    """
    if is_known(index):
        return numpy_.in_range(np.asarray(on_host(index)), size, what)
    if index.size:
        checks.get().append(((index >= 0) & (index < size)).all())
    return index


def scatter_add(x: Any, index: Any, updates: Any) -> Any:
    """A copy of ``x`` with ``updates`` added at the rows ``index``; rows named twice get both."""
    return jnp.asarray(x).at[index].add(updates)


def scatter_set(x: Any, index: Any, updates: Any) -> Any:
    """A copy of ``x`` with ``updates`` at the rows ``index``; of rows named twice the last one."""
    x = jnp.asarray(x)
    # CPUs write one row after the other; GPUs write in any order
    return jax.lax.platform_dependent(
        cpu=lambda: x.at[index].set(updates), default=lambda: _last_ones_set(x, index, updates)
    )


def _last_ones_set(x: Any, index: Any, updates: Any) -> Any:
    """:func:`scatter_set`, where it does not matter which update is written first."""
    by_rows = not isinstance(index, tuple)
    places = np.arange(x.shape[0]) if by_rows else np.arange(x.size).reshape(x.shape)
    row = x.shape[1:] if by_rows else ()
    named = jnp.asarray(places)[index]
    if not named.size or not x.size:
        return x
    rows = jnp.broadcast_to(updates, named.shape + row).astype(x.dtype).reshape(-1, *row)
    last = jnp.full(places.size, -1).at[named.reshape(-1)].max(np.arange(named.size))
    written = (last >= 0).reshape(-1, *[1] * len(row))
    return jnp.where(written, rows[last], x.reshape(-1, *row)).reshape(x.shape)


def windows(
    x: Any, kernel: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> Any:
    """All windows over the last dimensions of ``x``: [..., *positions, *kernel]."""
    n, lead = len(kernel), x.ndim - len(kernel)
    for k, (size, step, spread) in enumerate(zip(kernel, strides, dilations, strict=True)):
        axis = lead + k  # the positions stay here, the window goes to the end
        count = (x.shape[axis] - (size - 1) * spread - 1) // step + 1
        at = np.arange(count)[:, None] * step + np.arange(size) * spread
        x = jnp.moveaxis(jnp.take(x, at, axis=axis), axis + 1, -1)
    assert x.ndim == lead + 2 * n
    return x


def segment_sum(x: Any, offsets: Any) -> Any:
    """The sums of rows that lie one after the other; zero for a segment without rows."""
    count, owner = _owners(offsets)
    return jax.ops.segment_sum(x, owner, count, indices_are_sorted=True)


def segment_max(x: Any, offsets: Any) -> Any:
    """The largest of rows that lie one after the other; zero for a segment without rows."""
    count, owner = _owners(offsets)
    found = jax.ops.segment_max(x, owner, count, indices_are_sorted=True)
    filled = (np.diff(np.asarray(offsets)) > 0).reshape(-1, *[1] * (x.ndim - 1))
    return jnp.where(filled, found, jnp.zeros_like(found))


def segment_argmax(x: Any, offsets: Any) -> Any:
    """The numbers of the rows where each column is largest in its segment, the first of equal ones;
    -1 for a segment without rows.
    """
    count, owner = _owners(offsets)
    largest = segment_max(x, offsets)[owner]
    hit = (x == largest) | (jnp.isnan(x) if x.dtype.kind == "f" else False)
    rows = np.arange(len(owner)).reshape(-1, *[1] * (x.ndim - 1))
    numbers = jnp.where(hit, rows, len(owner))
    first = jax.ops.segment_min(numbers, owner, count, indices_are_sorted=True)
    return jnp.where(first >= len(owner), -1, first)


def _owners(offsets: Any) -> tuple[int, Any]:
    """How many segments there are, and which one each row is of."""
    lengths = np.diff(np.asarray(offsets))
    return len(lengths), np.repeat(np.arange(len(lengths)), lengths)


def add_rows(index: Any, updates: Any, size: int) -> Any:
    """Zeros with rows added at ``index``; those at -1 are left out."""
    out = jnp.zeros((size + 1, *updates.shape[1:]), updates.dtype)
    return out.at[jnp.where(index < 0, size, index)].add(updates)[:size]


def max_rows(index: Any, updates: Any, size: int) -> Any:
    """The largest of the rows at each ``index``; zeros if there are none."""
    return _filled(jax.ops.segment_max(updates, index, size), index, size)


def min_rows(index: Any, updates: Any, size: int) -> Any:
    """The smallest of the rows at each ``index``; zeros if there are none."""
    return _filled(jax.ops.segment_min(updates, index, size), index, size)


def _filled(rows: Any, index: Any, size: int) -> Any:
    filled = jnp.zeros(size, bool).at[index].set(True).reshape(-1, *[1] * (rows.ndim - 1))
    return jnp.where(filled, rows, jnp.zeros_like(rows))


#: of products, from the most precise to the fastest; see :func:`products`
PRECISIONS = ("highest", "high", "default", "bfloat16")

_narrow: state.StateSlot[bool] = state.slot("products of bfloat16", bool)


@contextmanager
def products(precision: str) -> Iterator[None]:
    """Sets how precise products of float32 are, inside a ``with`` block.

    Args:
        precision: "highest", "high" and "default" are those of JAX, which devices take at their
            will; with "bfloat16" operands are rounded to that type everywhere.
    """
    narrow = precision == "bfloat16"
    with _narrow.guard(narrow), jax.default_matmul_precision("default" if narrow else precision):
        yield


def _narrows(x: Any, y: Any) -> bool:
    return _narrow.get() and x.dtype == np.float32 and y.dtype == np.float32


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices; that of 16 bits is summed in 32."""
    if _narrows(x, y):
        x, y = jnp.asarray(x, jnp.bfloat16), jnp.asarray(y, jnp.bfloat16)
        return jnp.matmul(x, y, preferred_element_type=np.float32)
    if x.dtype == y.dtype and x.dtype.itemsize == 2:
        return jnp.matmul(x, y, preferred_element_type=np.float32).astype(x.dtype)
    return jnp.matmul(x, y)


def convolution(
    x: Any, w: Any, strides: Any, pads: Any, dilations: Any, groups: int, channels_last: bool
) -> Any:
    """Images, or volumes, convolved with a filter [filters, channels / groups, ...]."""
    space = "DHW"[5 - x.ndim :]
    image = f"N{space}C" if channels_last else f"NC{space}"
    before = x.dtype
    if _narrows(x, w):  # what comes of it is rounded, too: its adjoint has operands of one type
        x, w = jnp.asarray(x, jnp.bfloat16), jnp.asarray(w, jnp.bfloat16)
    convolved = lax.conv_general_dilated(
        x,
        w,
        strides,
        pads,
        rhs_dilation=dilations,
        dimension_numbers=(image, f"OI{space}", image),
        feature_group_count=groups,
    )
    return convolved.astype(before)


def adjoint(function: Callable[[Any], Any], shape: Any, cotangent: Any) -> Any:
    """The adjoint of a linear function of an array of some shape, at a cotangent."""
    like = jax.ShapeDtypeStruct(tuple(shape), cotangent.dtype)
    (found,) = jax.linear_transpose(function, like)(cotangent)
    return found


def _identity(x: Any, *_: Any, **__: Any) -> Any:
    return jnp.asarray(x)


_OWN = (
    *(asarray, adjoint, convolution, add_rows, max_rows, min_rows, in_range, matmul, windows),
    *(scatter_add, scatter_set, segment_argmax, segment_max, segment_sum),
)
_OTHER_NAMES = {
    "add_at": scatter_add,
    "ascontiguousarray": _identity,
    "complex_of": jax.lax.complex,
    "empty": jnp.zeros,
    "empty_like": jnp.zeros_like,
    "erf": special.erf,
    "erfc": special.erfc,
}
xp: SimpleNamespace = SimpleNamespace(
    **{name: value for name, value in vars(jnp).items() if not name.startswith("_")}
    | {function.__name__: function for function in _OWN}
    | {name: getattr(jax_linalg, name) for name in linear_algebra.NAMES}
    | _OTHER_NAMES
)


def number_of(seed: int, *counters: int | str) -> int:
    """The number that a draw starts from: that of NumPy's backend.

    Args:
        seed, counters: see ``numpy_.generators``.
    """
    text = "/".join(map(str, (seed, *counters))).encode("utf-8", "surrogatepass")
    return zlib.crc32(text, zlib.adler32(text)) & 0x7FFFFFFF or 1


class Draws:
    """Random numbers of JAX under the names of NumPy's generator.

    Args:
        key: of JAX; each draw after the first one folds its number into it.
    """

    def __init__(self, key: Any) -> None:
        self._key, self._count = key, 0

    def _next(self) -> Any:
        self._count += 1
        return self._key if self._count == 1 else jax.random.fold_in(self._key, self._count)

    def random(self, size: Any = None, dtype: Any = "float64") -> Any:
        """Uniform in [0, 1)."""
        return jax.random.uniform(self._next(), _shape(size), dtype)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform in [low, high)."""
        return jax.random.uniform(self._next(), _shape(size), "float64") * (high - low) + low

    def standard_normal(self, size: Any = None, dtype: Any = "float64") -> Any:
        """Normal, of mean 0 and deviation 1."""
        return jax.random.normal(self._next(), _shape(size), dtype)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Normal."""
        return self.standard_normal(size) * scale + loc

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = "int64") -> Any:
        """Whole numbers in [low, high), in [0, low) where that is all."""
        low, high = (0, low) if high is None else (low, high)
        return jax.random.randint(self._next(), _shape(size), low, high, dtype)

    def poisson(self, lam: Any) -> Any:
        """How often something happens that happens ``lam`` times on average."""
        return jax.random.poisson(self._next(), lam)

    def standard_gamma(self, shape: Any, dtype: Any = "float64") -> Any:
        """Of the gamma distribution with the exponents ``shape``."""
        return jax.random.gamma(self._next(), shape, dtype=dtype)

    def permutation(self, x: Any) -> Any:
        """Numbers up to ``x``, or the rows of an array, in another order."""
        return jax.random.permutation(self._next(), x)


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    return tuple(size) if isinstance(size, (tuple, list)) else (int(size),)


def run_key(number: Any, turns: Any = ()) -> Any:
    """The key of a run: of the number that :func:`number_of` gives for program and run, and of the
    passes through blocks that a part of it belongs to; they may be traced.
    """
    key = jax.random.key(jnp.asarray(number, "uint32"))
    for turn in turns:
        key = jax.random.fold_in(key, jnp.asarray(turn, "uint32"))
    return key


def drawing(key: Any, *counters: Any) -> Callable[[Any], Draws]:
    """What kernels draw from; see ``numpy_.generators``.

    The same things tell draws apart as on NumPy (the seed and the number of the run make ``key``,
    the name and the pass are ``counters``); the bits are those of JAX's generator, so the numbers
    are others.
    """
    for counter in counters:
        key = jax.random.fold_in(key, jnp.asarray(counter, "uint32"))

    def generator(own: Any = 0) -> Draws:
        chosen = key if type(own) is int and not own else run_key(jnp.asarray(own).astype("uint32"))
        return Draws(chosen)

    bits = jax.random.bits(key, (), "uint32")
    generator.number = jnp.maximum(bits & 0x7FFFFFFF, 1)  # type: ignore[attr-defined]
    return generator


def wide() -> Any:
    """Allows 64 bits inside a ``with`` block."""
    return _enable_x64(True)


_enable_x64: Any = (
    jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64
)


def wide_on(device: Any) -> Any:
    """Allows 64 bits inside a ``with`` block, which puts values on a device.

    Args:
        device: of JAX; None for the one that JAX prefers.
    """
    return wide() if device is None else _wide_on(device)


@contextmanager
def _wide_on(device: Any) -> Iterator[None]:
    with wide(), jax.default_device(device):
        yield


def argsort(x: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Where the elements stand in order; equal ones in the order in which they were."""
    return jnp.argsort(x, axis=axis, stable=True)


def repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    """Elements several times."""
    return jnp.repeat(x, np.asarray(repeats) if isinstance(repeats, list) else repeats, axis)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number occurs, those below ``minlength`` at least."""
    if is_known(x):
        return jnp.asarray(np.bincount(np.asarray(x), weights, minlength))
    return jnp.bincount(x, weights, length=minlength or None)


xp.argsort = argsort
xp.bincount = bincount
xp.repeat = repeat


jax.tree_util.register_pytree_node(
    LoDTensorArray, lambda array: (array.items, None), lambda _, items: LoDTensorArray(items)
)
