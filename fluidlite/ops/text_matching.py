"""Pairs of texts compared word by word: each pair is an image of its own size.

(Wan et al., Match-SRNN, IJCAI 2016.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, LoDError
from ..ground.values import bare, offsets_from
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value, Values
from ..opdef.attribute import REQUIRED, need_each, need_least
from ..opdef.definition import ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated
from ..opdef.sequences import lengths_of, lod_of, one_level_of, positions_in
from ..opdef.spec import Spec, need_float, need_ndim, need_shape, same_float


def lengths_in(**values: Any) -> list[Array]:
    """Lengths of the sequences of each value.

    Raises:
        LoDError: they are not equally many.
    """
    lengths = [lengths_of(one_level_of(value, slot)) for slot, value in values.items()]
    if len({len(each) for each in lengths}) > 1:
        listed = ", ".join(f"{n.tolist()} in {slot}" for slot, n in zip(values, lengths))
        raise LoDError(f"expected equally many sequences, got lengths {listed}")
    return lengths


class match_matrix_tensor(ValueShaped):
    """Out = for each pair of sequences and each of ``dim_t`` channels the products x W y of all
    their rows, the images one after the other.

    X: [N, D], in sequences of one level.
    Y: [M, E], in as many sequences.
    W: [D, dim_t, E].
    Tmp: the products x W.
    dim_t: how many channels there are.
    """

    signature = "X[], Y[], W -> Out, Tmp~"
    dim_t: int = 1
    fluid: ClassVar[FluidForm] = FluidForm(carried=("Tmp",))

    def infer(self, X: Spec, Y: Spec, W: Spec) -> Specs:
        same_float(X=X, Y=Y, W=W)
        need_ndim(2, X=X, Y=Y)
        need_ndim(3, W=W)
        wanted = (X.shape[1], self.dim_t, Y.shape[1])
        need_shape("W", W, wanted)
        out = X.with_shape([-1, 1])
        return out._replace(lod_level=1), out._replace(lod_level=0)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        x, y = lengths_in(X=ins["X"], Y=ins["Y"])
        return {"Out": (offsets_from(self.dim_t * x * y),)}

    def expand(self, f: Any, X: Value, Y: Value, W: Value) -> Values:
        x, y = lengths_in(X=X, Y=Y)
        d, t, e = W.shape
        left = f.matmul(f.bare_rows(X), f.reshape(W, shape=[d, t * e]))
        pair, place = positions_in(offsets_from(t * x * y))
        channel, place = np.divmod(place, (x * y)[pair])
        row, column = np.divmod(place, y[pair])
        row += np.asarray(lod_of(X)[0])[pair]
        column += np.asarray(lod_of(Y)[0])[pair]
        ones = f.take_rows(f.reshape(left, shape=[-1, e]), row * t + channel)
        products = f.elementwise_mul(ones, f.take_rows(Y, column))
        return f.reduce_sum(products, dim=[1], keep_dim=True), f.reshape(left, shape=[-1, 1])

    def run_numpy(self, xp: Any, X: Array, Y: Array, W: Array) -> Arrays:
        x, y = lengths_in(X=X, Y=Y)
        d, t, e = W.shape
        left = np.matmul(bare(X), W.reshape(d, t * e))
        here = np.arange(x.max(initial=0)) < x[:, None]
        there = np.arange(y.max(initial=0)) < y[:, None]
        padded = np.zeros((*here.shape, t, e), left.dtype)
        padded[here] = left.reshape(-1, t, e)
        others = np.zeros((*there.shape, e), left.dtype)
        others[there] = bare(Y)
        products = np.matmul(np.swapaxes(padded, 1, 2), np.swapaxes(others, 1, 2)[:, None])
        inside = (here[:, :, None] & there[:, None, :])[:, None]
        return products[np.broadcast_to(inside, products.shape)][:, None], left.reshape(-1, 1)

    def grad(self, f: Any, X: Value, Y: Value, W: Value, dOut: Value, dTmp: Value = None) -> Rules:
        return differentiated(f, self, dict(X=X, Y=Y, W=W, dOut=dOut, dTmp=dTmp))


class var_conv_2d(ValueShaped):
    """Out = the convolution of images that have sizes of their own, with zeros around them; W
    slides with its middle over all elements, or some of them.

    X: the images one after the other, each of InputChannel * height * width numbers, [N, 1] in
        sequences.
    ROW: in sequences as long as the images are high.
    COLUMN: in sequences as long as they are wide.
    W: [OutputChannel, InputChannel * KernelH * KernelW].
    Col: the windows: of each image those for an element of W in a row.
    InputChannel, OutputChannel: numbers of channels.
    KernelH, KernelW: height and width of a filter.
    StrideH, StrideW: the distances of windows.
    """

    signature = "X[], ROW![], COLUMN![], W -> Out, Col~"
    InputChannel: int = 1
    OutputChannel: int = 1
    StrideH: int = 1
    StrideW: int = 1
    KernelH: int = 1
    KernelW: int = 1
    fluid: ClassVar[FluidForm] = FluidForm(carried=("Out", "Col"))

    def infer(self, X: Spec, ROW: Spec, COLUMN: Spec, W: Spec) -> Specs:
        same_float(X=X, W=W)
        need_ndim(2, X=X, W=W)
        numbers = (self.StrideH, self.StrideW, self.KernelH, self.KernelW)
        if min(*numbers, self.InputChannel, self.OutputChannel) < 1:
            raise AttributeValueError("expected channels, kernels and strides of at least 1")
        wanted = (self.OutputChannel, self.InputChannel * self.KernelH * self.KernelW)
        need_shape("W", W, wanted)
        out = X.with_shape([-1, 1])._replace(lod_level=0)
        return out, out

    def _sizes(self, X, ROW, COLUMN):
        """Heights and widths of images, and of what becomes of them."""
        sizes, high, wide = lengths_in(X=X, ROW=ROW, COLUMN=COLUMN)
        if (sizes != self.InputChannel * high * wide).any():
            raise LoDError(
                f"expected sequences of X of {self.InputChannel} * height * width rows, "
                f"{(self.InputChannel * high * wide).tolist()}, got lengths {sizes.tolist()}"
            )
        out = ((high - 1) // self.StrideH + 1) * (wide > 0), (wide - 1) // self.StrideW + 1
        return high, wide, out[0] * (high > 0), out[1] * (wide > 0)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        _, _, high, wide = self._sizes(ins["X"], ins["ROW"], ins["COLUMN"])
        window = self.InputChannel * self.KernelH * self.KernelW
        return {
            "Out": (offsets_from(self.OutputChannel * high * wide),),
            "Col": (offsets_from(window * high * wide),),
        }

    def _index(self, X, ROW, COLUMN):
        """[windows, InputChannel * KernelH * KernelW]: numbers of rows of X, -1 outside; and how
        many windows each image has.
        """
        high, wide, down, beside = self._sizes(X, ROW, COLUMN)
        counts = down * beside
        image, place = positions_in(offsets_from(counts))
        top = place // np.maximum(beside, 1)[image] * self.StrideH - self.KernelH // 2
        left = place % np.maximum(beside, 1)[image] * self.StrideW - self.KernelW // 2
        rows = (top[:, None] + np.arange(self.KernelH))[:, None, :, None]
        columns = (left[:, None] + np.arange(self.KernelW))[:, None, None, :]
        height, width = (n[image][:, None, None, None] for n in (high, wide))
        begins = np.asarray(lod_of(X)[0])[image][:, None, None, None]
        planes = begins + np.arange(self.InputChannel)[:, None, None] * height * width
        there = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        index = np.where(there, planes + rows * width + columns, -1)
        return index.reshape(len(image), -1), counts

    def expand(self, f: Any, X: Value, ROW: Value, COLUMN: Value, W: Value) -> Values:
        index, counts = self._index(X, ROW, COLUMN)
        windows = f.take_rows(f.reshape(f.bare_rows(X), shape=[-1]), index.reshape(-1))
        windows = f.reshape(windows, shape=list(index.shape))
        out = f.matmul(windows, W, transpose_Y=True)
        return tuple(
            f.take_rows(f.reshape(each, shape=[-1, 1]), _turned(counts, each.shape[1]))
            for each in (out, windows)
        )

    def grad(
        self, f: Any, X: Value, ROW: Value, COLUMN: Value, W: Value, dOut: Value, dCol: Value = None
    ) -> Rules:
        given = dict(X=X, ROW=ROW, COLUMN=COLUMN, W=W, dOut=dOut, dCol=dCol)
        return differentiated(f, self, given)


def _turned(counts, width):
    """Where the numbers of matrices of ``counts`` rows and ``width`` columns lie when each of them
    is transposed.
    """
    number, place = positions_in(offsets_from(counts * width))
    column, row = np.divmod(place, np.maximum(counts, 1)[number])
    return (np.asarray(offsets_from(counts))[number] + row) * width + column


class sequence_topk_avg_pooling(ValueShaped):
    """Out = for each row of each image, and each channel, the means of its largest numbers.

    X: images of ``channel_num`` channels one after the other, [N, 1] in sequences.
    ROW: in sequences as long as the images are high.
    COLUMN: in sequences as long as they are wide.
    pos: the columns of the largest numbers, -1 where there are fewer.
    topks: how many numbers each mean is of; where a row has fewer, zeros are counted.
    channel_num: how many channels there are.
    """

    signature = "X[], ROW![], COLUMN![] -> Out, pos!~"
    topks: list[int] = REQUIRED
    channel_num: int = REQUIRED
    fluid: ClassVar[FluidForm] = FluidForm(carried=("pos",))

    def infer(self, X: Spec, ROW: Spec, COLUMN: Spec) -> Specs:
        need_float(X=X)
        need_each(self, None, 1, "topks")
        need_least(self, 1, "channel_num")
        out = X.with_shape([ROW.shape[0], self.channel_num * len(self.topks)])
        return out._replace(lod_level=ROW.lod_level), None

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": lod_of(ins["ROW"])}

    def expand(self, f: Any, X: Value, ROW: Value, COLUMN: Value) -> Values:
        sizes, high, wide = lengths_in(X=X, ROW=ROW, COLUMN=COLUMN)
        channels = self.channel_num
        if (sizes != channels * high * wide).any():
            raise LoDError(
                f"expected sequences of X of {channels} * height * width rows, "
                f"{(channels * high * wide).tolist()}, got lengths {sizes.tolist()}"
            )
        image, row = positions_in(offsets_from(high))
        planes = np.arange(channels) * high[image][:, None] + row[:, None]
        begins = np.asarray(lod_of(X)[0])[image][:, None] + planes * wide[image][:, None]
        begins, counts = begins.reshape(-1), np.repeat(wide[image], channels)
        numbers = f.reshape(f.bare_rows(X), shape=[-1])
        largest = f.segment_top(numbers, begins, counts, k=max(self.topks))
        shares = [[(k < n) / n for n in self.topks] for k in range(max(self.topks))]
        taken = f.reshape(f.take_rows(numbers, largest.reshape(-1)), shape=list(largest.shape))
        means = f.matmul(taken, np.array(shares, bare(X).dtype))
        pos = np.where(largest < 0, -1, largest - begins[:, None]).astype(np.int32)
        shape = [len(image), channels * len(self.topks)]
        return f.reshape(means, shape=shape), pos.reshape(-1)

    def grad(self, f: Any, X: Value, ROW: Value, COLUMN: Value, dOut: Value) -> Rules:
        return differentiated(f, self, dict(X=X, ROW=ROW, COLUMN=COLUMN, dOut=dOut))
