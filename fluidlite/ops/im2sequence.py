"""Windows of images as rows of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..ground.values import offsets_from
from ..opdef.annotations import Array, Arrays, Value
from ..opdef.attribute import REQUIRED
from ..opdef.definition import ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated_as
from ..opdef.sequences import positions_in
from ..opdef.spec import Spec, need_ndim, need_shape, size_of


class im2sequence(ValueShaped):
    """Out = the windows of each image of X, row by row, as a sequence of rows.

    X: [N, C, H, W].
    Y: the sizes that each image has before it is scaled down to a part of X, [N, 2]; windows beyond
        them are left out.
    kernels: height and width of a window.
    strides: the distances of windows.
    paddings: zeros above, on the left, below and on the right.
    out_stride: what the sizes in Y are divided by.
    """

    signature = "X, Y?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(only_here=("Y",))
    kernels: list[int] = REQUIRED
    strides: list[int] = (1, 1)
    paddings: list[int] = (0, 0, 0, 0)
    out_stride: list[int] = (1, 1)

    def infer(self, X: Spec, Y: Spec | None) -> Spec:
        need_ndim(4, X=X)
        lengths = [len(self.kernels), len(self.strides), len(self.paddings), len(self.out_stride)]
        numbers = [*self.kernels, *self.strides, *self.out_stride]
        if lengths != [2, 2, 4, 2] or min(numbers) < 1 or min(self.paddings) < 0:
            raise AttributeValueError(
                f"expected kernels, strides and out_stride of 2 numbers of at least 1, and 4 "
                f"paddings, got {list(self.kernels)}, {list(self.strides)}, "
                f"{list(self.out_stride)} and {list(self.paddings)}"
            )
        need_shape("Y", Y, (-1, 2))
        if -1 not in X.shape[2:] and min(self._counts(np.array([X.shape[2:]]))[0]) < 1:
            raise ShapeError(
                f"expected windows of {list(self.kernels)} to fit into the images, got X of shape "
                f"{list(X.shape)}"
            )
        width = size_of([X.shape[1], *self.kernels])
        return X.with_shape([-1, width])._replace(lod_level=1)

    def _counts(self, sizes):
        """How many windows there are below and beside each other, for images of sizes [N, 2]."""
        up, left, down, right = self.paddings
        room = sizes + np.array([up + down, left + right]) - np.array(self.kernels)
        return room // np.array(self.strides) + 1

    def _windows(self, X, Y):
        """How many windows each image has, [N, 2]."""
        if Y is None:
            return np.repeat(self._counts(np.array([X.shape[2:]])), X.shape[0], axis=0)
        sizes = -(-np.asarray(Y).astype(np.int64) // np.array(self.out_stride))
        return np.maximum(self._counts(sizes), 0)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": (offsets_from(self._windows(ins["X"], ins.get("Y")).prod(axis=1)),)}

    def _index(self, X, Y):
        """[rows, C * height * width]: the numbers of elements of X, -1 outside of the image."""
        _, channels, height, width = X.shape
        windows = self._windows(X, Y)
        image, place = positions_in(offsets_from(windows.prod(axis=1)))
        beside = windows[image, 1]
        top = place // beside * self.strides[0] - self.paddings[0]
        left = place % beside * self.strides[1] - self.paddings[1]
        rows = (top[:, None] + np.arange(self.kernels[0]))[:, None, :, None]
        columns = (left[:, None] + np.arange(self.kernels[1]))[:, None, None, :]
        planes = (image[:, None] * channels + np.arange(channels))[:, :, None, None]
        there = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        index = np.where(there, (planes * height + rows) * width + columns, -1)
        return index.reshape(len(image), -1)

    def expand(self, f: Any, X: Value, Y: Value) -> Value:
        index = self._index(X, Y)
        taken = f.take_rows(f.reshape(X, shape=[-1]), index.reshape(-1))
        return f.reshape(taken, shape=list(index.shape))

    def grad_numpy(self, xp: Any, X: Array, dOut: Array, Y: Array = None) -> Arrays:
        index = self._index(X, Y).reshape(-1) + 1
        sums = np.bincount(index, dOut.reshape(-1), X.size + 1)[1:]
        return dict(X=sums.astype(X.dtype).reshape(X.shape))

    grad = differentiated_as(grad_numpy)
