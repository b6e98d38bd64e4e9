"""Operators that draw random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, DTypeError, ShapeError
from ..ground.dtypes import DType
from ..ground.mersenne import PaddleNumbers
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr, need_least
from ..opdef.definition import Detached, Op
from ..opdef.spec import Shape, Spec, need_float, need_ndim, size_of, spec
from .creation import Creation, ShapeFromBatch, ShapeFromTensors, sizes
from .inert_attributes import UseMkldnn
from .special import erfinv


class Drawn(Creation, abstract=True):
    """Random numbers, independent of each other.

    seed: fixes the numbers of every run; with 0 they come from the program's own stream.
    """

    random: ClassVar[bool] = True
    seed: int = 0
    dtypes = (DType.FP32, DType.FP64, DType.FP16)

    def check(self) -> None:
        """Refuse attributes that make no distribution."""
        if self.dtype not in self.dtypes:
            names = " or ".join(map(str, self.dtypes))
            raise DTypeError(f"expected dtype {names}, got {self.dtype}")

    def draw(self, xp: Any, generator: Any, shape: Any) -> Any:
        """An array of random numbers."""
        raise NotImplementedError

    @property
    def precision(self) -> str:
        """The element type that generators draw."""
        return "float64" if self.dtype is DType.FP64 else "float32"


class DrawnInShape(Drawn, ShapeFromTensors, abstract=True):
    """Random numbers in a given shape."""

    def infer(self, ShapeTensor: Spec, ShapeTensorList: Spec) -> Spec:
        self.check()
        if not (self.shape or ShapeTensor is not None or ShapeTensorList):
            raise AttributeValueError("expected a shape of at least one size, got []")
        return ShapeFromTensors.infer(self, ShapeTensor, ShapeTensorList)

    def run(self, xp: Any, rng: Any, ShapeTensor: Array, ShapeTensorList: Array) -> Array:
        shape = self.shape_given(ShapeTensor, ShapeTensorList)
        return xp.asarray(self.draw(xp, rng(self.seed), shape), self.dtype.dtype)


class DrawnLike(Drawn, ShapeFromBatch, abstract=True):
    """Random numbers in a given shape but for one size that is Input's."""

    def infer(self, Input: Spec) -> Specs:
        self.check()
        return ShapeFromBatch.infer(self, Input)

    def run(self, xp: Any, rng: Any, Input: Array) -> Array:
        drawn = self.draw(xp, rng(self.seed), self.shape_like(Input))
        return xp.asarray(drawn, self.dtype.dtype)


class EvenlySpread(Op, abstract=True):
    """Numbers that are equally likely everywhere in [min, max).

    min, max: the bounds.
    diag_num: how many elements, the first and then every ``diag_step`` + 1, are ``diag_val``.
    """

    min: float = -1.0
    max: float = 1.0
    diag_num: int = 0
    diag_step: int = 0
    diag_val: float = 1.0

    def check_bounds(self) -> None:
        """Refuse bounds between which there is nothing."""
        if self.min > self.max:
            raise AttributeValueError(f"expected min below max, got {self.min} and {self.max}")

    def numbers(self, xp: Any, generator: Any, shape: Shape, precision: str) -> Array:
        """The numbers, drawn in an element type."""
        values = generator.random(shape, precision)
        values *= self.max - self.min  # in place: parameters may be hundreds of megabytes
        values += self.min
        values = xp.asarray(values)
        if not self.diag_num:
            return values
        last = (self.diag_num - 1) * (self.diag_step + 1)
        if not 0 <= last < size_of(shape):
            raise AttributeValueError(
                f"expected diag_num elements at steps of diag_step + 1 to fit into shape "
                f"{list(shape)}, got diag_num {self.diag_num} and diag_step {self.diag_step}"
            )
        fixed = xp.arange(self.diag_num) * (self.diag_step + 1)
        return xp.reshape(xp.scatter_set(xp.reshape(values, -1), fixed, self.diag_val), shape)


class UniformDraw(EvenlySpread, Drawn, abstract=True):
    """Such numbers, made from nothing."""

    def check(self) -> None:
        super().check()
        self.check_bounds()

    def draw(self, xp: Any, generator: Any, shape: Shape) -> Array:
        return self.numbers(xp, generator, shape, self.precision)


