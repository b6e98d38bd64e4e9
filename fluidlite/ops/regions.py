"""Regions of images: which image each belongs to, and sums over its rows and columns by weights.

The sums are linear in three things: the image, the weights of rows and those of columns.  Their
adjoints close the family at every order.  The sequences of the regions tell where an image's are,
or a tensor does.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Detached, Op
from ..opdef.spec import Spec, need_integer


class rows_only(Op):
    """Out = X without its sequences."""

    signature = "X[] -> Out"
    lod: ClassVar[str | None] = None

    def run(self, xp: Any, X: Array) -> Array:
        return X.data if isinstance(X, LoDTensor) else X

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: dOut)


class roi_images(Detached):
    """Out = for each region the number of its image.

    ROIs: the regions; its sequences are those of the images, unless Offsets or Counts are given.
    Offsets: where the regions of each image begin, and where the last ones end.
    Counts: how many regions each image has.
    images: how many there are.
    """

    signature = "ROIs![], Offsets?!, Counts?! -> Out"
    images: int = REQUIRED

    def infer(self, ROIs: Spec, Offsets: Spec, Counts: Spec) -> Specs:
        need_integer(Offsets=Offsets, Counts=Counts)
        return ROIs.with_shape(ROIs.shape[:1]).with_dtype(DType.INT64)

    def run(self, xp: Any, ROIs: Array, Offsets: Array, Counts: Array) -> Array:
        count = len(ROIs)
        if Counts is not None:
            lengths = xp.reshape(Counts, -1)
        elif Offsets is not None:
            lengths = xp.diff(xp.reshape(Offsets, -1))
        elif isinstance(ROIs, LoDTensor) and ROIs.offsets:
            lengths = xp.diff(xp.asarray(ROIs.offsets[-1]))
        elif self.images == 1:
            lengths = xp.asarray([count])
        else:
            raise ShapeError(
                f"expected ROIs with a sequence for each of {self.images} images, got a tensor "
                f"without sequences"
            )
        if len(lengths) != self.images or lengths.min(initial=0) < 0 or lengths.sum() != count:
            raise ShapeError(
                f"expected {count} regions in {self.images} images, got "
                f"{[int(n) for n in lengths]} for each"
            )
        return xp.repeat(xp.arange(self.images, dtype="int64"), lengths)


class Blended(Op, abstract=True):
    """A map of sums over rows h and columns w of an image.

    Rows: weights of rows: [region, i, h].
    Columns: weights of columns: [region, j, w].
    Images: the number of the image of each region.
    by_place: channels are [channel, i, j], so that each place (i, j) has channels of its own.
    """

    by_place: bool = False

    def channels(self, count: int, Rows: Array, Columns: Array) -> int:
        """How many channels the regions of an image of ``count`` channels have."""
        if not self.by_place or -1 in (count, Rows.shape[1], Columns.shape[1]):
            return count if not self.by_place else -1
        return count // (Rows.shape[1] * Columns.shape[1])

    def by_places(self, xp: Any, x: Array, rows: Array, columns: Array) -> Array:
        """The channels of an image as [channel, i, j] where each place has its own."""
        places = rows.shape[0], columns.shape[0]
        return xp.reshape(x, (x.shape[0] // math.prod(places), *places, *x.shape[1:]))


class roi_blend(Blended):
    """Out[r, c, i, j] = the sum of Rows[r, i, h] * Columns[r, j, w] * X[Images[r], c, h, w]."""

    signature = "X, Rows, Columns, Images! -> Out"

    def infer(self, X: Spec, Rows: Spec, Columns: Spec, Images: Spec) -> Specs:
        channels = self.channels(X.shape[1], Rows, Columns)
        return X.with_shape([Rows.shape[0], channels, Rows.shape[1], Columns.shape[1]])

    def run(self, xp: Any, X: Array, Rows: Array, Columns: Array, Images: Array) -> Array:
        parts = []
        for rows, columns, image in zip(Rows, Columns, Images.tolist()):
            if self.by_place:
                x = self.by_places(xp, X[image], rows, columns)
                along = xp.einsum("cijhw,jw->cijh", x, columns)
                parts.append(xp.einsum("cijh,ih->cij", along, rows))
            else:
                parts.append(xp.matmul(xp.matmul(rows, X[image]), columns.T))
        if parts:
            return xp.stack(parts)
        channels = self.channels(X.shape[1], Rows, Columns)
        return xp.zeros((0, channels, Rows.shape[1], Columns.shape[1]), X.dtype)

    def grad(
        self, f: Any, X: Value, Rows: Value, Columns: Value, Images: Value, dOut: Value
    ) -> Rules:
        kind = dict(by_place=self.by_place)
        return dict(
            X=lambda: f.roi_blend_adjoint(dOut, Rows, Columns, Images, size=X.shape, **kind),
            Rows=lambda: f.roi_blend_rows(X, Columns, dOut, Images, **kind),
            Columns=lambda: self.columns(f, X, Rows, dOut, Images),
        )

    def columns(self, f: Any, X: Value, Rows: Value, G: Value, Images: Value) -> Value:
        """The cotangent of Columns: that of Rows of the image turned over."""
        return turned_rows(f, X, Rows, G, Images, self.by_place)


def turned_rows(f: Any, X: Value, Rows: Value, G: Value, Images: Value, by_place: bool) -> Value:
    """``roi_blend_rows`` with rows and columns exchanged."""
    turned = lambda v: f.transpose(v, axis=[0, 1, 3, 2])
    x = turned(X)
    if by_place:  # the channels are [channel, i, j]: exchange i and j there, too
        n, c, h, w = x.shape
        i, j = G.shape[2:]
        x = f.reshape(x, shape=[n, c // (i * j), i, j, h, w])
        x = f.reshape(f.transpose(x, axis=[0, 1, 3, 2, 4, 5]), shape=[n, c, h, w])
    return f.roi_blend_rows(x, Rows, turned(G), Images, by_place=by_place)


class roi_blend_adjoint(Blended):
    """Out = the map from roi_blend's Out to the cotangent of its X, at G.

    G: the cotangent of an Out.
    size: the shape of its X.
    """

    signature = "G, Rows, Columns, Images! -> Out"
    size: list[int] = REQUIRED

    def infer(self, G: Spec, Rows: Spec, Columns: Spec, Images: Spec) -> Specs:
        return G.with_shape(self.size)

    def run(self, xp: Any, G: Array, Rows: Array, Columns: Array, Images: Array) -> Array:
        out = xp.zeros(self.size, G.dtype)
        for g, rows, columns, image in zip(G, Rows, Columns, Images.tolist()):
            if self.by_place:
                part = xp.einsum("cijh,jw->cijhw", xp.einsum("ih,cij->cijh", rows, g), columns)
                part = xp.reshape(part, self.size[1:])
            else:
                part = xp.matmul(xp.matmul(rows.T, g), columns)
            out = xp.add_at(out, image, part)
        return out

    def grad(
        self, f: Any, G: Value, Rows: Value, Columns: Value, Images: Value, dOut: Value
    ) -> Rules:
        kind = dict(by_place=self.by_place)
        return dict(
            G=lambda: f.roi_blend(dOut, Rows, Columns, Images, **kind),
            Rows=lambda: f.roi_blend_rows(dOut, Columns, G, Images, **kind),
            Columns=lambda: turned_rows(f, dOut, Rows, G, Images, self.by_place),
        )


class roi_blend_rows(Blended):
    """Out = the map from roi_blend's Out to the cotangent of its Rows, at G.

    G: the cotangent of an Out.
    """

    signature = "X, Columns, G, Images! -> Out"

    def infer(self, X: Spec, Columns: Spec, G: Spec, Images: Spec) -> Specs:
        return X.with_shape([G.shape[0], G.shape[2], X.shape[2]])

    def run(self, xp: Any, X: Array, Columns: Array, G: Array, Images: Array) -> Array:
        parts = []
        for columns, g, image in zip(Columns, G, Images.tolist()):
            if self.by_place:
                x = self.by_places(xp, X[image], g[0], columns)
                along = xp.einsum("cijhw,jw->cijh", x, columns)
                parts.append(xp.einsum("cijh,cij->ih", along, g))
            else:
                spread = xp.matmul(g, columns)
                products = xp.matmul(spread, xp.swapaxes(X[image], 1, 2))
                parts.append(xp.sum(products, axis=0))
        shape = (0, G.shape[2], X.shape[2])
        return xp.stack(parts) if parts else xp.zeros(shape, X.dtype)

    def grad(self, f: Any, X: Value, Columns: Value, G: Value, Images: Value, dOut: Value) -> Rules:
        kind = dict(by_place=self.by_place)
        return dict(
            X=lambda: f.roi_blend_adjoint(G, dOut, Columns, Images, size=X.shape, **kind),
            Columns=lambda: turned_rows(f, X, dOut, G, Images, self.by_place),
            G=lambda: f.roi_blend(X, dOut, Columns, Images, **kind),
        )
