"""The loss of a transducer: labels written into steps, of which each may get several."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import NoGradientError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.definition import Op
from ..opdef.spec import Spec, agree, need_float, need_integer, need_ndim


class warprnnt(Op):
    """The negative logarithm of the probability of labels, over all ways to write them into the
    steps (Graves, Sequence transduction with recurrent neural networks, 2012).

    input: logarithms of probabilities, [batch, steps, width + 1, classes]: of what follows a step
        and the labels before.
    label: [batch, width].
    input_lengths, label_lengths: how many steps and labels of each row count, [batch].
    loss: [batch].
    warprnntgrad: the derivative of the sum of loss by input.
    blank: the class that leads to the next step.
    fastemit_lambda: by how much derivatives by labels are larger than those of loss (Yu et al.,
        FastEmit, 2021).
    """

    signature = "input, label!, input_lengths!, label_lengths! -> loss, warprnntgrad~"
    lod: ClassVar[str | None] = None
    host: ClassVar[bool] = True  # the kernel goes through steps and labels
    blank: int = 0
    fastemit_lambda: float = 0.0

    def infer(self, input: Spec, label: Spec, input_lengths: Spec, label_lengths: Spec) -> Specs:
        need_float(input=input)
        need_ndim(4, input=input)
        need_ndim(2, label=label)
        need_integer(label=label, input_lengths=input_lengths, label_lengths=label_lengths)
        width = label.shape[1]
        if not agree(input.shape[2], -1 if width == -1 else width + 1):
            raise ShapeError(
                f"expected label of shape [batch, {input.shape[2] - 1}] for input of shape "
                f"{list(input.shape)}, got {list(label.shape)}"
            )
        return input.with_shape(input.shape[:1]), input

    def run(
        self, xp: Any, input: Array, label: Array, input_lengths: Array, label_lengths: Array
    ) -> Arrays:
        loss = np.zeros(len(input), input.dtype)
        slopes = np.zeros_like(input)
        xp.in_range(np.asarray(input_lengths) - 1, input.shape[1], "input_lengths - 1")
        xp.in_range(np.asarray(label_lengths), input.shape[2], "label_lengths")
        xp.in_range(np.asarray(label), input.shape[3], "label")
        for row, (steps, width) in enumerate(zip(input_lengths.ravel(), label_lengths.ravel())):
            part = input[row, :steps, : width + 1].astype("float64")
            labels = label[row, :width].astype("int64")
            loss[row], slopes[row, :steps, : width + 1] = self.of_row(part, labels)
        return loss, slopes

    def of_row(self, part: Array, labels: Array) -> tuple[float, Array]:
        """The loss of a row, and its derivative by the logarithms ``part`` [steps, width + 1,
        classes].
        """
        steps, nodes = part.shape[:2]
        waits = part[:, :, self.blank]
        writes = np.full((steps, nodes), -np.inf)  # nothing follows the last label
        writes[:, :-1] = part[:, np.arange(nodes - 1), labels]
        before, behind = np.full((2, steps + 1, nodes + 1), -np.inf)
        before[0, 0] = 0.0
        behind[steps, nodes - 1] = 0.0
        for t, u in np.ndindex(steps, nodes):
            if t:
                before[t, u] = np.logaddexp(before[t, u], before[t - 1, u] + waits[t - 1, u])
            if u:
                before[t, u] = np.logaddexp(before[t, u], before[t, u - 1] + writes[t, u - 1])
            s, v = steps - 1 - t, nodes - 1 - u
            by_waiting = behind[s + 1, v] + waits[s, v]
            behind[s, v] = np.logaddexp(by_waiting, behind[s, v + 1] + writes[s, v])
        total = behind[0, 0]
        here = before[:-1, :-1] - total
        slopes = np.zeros_like(part)
        slopes[:, :, self.blank] = -np.exp(here + waits + behind[1:, :-1])
        written = -np.exp(here + writes + behind[:-1, 1:])[:, :-1] * (1 + self.fastemit_lambda)
        slopes[:, np.arange(nodes - 1), labels] += written  # each node has a label of its own
        return -total, slopes

    def grad(
        self, f: Any, input: Value, warprnntgrad: Value, dloss: Value, dwarprnntgrad: Value = None
    ) -> Rules:
        if dwarprnntgrad is not None:
            raise NoGradientError(
                "warprnnt has no second derivative, since paddle's gradient operator has no "
                "labels; nn.functional.rnnt_loss has one"
            )
        return dict(input=lambda: f.elementwise_mul(warprnntgrad, dloss, axis=0))
