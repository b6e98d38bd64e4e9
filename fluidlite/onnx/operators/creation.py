"""Tensors made of nothing, or of sizes alone; random numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...errors import UnsupportedError
from ...ground.dtypes import as_dtype
from ..building import need_room
from ..forms import operator, operators
from ..types import numpy_type
from .elementwise import cast_to

#: an attribute that holds a constant -> its element type, where that does not say it itself
_VALUES: dict[str, Any] = {
    "value": None, "sparse_value": None, "value_float": np.float32, "value_floats": np.float32,
    "value_int": np.int64, "value_ints": np.int64,
}  # fmt: skip


@operator("Constant", others=_VALUES)
def constant(f: Any, **values: Any) -> Any:
    for name, data in values.items():
        if data is not None:
            return np.asarray(data, _VALUES[name])
    raise UnsupportedError("expected the value of a constant, got none")


@operator("Range", unread=["stash_type"])
def range_of(f: Any, start: Any, limit: Any, delta: Any) -> Any:
    kind = f.type_of(start)
    bounds = [f.elements(v) for v in (start, limit, delta)]
    if all(v is not None for v in bounds):
        first, last, step = (v.reshape(-1)[0] for v in bounds)
        count = max(math.ceil((last - first) / step), 0)
        need_room(count)
        return (first + np.arange(count) * step).astype(kind)
    return f.range(*(f.reshaped(v, [1]) for v in (start, limit, delta)))


@operator("EyeLike")
def eye_like(f: Any, x: Any, *, dtype: int | None = None, k: int = 0) -> Any:
    rows, columns = f.known_sizes(x)
    kind = f.type_of(x) if dtype is None else numpy_type(dtype)
    if rows * columns > 1 << 22:
        raise UnsupportedError(f"a diagonal of size {rows} times {columns} is not built")
    return np.eye(rows, columns, k, dtype=kind)


def _window(name: str, *weights: float) -> None:
    """Weights of a window, a sum of cosines."""

    def build(f: Any, size: Any, *, output_datatype: int = 1, periodic: int = 1) -> Any:
        count = int(f.number(size, "the size of a window"))
        if not 0 <= count <= 1 << 20:
            raise UnsupportedError(f"expected a window of a sensible size, got {count}")
        angle = 2 * math.pi * np.arange(count) / max(count if periodic else count - 1, 1)
        terms = [w * np.cos(i * angle) for i, w in enumerate(weights)]
        return np.asarray(sum(terms)).astype(numpy_type(output_datatype))

    operator(name)(build)


_window("HannWindow", 0.5, -0.5)
_window("HammingWindow", 25 / 46, -21 / 46)
_window("BlackmanWindow", 0.42, -0.5, 0.08)


@dataclass(frozen=True)
class RandomNumbers:
    """Random numbers of an operator here, whose attributes are fields by their names there."""

    seed: float = 0.0
    operator: ClassVar[str]
    attributes: ClassVar[dict[str, str]]

    def drawn(self, f: Any, dtype: Any, **shape: Any) -> Any:
        """A tensor of them."""
        attrs = {ours: getattr(self, theirs) for ours, theirs in self.attributes.items()}
        draw = getattr(f, self.operator)
        return draw(**shape, **attrs, seed=int(self.seed), dtype=as_dtype(dtype))


@dataclass(frozen=True)
class NormalNumbers(RandomNumbers):
    """Random numbers around a mean."""

    mean: float = 0.0
    scale: float = 1.0
    operator = "gaussian_random"
    attributes: ClassVar[dict[str, str]] = {"mean": "mean", "std": "scale"}


@dataclass(frozen=True)
class UniformNumbers(RandomNumbers):
    """Random numbers between bounds."""

    low: float = 0.0
    high: float = 1.0
    operator = "uniform_random"
    attributes: ClassVar[dict[str, str]] = {"min": "low", "max": "high"}


def _shape_of(f: Any, x: Any) -> dict[str, Any]:
    """The shape of a value as random operators take it."""
    if -1 not in f.sizes(x):
        return dict(shape=list(f.sizes(x)))
    return dict(ShapeTensor=f.shape(x), shape=list(f.sizes(x)))


def _random(name: str, numbers: RandomNumbers) -> None:
    """Random numbers of a shape, and of that of a value."""

    def build(f: Any, *, shape: Any, dtype: int = 1, how: Any = numbers) -> Any:
        return how.drawn(f, numpy_type(dtype), shape=shape)

    def build_like(f: Any, x: Any, *, dtype: int | None = None, how: Any = numbers) -> Any:
        kind = f.type_of(x) if dtype is None else numpy_type(dtype)
        return how.drawn(f, kind, **_shape_of(f, x))

    operators({f"Random{name}": build, f"Random{name}Like": build_like})


_random("Normal", NormalNumbers())
_random("Uniform", UniformNumbers())


@operator("Bernoulli")
def bernoulli(f: Any, x: Any, *, dtype: int | None = None, seed: float = 0.0) -> Any:
    drawn = UniformNumbers(seed=seed).drawn(f, f.type_of(x), **_shape_of(f, x))
    found = f.less_than(drawn, x)
    return cast_to(f, found, f.type_of(x) if dtype is None else numpy_type(dtype))


@operator("Dropout", moved=["ratio"])
def dropout(
    f: Any,
    x: Any,
    ratio: Any = None,
    training_mode: Any = None,
    *,
    is_test: int = 1,
    seed: int = 0,
    wanted: Any,
    opset: int,
) -> Any:
    """As in a test, but where the model says that it is trained."""
    training = not is_test
    if training_mode is not None:
        training = bool(f.number(training_mode, "training_mode"))
    share = 0.5 if ratio is None else float(f.number(ratio, "the ratio of Dropout"))
    kind = f.type_of(x) if opset < 10 else np.dtype(bool)  # of the mask
    has_mask = len(wanted) > 1 and wanted[1]
    if training and share:
        out = f.dropout.all(
            x,
            dropout_prob=share,
            seed=seed,
            fix_seed=bool(seed),
            dropout_implementation="upscale_in_train",
        )
        return (out["Out"], cast_to(f, out["Mask"], kind)) if has_mask else out["Out"]
    if not has_mask:
        return x
    sizes = f.sizes(x)
    if -1 not in sizes:
        need_room(*sizes)
        return x, np.ones(sizes, kind)
    return x, cast_to(f, f.equal(f.fill_zeros_like(x), f.like(0, x)), kind)


@operator("OptionalHasElement")
def has_element(f: Any, x: Any = None) -> Any:
    return np.array(x is not None)


@operator("OptionalGetElement", "Optional", unread=["type"])
def element(f: Any, x: Any) -> Any:
    return x