class uniform_random(UniformDraw, DrawnInShape):
    """Out = numbers equally likely everywhere in [min, max)."""


class uniform_random_batch_size_like(UniformDraw, DrawnLike):
    """Out = numbers equally likely everywhere in [min, max), one size being Input's."""


class NormallySpread(Op, abstract=True):
    """Normally distributed numbers.

    mean: their expectation.
    std: their standard deviation.
    """

    mean: float = 0.0
    std: float = 1.0

    def numbers(self, generator: Any, shape: Shape, precision: str) -> Array:
        """The numbers, drawn in an element type."""
        values = generator.standard_normal(shape, precision)
        values *= self.std
        values += self.mean
        return values


class Gaussian(NormallySpread, Drawn, abstract=True):
    """Such numbers, made from nothing."""

    def draw(self, xp: Any, generator: Any, shape: Shape) -> Array:
        return self.numbers(generator, shape, self.precision)


class gaussian_random(UseMkldnn, Gaussian, DrawnInShape):
    """Out = normally distributed numbers."""


class gaussian_random_batch_size_like(Gaussian, DrawnLike):
    """Out = normally distributed numbers, one size being Input's."""


class truncated_gaussian_random(Gaussian):
    """Out = normally distributed numbers, drawn again where farther than 2 ``std`` from ``mean``.

    shape: sizes.
    """

    signature = "-> Out"
    shape: list[int] = REQUIRED

    def infer(self) -> Specs:
        self.check()
        return spec(sizes(self.shape), self.dtype)

    def run(self, xp: Any, rng: Any) -> Array:
        generator = rng(self.seed)
        if isinstance(generator, PaddleNumbers):  # by the inverse of the distribution, as there
            return self.mean + self.std * _within_two(generator.random(self.shape, self.precision))
        values = generator.standard_normal(self.shape, self.precision)
        while (far := abs(values) > 2).any():
            values = xp.where(far, generator.standard_normal(self.shape, self.precision), values)
        return xp.asarray(self.mean + self.std * values, self.dtype.dtype)


def _within_two(unit: Array) -> Array:
    """Normally distributed numbers in (-2, 2), from ones equally likely in [0, 1)."""
    share = math.erf(math.sqrt(2.0))  # of what is drawn
    inverse = erfinv().run(np, share * (2 * unit.astype("float64") - 1))
    return (math.sqrt(2.0) * inverse).astype(unit.dtype)


class randint(DrawnInShape):
    """Out = whole numbers equally likely everywhere in [low, high).

    low, high: the bounds.
    """

    low: int = REQUIRED
    high: int = REQUIRED
    dtype: DType = DType.INT64
    dtypes = (DType.INT64, DType.INT32)

    def check(self) -> None:
        super().check()
        if self.low >= self.high:
            raise AttributeValueError(f"expected low below high, got {self.low} and {self.high}")

    def draw(self, xp: Any, generator: Any, shape: Shape) -> Array:
        return generator.integers(self.low, self.high, shape)


class randperm(Drawn):
    """Out = the numbers 0 ... n - 1 in random order.

    n: how many.
    """

    signature = "-> Out"
    n: int = REQUIRED
    dtype: DType = DType.INT64
    dtypes = (DType.INT64, DType.INT32, DType.FP32, DType.FP64)

    def infer(self) -> Specs:
        self.check()
        need_least(self, 1, "n")
        return spec([self.n], self.dtype)

    def run(self, xp: Any, rng: Any) -> Array:
        return xp.asarray(rng(self.seed).permutation(self.n), self.dtype.dtype)


class seed(Detached):
    """Out = ``seed``, or a random number where it is 0: what random operators start from.

    seed: the number.
    draws_for: the variable whose operator would start from the same number without being told.
    """

    signature = "-> Out"
    random: ClassVar[bool] = True
    seed: int = 0
    draws_for: str = attr("", local=True)

    def random_key(self, output: str) -> str:
        return self.draws_for or output

    def infer(self) -> Spec:
        return spec([1], DType.INT32)

    def run(self, xp: Any, rng: Any) -> Array:
        number = self.seed or rng.number
        return xp.asarray([number], "int32")


