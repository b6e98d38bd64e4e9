"""Labels without known places: how likely they are, whichever row stands for which label."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import AttributeValueError, DTypeError, LoDError, OutOfRangeError, ShapeError
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value, Values
from ..opdef.definition import Op, ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated, differentiated_as, pulled_through
from ..opdef.sequences import lengths_of, lod_of, offsets_of, padded_lengths, positions_in
from ..opdef.spec import Spec, agree, need_float, need_integer, need_ndim
from .ctc_steps import CTCSteps
from .time_order import TimeOrder, time_order

_NEVER = -1e30  #: a logarithm of nearly nothing, with which one can still compute


class Texts(NamedTuple):
    """Rows of scores and the texts that they stand for; only those texts that fit."""

    count: int  #: of all texts
    chosen: Any  #: numbers of the texts that fit their rows
    longest: int  #: the most rows of a text
    lengths: Any  #: rows of each chosen text
    rows: Any  #: numbers of the rows of scores, text by text
    order: TimeOrder  #: of these rows
    extended: Any  #: for each chosen text its labels with blanks around them, then blanks
    last: Any  #: for each chosen text the place of its last blank there
    all_fit: bool  #: whether no text has more labels than its rows can hold

    @property
    def by_steps(self) -> Any:
        """The numbers of the rows, ordered by steps."""
        return self.rows[self.order.rows]

    @property
    def text_of_row(self) -> Any:
        """Of each row by steps, its text among the chosen ones."""
        return positions_in(offsets_from(self.lengths))[0][self.order.rows]

    @property
    def ends(self) -> Any:
        """Of each chosen text, its last row by steps."""
        return self.order.back[np.cumsum(self.lengths) - 1]

    @property
    def places(self) -> Any:
        """Of each row by steps, its step."""
        counts = np.diff(self.order.starts)
        return np.repeat(np.arange(len(counts)), counts)

    def is_real(self) -> Any:
        """Which places in ``extended`` belong to the text."""
        return np.arange(self.extended.shape[1]) <= self.last[:, None]

    def is_skipped(self, blank: int) -> Any:
        """Behind which places in ``extended`` the blank may be left out: two labels differ."""
        found = np.zeros(self.extended.shape, bool)
        found[:, 2:] = self.extended[:, 2:] != self.extended[:, :-2]
        return found & (self.extended != blank)


class warpctc(ValueShaped):
    """Loss = -log of the sum of the probabilities of all ways to write Label into the rows of
    Logits, with blanks between and labels repeated: connectionist temporal classification.

    The probabilities of a row are softmax(Logits).  Texts that have more labels than rows can hold
    count nothing: their loss and their gradient are 0, as in fluid.

    (Graves et al., Connectionist temporal classification: labelling unsegmented sequence data with
    recurrent neural networks, ICML 2006.)

    Logits: sequences of rows, [n, labels], the blank among them; or padded, with steps first,
        [steps, texts, labels].
    Label: sequences of shape [n, 1]; or padded, [texts, width].
    LogitsLength, LabelLength: how many rows and labels of each padded text count, [texts].
    WarpCTCGrad: the gradient of Logits where a 1 flows to each Loss, [steps, texts, labels].
    Loss: [texts, 1].
    blank: the label that stands for none.
    norm_by_times: whether gradients are divided by the number of rows; the loss is not.
    """

    signature = "Logits[], Label![], LogitsLength?!, LabelLength?! -> WarpCTCGrad~, Loss"
    fluid: ClassVar[FluidForm] = FluidForm(only_here=("LabelLength",))
    blank: int = 0
    norm_by_times: bool = False
    per_sequence: ClassVar[tuple[str, ...]] = ("Loss",)

    def infer(self, Logits: Spec, Label: Spec, LogitsLength: Spec, LabelLength: Spec) -> Specs:
        need_float(Logits=Logits)
        need_integer(Label=Label, LogitsLength=LogitsLength, LabelLength=LabelLength)
        if (LogitsLength is None) != (LabelLength is None):
            missing = "LogitsLength" if LogitsLength is None else "LabelLength"
            raise ShapeError(f"expected lengths of logits and of labels, or none; no {missing}")
        need_ndim(2 if LogitsLength is None else 3, Logits=Logits)
        need_ndim(2, Label=Label)
        classes = Logits.shape[-1]
        if self.blank < 0 or (classes != -1 and self.blank >= classes):
            raise AttributeValueError(
                f"expected blank in [0, {classes}), the columns of Logits, got {self.blank}"
            )
        texts = -1
        if LogitsLength is not None:
            texts = Logits.shape[1]
            if not agree(texts, Label.shape[0]):
                raise ShapeError(
                    f"expected as many texts in Label as in Logits [steps, texts, labels], got "
                    f"{list(Label.shape)} and {list(Logits.shape)}"
                )
        elif not agree(Label.shape[1], 1):
            raise ShapeError(f"expected Label of shape [n, 1], got {list(Label.shape)}")
        like = Logits._replace(lod_level=0)
        return like.with_shape([-1, texts, classes]), like.with_shape([-1, 1])

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {}

    def texts(self, Logits, Label, LogitsLength, LabelLength):
        """Rows of scores and the texts that they stand for.

        Raises:
            LoDError: there are not as many sequences in Label as in Logits, or none.
            ShapeError: there are not as many lengths as texts.
            OutOfRangeError: a label, or a length, is outside of what there is.
        """
        scores, labels = bare(Logits), np.asarray(bare(Label))
        if LogitsLength is None:
            offsets = offsets_of(Logits, "Logits")
            of_labels = offsets_of(Label, "Label")
            if len(offsets) != len(of_labels):
                raise LoDError(
                    f"expected as many sequences in Label as in Logits, got {len(of_labels) - 1} "
                    f"and {len(offsets) - 1}"
                )
            many, wide = lengths_of(offsets), lengths_of(of_labels)
            begins, stride = np.asarray(offsets[:-1]), 1
            padded = np.full((len(wide), wide.max(initial=0)), self.blank, np.int64)
            padded[positions_in(of_labels)] = labels.reshape(-1)
        else:
            begins, stride = np.arange(scores.shape[1]), scores.shape[1]
            many = padded_lengths(LogitsLength, scores.shape[1], scores.shape[0], "LogitsLength")
            wide = padded_lengths(LabelLength, *labels.shape, "LabelLength")
            padded = labels.astype(np.int64)
        there = np.arange(padded.shape[1]) < wide[:, None]
        self._check_labels(padded, there, scores.shape[-1])
        repeated = (padded[:, 1:] == padded[:, :-1]) & there[:, 1:]
        fits = wide + repeated.sum(axis=1) <= many
        chosen = np.flatnonzero(fits & (many > 0))
        lengths, last = many[chosen], 2 * wide[chosen]
        extended = np.full((len(chosen), 1 + last.max(initial=0)), self.blank)
        width = extended.shape[1] // 2
        extended[:, 1::2] = np.where(there, padded, self.blank)[chosen, :width]
        compact = offsets_from(lengths)
        number, place = positions_in(compact)
        rows = begins[chosen][number] + place * stride
        longest = int(many.max(initial=0))
        order = time_order(compact)
        return Texts(
            len(many), chosen, longest, lengths, rows, order, extended, last, bool(fits.all())
        )

    def _check_labels(self, labels, there, classes):
        wrong = there & ((labels < 0) | (labels >= classes))
        if wrong.any():
            text, at = np.argwhere(wrong)[0]
            raise OutOfRangeError(
                f"expected labels in [0, {classes}), the columns of Logits, got "
                f"{int(labels[text, at])} in text {int(text)} of Label"
            )

    def expand(
        self, f: Any, Logits: Value, Label: Value, LogitsLength: Value, LabelLength: Value
    ) -> Values:
        texts = self.texts(Logits, Label, LogitsLength, LabelLength)
        scores = f.bare_rows(Logits)
        classes = scores.shape[-1]
        flat = f.reshape(scores, shape=[-1, classes])

        def loss():
            if not len(texts.chosen):
                return f.take_rows(
                    f.slice(flat, axes=[1], starts=[0], ends=[1]), np.full(texts.count, -1)
                )
            cost = self.costs(f, texts, flat, classes)
            losses = f.add_rows(texts.chosen, f.reshape(cost, shape=[-1, 1]), size=texts.count)
            if not self.norm_by_times:
                return losses
            share = np.ones((texts.count, 1), scores.dtype)
            share[texts.chosen, 0] = 1 / texts.lengths
            return f.scale_gradient(losses, share)

        def gradient():
            ins = dict(
                Logits=Logits, Label=Label, LogitsLength=LogitsLength, LabelLength=LabelLength
            )
            ones = np.ones((texts.count, 1), scores.dtype)
            plain = warpctc({"blank": self.blank})
            pulled = differentiated(f, plain, ins | dict(dLoss=ones))["Logits"]()
            pulled = f.reshape(f.bare_rows(pulled), shape=[-1, classes])
            numbers = np.full(texts.longest * texts.count, -1)
            numbers[texts.places * texts.count + texts.chosen[texts.text_of_row]] = texts.by_steps
            found = f.take_rows(pulled, numbers)
            return f.reshape(found, shape=[texts.longest, texts.count, classes])

        return {"WarpCTCGrad": gradient, "Loss": loss}

    def costs(self, f: Any, texts: Any, flat: Any, classes: int) -> Any:
        """The loss of each chosen text, by logarithms of sums over all ways (Graves et al., 4.1).

        Args:
            flat: rows of scores.
        """
        order, width = texts.order, texts.extended.shape[1]
        numbers, kind = texts.text_of_row, flat.dtype
        x = f.take_rows(flat, texts.by_steps)
        x = f.elementwise_sub(x, _log_sum(f, x, 1), axis=0)
        cells = np.arange(len(order.rows))[:, None] * classes + texts.extended[numbers]
        x = f.take_rows(f.reshape(x, shape=[-1, 1]), cells.reshape(-1))
        x = f.reshape(x, shape=[-1, width])
        x = x + np.where(texts.is_real(), 0, _NEVER)[numbers].astype(kind)
        skips = np.where(texts.is_skipped(self.blank), 0, _NEVER)[order.order].astype(kind)
        begin = np.where(np.arange(width) < 2, 0, _NEVER).astype(kind)
        rows = lambda v, a, b: f.slice(v, axes=[0], starts=[a], ends=[b])
        sums: list[Any] = []
        for a, b in order.steps:
            n, now = b - a, rows(x, a, b)
            if not sums:
                sums.append(now + np.broadcast_to(begin, (n, width)))
                continue
            before = rows(sums[-1], 0, n)
            ways = [before]
            for by in (1, 2)[: width - 1]:
                start = np.full((n, by), _NEVER, kind)
                kept = f.slice(before, axes=[1], starts=[0], ends=[width - by])
                ways.append(f.concat([start, kept], axis=1))
            if len(ways) > 2:
                ways[2] = ways[2] + skips[:n]
            ways = [f.reshape(way, shape=[n, width, 1]) for way in ways]
            both = _log_sum(f, f.concat(ways, axis=2), 2)
            sums.append(now + both)
        cells = f.reshape(f.concat(sums, axis=0), shape=[-1, 1])
        at = texts.ends * width + texts.last
        ends = np.stack([at, np.where(texts.last > 0, at - 1, -1)], axis=1).reshape(-1)
        last = f.reshape(f.take_rows(cells, ends), shape=[-1, 2])
        last = last + np.where(ends < 0, _NEVER, 0).reshape(-1, 2).astype(kind)
        return f.scale(_log_sum(f, last, 1), scale=-1.0)

    def run_numpy(
        self, xp: Any, Logits: Array, Label: Array, LogitsLength: Array, LabelLength: Array
    ) -> Arrays:
        texts = self.texts(Logits, Label, LogitsLength, LabelLength)
        if not texts.all_fit:
            warnings.warn(
                "warpctc: Label has texts with more labels than their rows of Logits can hold (a "
                "repeated label takes one more): their loss is 0, and nothing is learnt from them",
                UserWarning,
                stacklevel=2,
            )
        scores = bare(Logits)
        classes = scores.shape[-1]
        gradient = np.zeros((texts.longest * texts.count, classes), scores.dtype)
        loss = np.zeros((texts.count, 1), scores.dtype)
        if len(texts.chosen):
            steps = CTCSteps(texts, scores.reshape(-1, classes), self.blank)
            text, place = positions_in(offsets_from(texts.lengths))
            numbers = place * texts.count + texts.chosen[text]
            loss[texts.chosen, 0], gradient[numbers] = steps.costs(), steps.gradient()
        return gradient.reshape(texts.longest, texts.count, classes), loss

    def grad_numpy(
        self,
        xp,
        Logits,
        LogitsLength,
        WarpCTCGrad,
        dLoss,
        dWarpCTCGrad=None,
        Label=None,
        LabelLength=None,
    ):
        if dWarpCTCGrad is not None:
            given = dict(Logits=Logits, Label=Label, dLoss=dLoss, dWarpCTCGrad=dWarpCTCGrad)
            given |= dict(LogitsLength=LogitsLength, LabelLength=LabelLength)
            return pulled_through(self, xp, given)
        flow = dLoss.reshape(-1, 1)
        if LogitsLength is None:
            offsets = lod_of(Logits)[-1]
            number, place = positions_in(offsets)
            if self.norm_by_times:
                flow = flow / np.maximum(lengths_of(offsets), 1)[:, None].astype(flow.dtype)
            gradient = WarpCTCGrad[place, number]
            gradient *= flow[number]
            return {"Logits": LoDTensor(gradient, Logits.offsets)}
        if self.norm_by_times:
            lengths = np.asarray(LogitsLength).reshape(-1, 1)
            flow = flow / np.maximum(lengths, 1).astype(flow.dtype)
        gradient = np.zeros_like(bare(Logits))
        np.multiply(WarpCTCGrad, flow, out=gradient[: len(WarpCTCGrad)])
        return {"Logits": gradient}

    grad = differentiated_as(grad_numpy)


class scale_gradient(Op):
    """Out = X; what flows back is multiplied by Scale."""

    signature = "X, Scale! -> Out"

    def infer(self, X: Spec, Scale: Spec) -> Specs:
        if X.dtype != Scale.dtype:
            raise DTypeError(f"expected Scale of {X.dtype}, as X, got {Scale.dtype}")
        return X

    def run(self, xp: Any, X: Array, Scale: Array) -> Array:
        return X

    def grad(self, f: Any, Scale: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * Scale)


def _log_sum(f, x, axis):
    """The logarithm of the sum of exp(x) along the last axis."""
    most = f.reduce_max(x, dim=[axis], keep_dim=True)
    shape = list(x.shape[:axis])
    total = f.reduce_sum(f.exp(f.elementwise_sub(x, most)), dim=[axis])
    return f.log(f.reshape(total, shape=shape)) + f.reshape(most, shape=shape)
