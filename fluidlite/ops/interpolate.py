"""Images in another size.  Every method is a matrix for each dimension, of weights of old elements
in new ones, so that gradients are those of products of matrices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import REQUIRED, need_choice, need_least
from ..opdef.definition import Op
from ..opdef.spec import Shape, Spec, need_float, need_integer, need_ndim, need_one, size_of, spec
from .given import numbers

_LAYOUTS = ("NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC", "AnyLayout")


class Interpolation(Op, abstract=True):
    """What the methods have in common: sizes, and where new elements lie among the old ones.

    The sizes are the first of these that is given: SizeTensor, OutSize, Scale, ``scale``, or
    ``out_d``, ``out_h`` and ``out_w``.

    X: images whose channels come after the samples, or last.
    OutSize: the sizes in one tensor.
    SizeTensor: one tensor for each size.
    Scale: a factor of all sizes.
    data_layout: NCHW, or NHWC for images whose channels come last; NCDHW, NDHWC for volumes.
    out_d, out_h, out_w: depth, height and width of Out.
    scale: a factor of all sizes, where it is above 0.
    interp_method: not read: the operator's type says it.
    align_corners: the centres of the outermost elements stay where they are.
    align_mode: without ``align_corners``: 0 keeps the edges where they are, 1 those of smaller
        indices.
    """

    signature = "X, OutSize?!, SizeTensor?!*, Scale?! -> Out"
    lod: ClassVar[str | None] = None
    data_layout: str = "NCHW"
    out_d: int = 0
    out_h: int = 0
    out_w: int = 0
    scale: float = 0.0
    interp_method: str = "bilinear"
    align_corners: bool = True
    align_mode: int = 1
    rank = 2  #: how many dimensions change
    method = ""  #: of :class:`resize_weights`
    #: the whole numbers that X may hold: results lose what is behind the point
    whole_types: ClassVar[tuple[DType, ...]] = (DType.UINT8,)
    keeps_factors: ClassVar[bool] = False  #: whether factors, and not sizes, say where elements lie

    def of_rank(self, ndim: int) -> Interpolation:
        """The interpolation of tensors of so many dimensions."""
        return self

    @property
    def axes(self) -> range:
        """The dimensions that change."""
        first = 1 if self.data_layout in ("NWC", "NHWC", "NDHWC") else 2
        return range(first, first + self.rank)

    @property
    def asked(self) -> Shape:
        """The sizes that attributes give."""
        return (self.out_d, self.out_h, self.out_w)[-self.rank :]

    def infer(
        self, X: Spec, OutSize: Spec | None, SizeTensor: list[Spec] | None, Scale: Spec | None
    ) -> Spec:
        if X.dtype not in self.whole_types:
            need_float(X=X)
        need_ndim(self.rank + 2, X=X)
        if self.data_layout not in _LAYOUTS:
            raise AttributeValueError(
                f"expected data_layout with the channels second or last, as NCHW or NHWC; got "
                f"{self.data_layout!r}"
            )
        need_choice(self, "align_mode", 0, 1)
        if any(X.shape[axis] == 0 for axis in self.axes):
            raise ShapeError(f"expected images with elements, got X of shape {list(X.shape)}")
        if not self.keeps_factors or size_of(() if Scale is None else Scale.shape) != self.rank:
            need_one(Scale=Scale)
        given = [OutSize, *(SizeTensor or ())]
        for one in given:
            need_integer(OutSize=one)
        if SizeTensor and len(SizeTensor) != self.rank:
            raise ShapeError(f"expected {self.rank} in SizeTensor, got {len(SizeTensor)}")
        if SizeTensor:  # attributes give those that no variable does
            sizes = [n if n > 0 else -1 for n in self.asked]
        elif Scale is not None or OutSize is not None:
            sizes = (-1,) * self.rank
        else:
            factors = self.factors
            if not all(factor < math.inf for factor in factors):
                raise AttributeValueError(f"expected a finite scale, got {self.told_scale}")
            sizes = self.scaled(X.shape, factors) if factors else self.asked
            if any(n < 1 for n in sizes if n != -1 or not factors):
                names = ("out_d", "out_h", "out_w")[-self.rank :]
                listed = ", ".join(f"{name}={n}" for name, n in zip(names, self.asked))
                raise AttributeValueError(
                    f"expected sizes of at least 1, got {listed} and scale={self.told_scale}"
                )
        return X.with_shape(self.resized(X.shape, sizes))

    @property
    def factors(self) -> tuple[float, ...]:
        """The factor of each size that ``scale`` says; none where it says nothing."""
        return () if self.scale <= 0 else (self.scale,) * self.rank

    @property
    def told_scale(self) -> str:
        """``scale`` as messages say it."""
        return f"{self.scale:g}"

    def factors_in(self, OutSize: Any, SizeTensor: Any, Scale: Any) -> tuple[float, ...]:
        """The factors that the sizes follow from; none where inputs, or attributes, say sizes.

        Raises:
            AttributeValueError: a factor is not above 0.
        """
        if SizeTensor or OutSize is not None:
            return ()
        if Scale is None:
            return self.factors
        factors = tuple([float(factor) for factor in Scale.reshape(-1)])
        if not all(0 < factor < math.inf for factor in factors):
            raise AttributeValueError(
                f"expected a positive factor, got Scale {', '.join(map(str, factors))}"
            )
        return factors * self.rank if len(factors) == 1 else factors

    def scaled(self, shape: Shape, factors: Sequence[float]) -> list[int]:
        """Sizes times factors in single precision, as far as they are known."""
        return [
            -1 if shape[a] == -1 else int(np.float32(shape[a]) * np.float32(factor))
            for a, factor in zip(self.axes, factors, strict=True)
        ]

    def resized(self, shape: Shape, sizes: Sequence[int]) -> list[int]:
        """``shape`` with other sizes."""
        out = list(shape)
        for axis, size in zip(self.axes, sizes):
            out[axis] = size
        return out

    def sizes(
        self, X: Array, OutSize: Array, SizeTensor: list[Array] | None, Scale: Array
    ) -> Sequence[int]:
        """The sizes, from the first of the places that gives them.

        Raises:
            AttributeValueError: they are below 1.
        """
        factors = self.factors_in(OutSize, SizeTensor, Scale)
        if SizeTensor or OutSize is not None:
            sizes = numbers((), OutSize, SizeTensor)
        else:
            sizes = self.scaled(X.shape, factors) if factors else self.asked
        if len(sizes) != self.rank or min(sizes) < 1:
            raise AttributeValueError(
                f"expected {self.rank} sizes of at least 1, got {list(sizes)}"
            )
        return sizes

    def gaps(self, factors: Sequence[float]) -> list[float]:
        """How far apart new elements are among the old ones; 0 where sizes say it."""
        if not self.keeps_factors or not factors:
            return [0.0] * self.rank
        return [float(np.float32(1) / np.float32(factor)) for factor in factors]

    def weights(
        self, shape: Shape, sizes: Sequence[int], dtype: Any, factors: Sequence[float] = ()
    ) -> Iterator[Any]:
        """For each dimension that changes: which it is, and the operator that gives its weights."""
        for axis, size, gap in zip(self.axes, sizes, self.gaps(factors)):
            yield (
                axis,
                dict(
                    old=shape[axis],
                    new=size,
                    method=self.method,
                    align_corners=self.align_corners,
                    align_mode=self.align_mode,
                    gap=gap,
                    dtype=dtype,
                ),
            )

    def run(
        self, xp: Any, X: Array, OutSize: Array, SizeTensor: list[Array] | None, Scale: Array
    ) -> Array:
        out, sizes = X, self.sizes(X, OutSize, SizeTensor, Scale)
        factors = self.factors_in(OutSize, SizeTensor, Scale)
        if X.dtype.kind in "iu":
            return self.of_whole(xp, X, sizes, factors)
        for axis, attrs in self.weights(X.shape, sizes, X.dtype, factors):
            weights = resize_weights(attrs).run(xp)
            lead, trail = math.prod(out.shape[:axis]), math.prod(out.shape[axis + 1 :])
            shape = (*out.shape[:axis], attrs["new"], *out.shape[axis + 1 :])
            if trail == 1:
                out = xp.matmul(xp.reshape(out, (lead, out.shape[axis])), weights.T)
            else:
                out = xp.matmul(weights, xp.reshape(out, (lead, out.shape[axis], trail)))
            out = xp.reshape(out, shape)
        return out

    def of_whole(self, xp: Any, X: Any, sizes: Any, factors: Sequence[float]) -> Any:
        """Out of whole numbers, which lose what is behind the point.

        Sums of single precision in fluid's order: where the true one is a whole number, they decide
        which one is kept.
        """
        places = []
        for axis, attrs in self.weights(X.shape, sizes, DType.FP32, factors):
            neighbours = resize_weights(attrs).neighbours(xp, xp.arange(attrs["new"]))
            along = [-1 if i == axis else 1 for i in range(X.ndim)]
            places.append([(axis, place, xp.reshape(w, along)) for place, w in neighbours])
        turned = places if self.rank == 3 else places[::-1]  # which of the dimensions goes on first
        total = xp.float32(0)
        for corner in itertools.product(*turned):
            part = X
            for axis, place, _ in corner:
                part = xp.take(part, place, axis=axis)
            part = part.astype("float32")
            for *_, weight in sorted(corner, key=lambda found: found[0]):
                part = part * weight
            total = total + part
        return total.astype(X.dtype)

    def grad(self, f, X, dOut, OutSize=None, SizeTensor=None, Scale=None):
        def dx():
            """The products with the same matrices, turned over."""
            out, sizes = dOut, [dOut.shape[axis] for axis in self.axes]
            factors = self.factors_in(OutSize, SizeTensor, Scale) if self.keeps_factors else ()
            for axis, attrs in self.weights(X.shape, sizes, X.dtype, factors):
                weights = f.resize_weights(**attrs)
                shape, lead = list(out.shape), math.prod(out.shape[:axis])
                out = f.reshape(out, shape=[lead, shape[axis], math.prod(shape[axis + 1 :])])
                out = f.matmul(weights, out, transpose_X=True)
                shape[axis] = attrs["old"]
                out = f.reshape(out, shape=shape)
            return out

        return dict(X=dx)


class FactorOfEach(Interpolation, abstract=True):
    """An interpolation of paddle 2: there is a factor for each size, and where there are factors,
    new elements lie as far apart as these say, whatever the sizes are rounded to.
    """

    scale: list[float] = ()
    keeps_factors: ClassVar[bool] = True

    @property
    def factors(self) -> tuple[float, ...]:
        given = tuple(self.scale) if all(factor > 0 for factor in self.scale) else ()
        return given * self.rank if len(given) == 1 else given

    @property
    def told_scale(self) -> str:
        return str(list(self.scale))

    def infer(
        self, X: Spec, OutSize: Spec | None, SizeTensor: list[Spec] | None, Scale: Spec | None
    ) -> Spec:
        if len(self.factors) not in (0, self.rank):
            raise AttributeValueError(
                f"expected scale of {self.rank} numbers, got {list(self.scale)}"
            )
        return super().infer(X, OutSize, SizeTensor, Scale)


class LinearInterpolation(Interpolation, abstract=True):
    """Linear between neighbours in each dimension."""

    method = "linear"


class NearestInterpolation(Interpolation, abstract=True):
    """Each element that of its nearest neighbour."""

    method = "nearest"
    whole_types: ClassVar[tuple[DType, ...]] = (DType.UINT8, DType.INT32, DType.INT64)

    def of_whole(self, xp: Any, X: Any, sizes: Any, factors: Sequence[float]) -> Any:
        for axis, attrs in self.weights(X.shape, sizes, DType.FP32, factors):
            ((place, _),) = resize_weights(attrs).neighbours(xp, xp.arange(attrs["new"]))
            X = xp.take(X, place, axis=axis)
        return X


class CubicInterpolation(Interpolation, abstract=True):
    """Cubic between four neighbours in both dimensions.

    (Keys, Cubic convolution interpolation for digital image processing, IEEE ASSP 1981.)
    """

    method = "cubic"
    whole_types: ClassVar[tuple[DType, ...]] = ()


class linear_interp(LinearInterpolation):
    """Out = sequences X of another length, linear between neighbours.

    X: sequences whose channels come after the samples, or last.
    """

    rank = 1


class linear_interp_v2(FactorOfEach, linear_interp):
    """Out = sequences X of another length, linear between neighbours.

    scale: a factor of the length.
    """


class bilinear_interp(LinearInterpolation):
    """Out = X in another size, linear between neighbours in both dimensions."""


class bilinear_interp_v2(FactorOfEach, bilinear_interp):
    """Out = X in another size, linear between neighbours in both dimensions.

    scale: a factor of each size.
    """


class trilinear_interp(LinearInterpolation):
    """Out = X in another size, linear between neighbours in all three dimensions."""

    rank = 3


class trilinear_interp_v2(FactorOfEach, trilinear_interp):
    """Out = X in another size, linear between neighbours in all three dimensions.

    scale: a factor of each size.
    """


class nearest_interp(NearestInterpolation):
    """Out = X in another size, each element that of its nearest neighbour."""


class NearestVolumes(FactorOfEach, NearestInterpolation, abstract=True):
    """That of volumes."""

    rank = 3


class nearest_interp_v2(FactorOfEach, nearest_interp):
    """Out = images or volumes X in another size, each element that of its nearest neighbour.

    scale: a factor of each size.
    """

    def of_rank(self, ndim: int) -> Interpolation:
        return NearestVolumes(self.attr_values()) if ndim == 5 else self

    def infer(
        self, X: Spec, OutSize: Spec | None, SizeTensor: list[Spec] | None, Scale: Spec | None
    ) -> Spec:
        given = X, OutSize, SizeTensor, Scale
        return super().infer(*given) if X.ndim != 5 else self.of_rank(5).infer(*given)

    def run(
        self, xp: Any, X: Array, OutSize: Array, SizeTensor: list[Array] | None, Scale: Array
    ) -> Array:
        given = X, OutSize, SizeTensor, Scale
        return super().run(xp, *given) if X.ndim != 5 else self.of_rank(5).run(xp, *given)

    def grad(self, f, X, dOut, OutSize=None, SizeTensor=None, Scale=None):
        given = X, dOut, OutSize, SizeTensor, Scale
        return super().grad(f, *given) if len(X.shape) != 5 else self.of_rank(5).grad(f, *given)


class bicubic_interp(CubicInterpolation):
    """Out = X in another size, cubic between four neighbours in both dimensions.

    (Keys, Cubic convolution interpolation for digital image processing, IEEE ASSP 1981.)
    """


class bicubic_interp_v2(FactorOfEach, bicubic_interp):
    """Out = X in another size, cubic between four neighbours in both dimensions.

    scale: a factor of each size.
    """


class resize_weights(Op):
    """Out = the weights of ``old`` elements in ``new`` ones: one row for each new one.

    old, new: how many there are.
    method: linear, cubic or nearest.
    align_corners: the centres of the outermost elements stay where they are.
    align_mode: 0 keeps the edges where they are, 1 those of smaller indices.
    gap: how far apart new elements are among the old ones; 0 where their numbers say it.
    dtype: the element type of Out.
    """

    signature = " -> Out"
    old: int = REQUIRED
    new: int = REQUIRED
    method: str = REQUIRED
    align_corners: bool = True
    align_mode: int = 1
    gap: float = 0.0
    dtype: DType = DType.FP32
    grad = None

    def infer(self) -> Specs:
        need_choice(self, "method", "linear", "cubic", "nearest")
        need_least(self, 1, "old", "new")
        return spec([self.new, self.old], self.dtype)

    def run(self, xp: Any) -> Array:
        weights = xp.zeros((self.new, self.old))
        rows = xp.arange(self.new)
        for place, weight in getattr(self, self.method)(xp, rows):
            place = xp.minimum(xp.maximum(place, 0), self.old - 1).astype("int64")
            weights = xp.scatter_add(weights, (rows, place), weight)
        return weights.astype(self.dtype.dtype)

    def step(self, xp: Any) -> Array:
        """How far apart new elements are among the old ones; rounded as fluid does."""
        if self.new == 1:
            return xp.float32(0)
        if self.align_corners:
            return xp.float32(self.old - 1) / xp.float32(self.new - 1)
        if self.gap > 0:
            return xp.float32(self.gap)
        return xp.float32(self.old) / xp.float32(self.new)

    def exact_step(self) -> float:
        """The same as a number that is computed with in double precision."""
        return float(self.step(np))

    def neighbours(self, xp: Any, rows: Array) -> list[Any]:
        """Places among the old elements, and their weights, in single precision."""
        if self.method == "nearest":
            taps = self.nearest(xp, rows)
        else:
            half = xp.float32(0 if self.align_corners or self.align_mode else 0.5)
            at = xp.maximum(self.step(xp) * (rows.astype("float32") + half) - half, xp.float32(0))
            below = xp.floor(at)
            taps = [(below, 1 - (at - below)), (below + 1, at - below)]
        ones = xp.ones(len(rows), "float32")
        return [(xp.minimum(p, self.old - 1).astype("int64"), w * ones) for p, w in taps]

    def nearest(self, xp: Any, rows: Array) -> list[Any]:
        """The place of each, with its weight."""
        half = xp.float32(0.5 if self.align_corners else 0)
        return [(xp.floor(self.step(xp) * rows.astype("float32") + half), 1.0)]

    def linear(self, xp: Any, rows: Array) -> list[Any]:
        """The places of two neighbours, with their weights."""
        at = self.centres(xp, rows, edges=self.align_mode == 0)
        at = xp.maximum(at, 0)
        below = xp.floor(at)
        return [(below, 1 - (at - below)), (below + 1, at - below)]

    def cubic(self, xp: Any, rows: Array) -> list[Any]:
        """The places of four neighbours, with their weights."""
        at = self.centres(xp, rows, edges=True)
        below = xp.floor(at)
        return [(below + k, keys(xp.abs(at - below - k))) for k in (-1, 0, 1, 2)]

    def centres(self, xp: Any, rows: Array, edges: bool) -> Array:
        """Where new elements lie among the old ones."""
        step = self.exact_step()
        return step * (rows + 0.5) - 0.5 if edges and not self.align_corners else step * rows


def keys(distance: Array, a: float = -0.75) -> Array:
    """Keys' cubic weight of an element at a distance from 0 to 2."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return near * (distance <= 1) + far * (distance > 1)