class sampling_id(Op):
    """For each row of X a column, drawn with the probabilities that the row holds.

    A number is drawn, equally likely everywhere in [min, max); the first column whose probability,
    with those before it, is above it is taken, and the last one if there is none.

    X: probabilities, [n, columns].
    min, max: bounds of the number: parts of the distribution are left out.
    seed: fixes the numbers of every run; with 0 they come from the program's own stream.
    """

    signature = "X -> Out"
    random: ClassVar[bool] = True
    min: float = 0.0
    max: float = 1.0
    seed: int = 0
    grad = None
    lod: ClassVar[str | None] = "X"

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(2, X=X)
        if X.shape[1] == 0:
            raise ShapeError(f"expected X with at least one column, got shape {list(X.shape)}")
        if not self.min <= self.max:
            raise AttributeValueError(f"expected min below max, got {self.min} and {self.max}")
        return X.with_shape(X.shape[:1]).with_dtype(DType.INT64)

    def run(self, xp: Any, rng: Any, X: Array) -> Arrays:
        drawn = rng(self.seed).random((len(X), 1), "float64")
        drawn = self.min + drawn * (self.max - self.min)
        before = (xp.cumsum(X, axis=1, dtype="float64") <= drawn).sum(axis=1)
        return xp.minimum(before, X.shape[1] - 1).astype("int64")


class multinomial(Op):
    """Out = places of each row of X, drawn by the weights that it holds.

    X: weights from 0, [n] or [rows, n].
    num_samples: how many are drawn of a row.
    replacement: whether one may be drawn again.
    """

    signature = "X -> Out"
    random: ClassVar[bool] = True
    num_samples: int = 1
    replacement: bool = False
    grad = None

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim((1, 2), X=X)
        need_least(self, 1, "num_samples")
        return X.with_shape((*X.shape[:-1], self.num_samples)).with_dtype(DType.INT64)

    def run(self, xp: Any, rng: Any, X: Array) -> Array:
        rows = xp.reshape(X, (-1, X.shape[-1])).astype("float64")
        drawn = rng(0).random((len(rows), self.num_samples), "float64")
        if self.replacement:
            sums = xp.cumsum(rows / rows.sum(axis=1, keepdims=True), axis=1)
            found = [xp.searchsorted(*row, side="right") for row in zip(sums, drawn)]
            return self._places(xp, X, xp.stack(found))
        places = []
        for k in range(self.num_samples):
            sums = xp.cumsum(rows, axis=1)
            places.append((sums <= drawn[:, k : k + 1] * sums[:, -1:]).sum(axis=1))
            rows = xp.where(xp.arange(X.shape[-1]) == places[-1][:, None], 0.0, rows)
        return self._places(xp, X, xp.stack(places, axis=1))

    def _places(self, xp: Any, X: Array, found: Array) -> Array:
        inside = xp.minimum(found, X.shape[-1] - 1)
        return xp.reshape(inside, (*X.shape[:-1], self.num_samples)).astype("int64")


class rrelu(Op):
    """Out = X where X is from 0, and X times a slope that is drawn elsewhere (Xu et al., Empirical
    evaluation of rectified activations in convolutional network, 2015).

    lower, upper: between which the slopes are; with ``is_test`` each is the middle of them.
    Noise: what X was multiplied by.
    """

    signature = "X -> Out, Noise!"
    random: ClassVar[bool] = True
    is_test: bool = False
    lower: float = 1.0 / 8.0
    upper: float = 1.0 / 3.0

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        return X, X

    def run(self, xp: Any, rng: Any, X: Array) -> Arrays:
        return self._sloped(xp, X, lambda below: rng(0).random(X.shape, "float32"))

    def run_numpy(self, xp: Any, rng: Any, X: Array) -> Arrays:
        def drawn(below: Array) -> Array:
            shares = np.zeros(X.shape)
            shares[below] = rng(0).random(int(below.sum()), "float32")
            return shares

        return self._sloped(xp, X, drawn)

    def _sloped(self, xp: Any, X: Array, drawn: Callable[[Array], Array]) -> Arrays:
        below = X < 0
        share = 0.5 if self.is_test else drawn(below)
        slope = (self.lower + share * (self.upper - self.lower)) + xp.zeros(X.shape)
        noise = xp.where(below, slope, 1.0).astype(X.dtype)
        return X * noise, noise

    def grad(self, f: Any, Noise: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * Noise)
