"""The loss of a transducer: labels written into steps, of which each may get several."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import DTypeError, ShapeError
from ..ground.dtypes import DType, as_dtype
from ..opdef.annotations import Array, Specs, Value, Values
from ..opdef.attribute import REQUIRED, Double
from ..opdef.definition import Detached, Op
from ..opdef.spec import Spec, agree, need_float, need_integer, need_ndim, need_shape, spec

NEVER = -1e30  #: the logarithm of the probability of what does not happen


class warprnnt(Op):
    """loss = minus the logarithm of the probability of all ways to write labels into steps (Graves,
    Sequence transduction with recurrent neural networks, arXiv 1211.3711).

    input: logarithms of probabilities, [N, steps, width + 1, classes]: of what follows a step and
        the labels before.
    label: [N, width], int32.
    input_lengths, label_lengths: how many steps and labels of each row count, [N], int32.
    loss: [N].
    warprnntgrad: not computed.
    blank: the class that leads to the next step.
    fastemit_lambda: by how much gradients of labels are larger than those of the loss (Yu et al.,
        FastEmit, ICASSP 2021).
    """

    signature = "input, label!, input_lengths!, label_lengths! -> loss, warprnntgrad?!~"
    lod: ClassVar[str | None] = None
    blank: int = 0
    fastemit_lambda: Double = 0.0

    def infer(self, input: Spec, label: Spec, input_lengths: Spec, label_lengths: Spec) -> Specs:
        need_float(input=input)
        need_ndim(4, input=input)
        integers = dict(label=label, input_lengths=input_lengths, label_lengths=label_lengths)
        for name, each in integers.items():
            if each.dtype is not DType.INT32:
                raise DTypeError(f"expected {name} of type int32, got {each.dtype}")
        rows, steps, nodes, classes = input.shape
        if 0 in (steps, nodes, classes):
            raise ShapeError(
                f"expected input of shape [N, steps, width + 1, classes], got {list(input.shape)}"
            )
        need_ndim(2, label=label)
        if nodes != -1 and not agree(label.shape[1], nodes - 1):
            raise ShapeError(
                f"expected label of shape [{rows}, {nodes - 1}], got {list(label.shape)}"
            )
        return input.with_shape([rows]), None

    def expand(
        self, f: Any, input: Value, label: Value, input_lengths: Value, label_lengths: Value
    ) -> Values:
        rows, steps, nodes, _ = input.shape
        dtype = as_dtype(input.dtype)
        waits = f.slice(input, axes=[3], starts=[self.blank], ends=[self.blank + 1])
        waits = f.reshape(waits, shape=[rows, steps, nodes])
        diagonals = steps + nodes - 1
        waited = by_diagonals(f, waits)
        written = None
        if nodes > 1:
            flat = f.slice(input, axes=[2], starts=[0], ends=[nodes - 1])
            places = f.reshape(label, shape=[rows, 1, nodes - 1, 1])
            places = f.cast(places, in_dtype=DType.INT32, out_dtype=DType.INT64)
            wide = f.expand(places, expand_times=[1, steps, 1, 1])
            writes = f.reshape(f.take_along(flat, wide, axis=3), shape=[rows, steps, nodes - 1])
            if self.fastemit_lambda:
                more = dict(dtype=dtype, value=1.0 + self.fastemit_lambda)
                writes = f.scale_gradient(writes, f.fill_constant(shape=[1], **more))
            last = f.fill_constant(shape=[rows, steps, 1], dtype=dtype, value=0.0)
            written = by_diagonals(f, f.concat([writes, last], axis=2))
        first = f.diagonal_starts(nodes=nodes, dtype=dtype)
        before = [f.expand(first, expand_times=[rows, 1])]
        never = f.fill_constant(shape=[rows, 1], dtype=dtype, value=NEVER)
        for n in range(1, diagonals):
            by_waiting = before[-1] + row_of(f, waited, n - 1)
            if written is None:
                before.append(by_waiting)
                continue
            by_writing = before[-1] + row_of(f, written, n - 1)
            by_writing = f.slice(by_writing, axes=[1], starts=[0], ends=[nodes - 1])
            by_writing = f.concat([never, by_writing], axis=1)
            before.append(log_of_both(f, by_waiting, by_writing))
        lengths = [
            f.cast(f.reshape(v, shape=[rows, 1]), in_dtype=DType.INT32, out_dtype=DType.INT64)
            for v in (input_lengths, label_lengths)
        ]
        ends = f.last_nodes(*lengths, steps=steps, nodes=nodes)
        sums = f.reshape(f.stack(before, axis=1) + waited, shape=[rows, diagonals * nodes])
        loss = f.take_along(sums, ends, axis=1)
        return f.scale(f.reshape(loss, shape=[rows]), scale=-1.0), None


def row_of(f: Any, x: Value, n: int) -> Value:
    """The n-th diagonal of all."""
    part = f.slice(x, axes=[1], starts=[n], ends=[n + 1])
    return f.reshape(part, shape=[x.shape[0], x.shape[2]])


def by_diagonals(f: Any, x: Value) -> Value:
    """[N, steps, nodes] as [N, diagonals, nodes]: diagonal n has the nodes of t steps and u labels
    with n = t + u, by their u; never, where there are none.
    """
    rows, steps, nodes = x.shape
    # a row of steps + nodes - 1 places for each node, moved on by one place each time
    padded = f.pad(f.transpose(x, axis=[0, 2, 1]), paddings=[0, 0, 0, 0, 0, nodes], pad_value=NEVER)
    flat = f.reshape(padded, shape=[rows, nodes * (steps + nodes)])
    moved = f.slice(flat, axes=[1], starts=[0], ends=[nodes * (steps + nodes - 1)])
    skewed = f.reshape(moved, shape=[rows, nodes, steps + nodes - 1])
    return f.transpose(skewed, axis=[0, 2, 1])


def log_of_both(f: Any, x: Value, y: Value) -> Value:
    """The logarithm of exp(x) + exp(y)."""
    most = f.elementwise_max(x, y)
    return most + f.log1p(f.exp(f.scale(f.abs(x - y), scale=-1.0)))


class diagonal_starts(Detached):
    """Out = what may happen before the first diagonal: 0 for no label, and never for others.

    nodes: how many there are.
    dtype: the element type.
    """

    signature = "-> Out"
    nodes: int = REQUIRED
    dtype: DType = DType.FP32

    def infer(self) -> Specs:
        return spec([1, self.nodes], self.dtype)

    def run(self, xp: Any) -> Array:
        return xp.asarray(xp.where(xp.arange(self.nodes) == 0, 0.0, NEVER), self.dtype.dtype)[None]


class last_nodes(Detached):
    """Out = where the last node of each row is in all diagonals, one behind the other.

    X, Y: how many steps and labels of each row count, [N, 1].
    steps, nodes: how many there are.
    """

    signature = "X, Y -> Out"
    steps: int = REQUIRED
    nodes: int = REQUIRED

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_integer(X=X, Y=Y)
        need_shape("Y", Y, X.shape, "as X")
        return X

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        steps = xp.in_range(X - 1, self.steps, "a length of input_lengths, less one")
        labels = xp.in_range(Y, self.nodes, "label_lengths")
        return (steps + labels) * self.nodes + labels
