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
from ..opdef.spec import Shape, Spec, need_float, need_integer, need_ndim, need_one, spec
from .given import numbers


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
    takes_bytes = True  #: whether X may be of uint8: results lose what is behind the point

    @property
    def axes(self) -> range:
        """The dimensions that change."""
        first = 1 if self.data_layout in ("NHWC", "NDHWC") else 2
        return range(first, first + self.rank)

    @property
    def asked(self) -> Shape:
        """The sizes that attributes give."""
        return (self.out_d, self.out_h, self.out_w)[-self.rank :]

    def infer(
        self, X: Spec, OutSize: Spec | None, SizeTensor: list[Spec] | None, Scale: Spec
    ) -> Spec:
        if not (X.dtype is DType.UINT8 and self.takes_bytes):
            need_float(X=X)
        need_ndim(self.rank + 2, X=X)
        if self.data_layout not in ("NCHW", "NHWC", "NCDHW", "NDHWC", "AnyLayout"):
            raise AttributeValueError(
                f"expected data_layout with the channels second or last, as NCHW or NHWC; got "
                f"{self.data_layout!r}"
            )
        need_choice(self, "align_mode", 0, 1)
        if any(X.shape[axis] == 0 for axis in self.axes):
            raise ShapeError(f"expected images with elements, got X of shape {list(X.shape)}")
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
            if not self.scale < math.inf:
                raise AttributeValueError(f"expected a finite scale, got {self.scale:g}")
            sizes = self.scaled(X.shape, self.scale) if self.scale > 0 else self.asked
            if any(n < 1 for n in sizes if n != -1 or not self.scale > 0):
                names = ("out_d", "out_h", "out_w")[-self.rank :]
                listed = ", ".join(f"{name}={n}" for name, n in zip(names, self.asked))
                raise AttributeValueError(
                    f"expected sizes of at least 1, got {listed} and scale={self.scale:g}"
                )
        return X.with_shape(self.resized(X.shape, sizes))

    def scaled(self, shape: Shape, factor: float) -> list[int]:
        """Sizes times a factor, as far as they are known."""
        return [-1 if shape[a] == -1 else int(shape[a] * factor) for a in self.axes]

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
        if SizeTensor or OutSize is not None:
            sizes = numbers((), OutSize, SizeTensor)
        elif Scale is not None or self.scale > 0:
            factor = self.scale if Scale is None else Scale.reshape(()).item()
            if not 0 < factor < math.inf:
                raise AttributeValueError(f"expected a positive factor, got Scale {factor}")
            sizes = self.scaled(X.shape, factor)
        else:
            sizes = self.asked
        if len(sizes) != self.rank or min(sizes) < 1:
            raise AttributeValueError(
                f"expected {self.rank} sizes of at least 1, got {list(sizes)}"
            )
        return sizes

    def weights(self, shape: Shape, sizes: Sequence[int], dtype: Any) -> Iterator[Any]:
        """For each dimension that changes: which it is, and the operator that gives its weights."""
        for axis, size in zip(self.axes, sizes):
            yield (
                axis,
                dict(
                    old=shape[axis],
                    new=size,
                    method=self.method,
                    align_corners=self.align_corners,
                    align_mode=self.align_mode,
                    dtype=dtype,
                ),
            )

    def run(
        self, xp: Any, X: Array, OutSize: Array, SizeTensor: list[Array] | None, Scale: Array
    ) -> Array:
        out, sizes = X, self.sizes(X, OutSize, SizeTensor, Scale)
        if X.dtype == "uint8":
            return self.of_bytes(xp, X, sizes)
        for axis, attrs in self.weights(X.shape, sizes, X.dtype):
            weights = resize_weights(attrs).run(xp)
            lead, trail = math.prod(out.shape[:axis]), math.prod(out.shape[axis + 1 :])
            shape = (*out.shape[:axis], attrs["new"], *out.shape[axis + 1 :])
            if trail == 1:
                out = xp.matmul(xp.reshape(out, (lead, out.shape[axis])), weights.T)
            else:
                out = xp.matmul(weights, xp.reshape(out, (lead, out.shape[axis], trail)))
            out = xp.reshape(out, shape)
        return out

    def of_bytes(self, xp: Any, X: Any, sizes: Any) -> Any:
        """Out of whole numbers, which lose what is behind the point.

        Sums of single precision in fluid's order: where the true one is a whole number, they decide
        which one is kept.
        """
        places = []
        for axis, attrs in self.weights(X.shape, sizes, DType.FP32):
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
        return total.astype("uint8")

    def grad(self, f, X, dOut, OutSize=None, SizeTensor=None, Scale=None):
        def dx():
            """The products with the same matrices, turned over."""
            out, sizes = dOut, [dOut.shape[axis] for axis in self.axes]
            for axis, attrs in self.weights(X.shape, sizes, X.dtype):
                weights = f.resize_weights(**attrs)
                shape, lead = list(out.shape), math.prod(out.shape[:axis])
                out = f.reshape(out, shape=[lead, shape[axis], math.prod(shape[axis + 1 :])])
                out = f.matmul(weights, out, transpose_X=True)
                shape[axis] = attrs["old"]
                out = f.reshape(out, shape=shape)
            return out

        return dict(X=dx)


class bilinear_interp(Interpolation):
    """Out = X in another size, linear between neighbours in both dimensions."""

    method = "linear"


class trilinear_interp(Interpolation):
    """Out = X in another size, linear between neighbours in all three dimensions."""

    method = "linear"
    rank = 3


class nearest_interp(Interpolation):
    """Out = X in another size, each element that of its nearest neighbour."""

    method = "nearest"


class bicubic_interp(Interpolation):
    """Out = X in another size, cubic between four neighbours in both dimensions.

    (Keys, Cubic convolution interpolation for digital image processing, IEEE ASSP 1981.)
    """

    method = "cubic"
    takes_bytes = False


class resize_weights(Op):
    """Out = the weights of ``old`` elements in ``new`` ones: one row for each new one.

    old, new: how many there are.
    method: linear, cubic or nearest.
    align_corners: the centres of the outermost elements stay where they are.
    align_mode: 0 keeps the edges where they are, 1 those of smaller indices.
    dtype: the element type of Out.
    """

    signature = " -> Out"
    old: int = REQUIRED
    new: int = REQUIRED
    method: str = REQUIRED
    align_corners: bool = True
    align_mode: int = 1
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
