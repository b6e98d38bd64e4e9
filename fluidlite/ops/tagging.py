"""How good tags and classes are that a model found, counted over a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED, need_choice, need_least
from ..opdef.definition import Detached
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.sequences import lengths_text, lod_of, offsets_of, padded_lengths
from ..opdef.signature import Signature, Slot
from ..opdef.spec import (
    Spec,
    agree,
    need_float,
    need_integer,
    need_shape,
    same_dtype,
    size_of,
    spec,
)


class Scheme(NamedTuple):
    """Which tag means the beginning, the inside, the end and the whole of a chunk; -1 for none."""

    count: int
    begin: int = -1
    inside: int = -1
    end: int = -1
    single: int = -1


SCHEMES = {
    "IOB": Scheme(2, begin=0, inside=1),
    "IOE": Scheme(2, inside=0, end=1),
    "IOBES": Scheme(4, begin=0, inside=1, end=2, single=3),
    "plain": Scheme(1),
}


class chunk_eval(WarnsOfInput, Detached):
    """Precision, Recall, F1-Score = how many of the chunks that tags make are right.

    A chunk is right if it begins, ends and is of the type as one of the labels' (Tjong Kim Sang and
    Buchholz, Introduction to the CoNLL-2000 shared task: chunking, CoNLL 2000).

    Inference, Label: tags found and right ones: type * tags of the scheme + tag, or types * tags
        outside of chunks; sequences, [rows, 1], or padded, [n, width] or [n, width, 1].
    SeqLength: how many tags of each padded row count.
    Precision, Recall, F1-Score: 0 where there is nothing to divide by.
    NumInferChunks, NumLabelChunks, NumCorrectChunks: how many chunks there are in Inference, in
        Label, and in both.
    num_chunk_types: how many types of chunks there are.
    chunk_scheme: IOB (the tags of a type are begin, inside), IOE (inside, end), IOBES (begin,
        inside, end, single) or plain (one tag).
    excluded_chunk_types: types that are not counted.
    """

    signature = Signature(
        (
            Slot("Inference", constant=True, ragged=True),
            Slot("Label", constant=True, ragged=True),
            Slot("SeqLength", optional=True, constant=True),
        ),
        tuple(
            map(
                Slot,
                (
                    "Precision",
                    "Recall",
                    "F1-Score",
                    "NumInferChunks",
                    "NumLabelChunks",
                    "NumCorrectChunks",
                ),
            )
        ),
    )
    num_chunk_types: int = REQUIRED
    chunk_scheme: str = "IOB"
    excluded_chunk_types: list[int] = ()

    def infer(self, Inference: Spec, Label: Spec, SeqLength: Spec) -> Specs:
        need_integer(Inference=Inference, Label=Label, SeqLength=SeqLength)
        need_choice(self, "chunk_scheme", *SCHEMES)
        need_least(self, 1, "num_chunk_types")
        same = Inference.ndim == Label.ndim and all(map(agree, Inference.shape, Label.shape))
        if not same or Inference.ndim == 0:
            raise ShapeError(
                f"expected as many tags in Inference as in Label, got shapes "
                f"{list(Inference.shape)} and {list(Label.shape)}"
            )
        if SeqLength is not None:
            if Label.ndim != 2 and not (Label.ndim == 3 and agree(Label.shape[2], 1)):
                raise ShapeError(
                    f"expected padded tags of shape [n, width] beside SeqLength, got "
                    f"{list(Label.shape)}"
                )
        elif not agree(size_of(Label.shape[1:]), 1):
            raise ShapeError(
                f"expected sequences of shape [rows, 1], or padded tags with SeqLength, got shape "
                f"{list(Label.shape)}"
            )
        return (*[spec([1], DType.FP32)] * 3, *[spec([1], DType.INT64)] * 3)

    def run(self, xp: Any, Inference: Array, Label: Array, SeqLength: Array) -> Arrays:
        predicted, first = self.texts(xp, Inference, SeqLength, "Inference")
        wanted, same = self.texts(xp, Label, SeqLength, "Label")
        if first.shape != same.shape or (first != same).any():
            pairs = (("Inference", Inference), ("Label", Label))
            lengths = " and ".join(f"{lengths_text(lod_of(x))} in {slot}" for slot, x in pairs)
            raise ShapeError(f"expected sequences of the same lengths, got {lengths}")
        mine, types, ends = self.chunks(xp, predicted, first)
        right, right_types, right_ends = self.chunks(xp, wanted, first)
        both = mine & right & (types == right_types) & (ends == right_ends)
        counts = [int(each.sum()) for each in (mine, right, both)]
        precision = counts[2] / counts[0] if counts[0] else 0.0
        recall = counts[2] / counts[1] if counts[1] else 0.0
        f1 = 2 * precision * recall / (precision + recall) if counts[2] else 0.0
        return {
            **{
                name: xp.full((1,), value, "float32")
                for name, value in zip(("Precision", "Recall", "F1-Score"), (precision, recall, f1))
            },
            **{
                name: xp.full((1,), value, "int64")
                for name, value in zip(
                    ("NumInferChunks", "NumLabelChunks", "NumCorrectChunks"), counts
                )
            },
        }

    def texts(self, xp: Any, x: Any, lengths: Array, slot: str) -> Arrays:
        """The tags of all texts one after the other, and which of them begin a text."""
        data = x.data if isinstance(x, LoDTensor) else x
        if lengths is None:
            tags = xp.reshape(data, -1)
            first = xp.zeros(len(tags) + 1, bool)
            first[list(offsets_of(x, slot))] = True
            first = first[:-1]
        else:
            rows, width = data.shape[:2]
            counts = padded_lengths(lengths, rows, width, "SeqLength")
            place = xp.broadcast_to(xp.arange(width), (rows, width))
            there = place < counts[:, None]
            tags, first = xp.reshape(data, (rows, width))[there], (place == 0)[there]
        last = self.num_chunk_types * SCHEMES[self.chunk_scheme].count
        if (tags > last).any():
            raise OutOfRangeError(self.misfit(slot, tags[tags > last][0]))
        return tags, first

    def misfit(self, slot: str, tag: Array) -> str:
        """What to say of a tag that the scheme does not have."""
        return (
            f"expected tags in [0, {self.num_chunk_types * SCHEMES[self.chunk_scheme].count}], "
            f"which is {self.num_chunk_types} types of chunks with the tags of "
            f"{self.chunk_scheme}, in {slot}, got {int(tag)}"
        )

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        for slot in ("Inference", "Label"):
            tags = self.texts(np, ins[slot], ins.get("SeqLength"), slot)[0]
            if (tags < 0).any():
                yield self.misfit(slot, tags[tags < 0][0])

    def chunks(self, xp: Any, tags: Array, first: Array) -> Arrays:
        """Which tags begin a chunk that counts, the type of each tag, and for each tag where the
        next chunk ends.
        """
        scheme = SCHEMES[self.chunk_scheme]
        types = xp.trunc(tags / scheme.count).astype(tags.dtype)  # towards zero, as in fluid
        tags = tags - types * scheme.count
        none = self.num_chunk_types
        outside = types == none
        before = xp.where(first, none, xp.roll(types, 1))
        tag_before = xp.where(first, -1, xp.roll(tags, 1))
        # what follows on a tag of the same type
        closed = (tag_before == scheme.end) | (tag_before == scheme.single)
        opens = xp.where(
            (tags == scheme.inside) | (tags == scheme.end), closed, tags == scheme.single
        )
        opens |= tags == scheme.begin
        going = (tag_before == scheme.begin) | (tag_before == scheme.inside)
        cut = xp.where(going, (tags == scheme.begin) | (tags == scheme.single), closed)
        other = before != types
        begins = ~outside & (other | opens)
        ends = (before != none) & (outside | other | cut)
        # a chunk is from its last begin to where it ends, or the text does
        stops = behind(xp, first | ends)
        counted = begins & (behind(xp, first | begins) >= stops)
        counted &= ~xp.isin(types, xp.asarray(self.excluded_chunk_types, types.dtype))
        return counted, types, stops


def behind(xp: Any, marks: Array) -> Array:
    """Of each place the next one behind it that is marked; their number if there is none."""
    places = xp.where(marks, xp.arange(len(marks)), len(marks))
    following = xp.flip(xp.minimum.accumulate(xp.flip(places)))
    return xp.append(following[1:], len(marks))[: len(marks)]


class precision_recall(Detached):
    """BatchMetrics = precision, recall and F1 of classes: means over the classes, then of all.

    The first three are means over the classes, where a class without predictions (or without
    labels) counts as 1; the last three are those of all examples (Sokolova and Lapalme, A
    systematic analysis of performance measures for classification tasks, Information Processing and
    Management 45(4), 2009).

    MaxProbs: the probabilities of the classes in Indices; not read, [n, 1].
    Indices, Labels: the predicted classes and the right ones, [n, 1].
    Weights: how much each example counts, [n, 1]; 1 where it is absent.
    StatesInfo: what was counted before, [class_number, 4]: for each class true positives, false
        positives, true negatives and false negatives.
    BatchMetrics: of this batch, [6].
    AccumMetrics: of what was counted before, too.
    AccumStatesInfo: StatesInfo with this batch.
    class_number: how many classes there are.
    """

    signature = (
        "MaxProbs, Indices, Labels, Weights?, StatesInfo? -> "
        "BatchMetrics, AccumMetrics, AccumStatesInfo"
    )
    class_number: int = REQUIRED

    def infer(
        self, MaxProbs: Spec, Indices: Spec, Labels: Spec, Weights: Spec, StatesInfo: Spec
    ) -> Specs:
        need_float(MaxProbs=MaxProbs)
        need_integer(Indices=Indices, Labels=Labels)
        same_dtype(MaxProbs=MaxProbs, Weights=Weights, StatesInfo=StatesInfo)
        need_least(self, 1, "class_number")
        rows = MaxProbs.shape[0] if MaxProbs.ndim else -1
        wanted = dict.fromkeys(("MaxProbs", "Indices", "Labels", "Weights"), (rows, 1))
        wanted["StatesInfo"] = (self.class_number, 4)
        given = dict(zip(wanted, (MaxProbs, Indices, Labels, Weights, StatesInfo)))
        for name, s in given.items():
            need_shape(name, s, wanted[name])
        states = MaxProbs.with_shape([self.class_number, 4])
        return spec([6], DType.FP64), spec([6], DType.FP64), states

    def run(self, xp, MaxProbs, Indices, Labels, Weights, StatesInfo):
        predicted = xp.in_range(xp.reshape(Indices, -1), self.class_number, "Indices")
        wanted = xp.in_range(xp.reshape(Labels, -1), self.class_number, "Labels")
        weights = xp.ones(len(predicted)) if Weights is None else xp.reshape(Weights, -1)
        right = predicted == wanted
        summed = lambda classes, which: xp.bincount(
            classes[which], weights[which], self.class_number
        )
        positive, missed = summed(predicted, right), summed(wanted, ~right)
        wrong = summed(predicted, ~right)
        negative = weights.sum() - positive - wrong - missed
        states = xp.stack([positive, wrong, negative, missed], axis=1)
        batch = metrics(xp, states)
        if StatesInfo is not None:
            states = states + StatesInfo
        return batch, metrics(xp, states), states.astype(MaxProbs.dtype)


def metrics(xp: Any, states: Array) -> Array:
    """The six numbers, from the counts of each class."""
    positive, wrong, _, missed = states.T

    def share(part, rest):
        whole = part + rest
        return xp.where(whole > 0, part / xp.where(whole > 0, whole, 1), 1.0)

    def three(precision, recall):
        total = precision + recall
        return precision, recall, 2 * precision * recall / total if total > 0 else 0.0

    of_classes = three(share(positive, wrong).mean(), share(positive, missed).mean())
    total = positive.sum()
    of_all = three(share(total, wrong.sum()), share(total, missed.sum()))
    return xp.asarray([*of_classes, *of_all], "float64")
