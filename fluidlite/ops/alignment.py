"""Texts that are held against each other, and paths that are followed back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.definition import Detached, DetachedValues
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.sequences import lengths_of, lod_of, offsets_of, padded_lengths, positions_in
from ..opdef.spec import Spec, agree, need_integer, need_ndim, need_shape, same_dtype, size_of, spec


def padded(xp: Any, x: Any, slot: str) -> Arrays:
    """The rows of a tensor of sequences as a matrix with one sequence a row, and their lengths."""
    offsets = offsets_of(x, slot)
    number, place = positions_in(offsets)
    lengths = lengths_of(offsets)
    out = xp.zeros((len(lengths), lengths.max(initial=0)), x.data.dtype)
    out[number, place] = x.data.reshape(-1)
    return out, lengths


class edit_distance(WarnsOfInput, Detached):
    """Out = for each pair of texts, how many tokens to insert, delete or replace in one at least.

    (Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966;
    computed as by Wagner and Fischer, The string-to-string correction problem, JACM 21(1), 1974.)

    Hyps, Refs: tokens: sequences, of shape [rows, 1], or padded, [n, width].
    HypsLength, RefsLength: how many tokens of each padded row count, [n] or [n, 1].
    SequenceNum: how many pairs there are, [1].
    Out: [n, 1].
    normalized: divide by the length of the text in Refs.
    """

    signature = "Hyps![], Refs![], HypsLength?!, RefsLength?! -> SequenceNum, Out"
    normalized: bool = False
    host: ClassVar[bool] = True

    def infer(self, Hyps: Spec, Refs: Spec, HypsLength: Spec, RefsLength: Spec) -> Specs:
        need_integer(Hyps=Hyps, Refs=Refs, HypsLength=HypsLength, RefsLength=RefsLength)
        same_dtype(Hyps=Hyps, Refs=Refs)
        need_ndim(2, Hyps=Hyps, Refs=Refs)
        if (HypsLength is None) != (RefsLength is None):
            raise ShapeError(
                "expected lengths of both texts, or of none where both are sequences, got "
                f"{'RefsLength' if HypsLength is None else 'HypsLength'} only"
            )
        rows = -1
        if HypsLength is not None:
            rows = Refs.shape[0] if Hyps.shape[0] == -1 else Hyps.shape[0]
            if not agree(Hyps.shape[0], Refs.shape[0]):
                raise ShapeError(
                    f"expected as many rows in Hyps as in Refs, got shapes {list(Hyps.shape)} and "
                    f"{list(Refs.shape)}"
                )
        elif not agree(Hyps.shape[1], 1) or not agree(Refs.shape[1], 1):
            raise ShapeError(
                f"expected sequences of shape [rows, 1], or padded texts with HypsLength and "
                f"RefsLength, got shapes {list(Hyps.shape)} and {list(Refs.shape)}"
            )
        return spec([1], DType.INT64), spec([rows, 1], DType.FP32)

    def run(
        self, xp: Any, Hyps: Array, Refs: Array, HypsLength: Array, RefsLength: Array
    ) -> Arrays:
        hyps, many = self.texts(xp, Hyps, HypsLength, "Hyps")
        refs, wanted = self.texts(xp, Refs, RefsLength, "Refs")
        if len(hyps) > len(refs):
            raise ShapeError(
                f"expected as many texts in Hyps as in Refs, got {len(hyps)} and {len(refs)}"
            )
        refs, wanted = refs[: len(hyps)], wanted[: len(hyps)]
        if self.normalized and (wanted == 0).any():
            raise ShapeError(
                f"expected texts in Refs to divide by the lengths of, got an empty one: number "
                f"{int((wanted == 0).argmax())}; leave it out, or set normalized=False"
            )
        out = distances(xp, hyps, refs, many, wanted)
        if self.normalized:
            out = out / wanted
        count = xp.full((1,), len(hyps), "int64")
        return count, xp.reshape(out.astype("float32"), (-1, 1))

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        counts = [len(lod[-1]) - 1 for lod in map(lod_of, (ins["Hyps"], ins["Refs"])) if lod]
        if len(counts) == 2 and counts[0] < counts[1]:
            yield (
                f"expected as many texts in Hyps as in Refs, got {counts[0]} and {counts[1]}: the "
                "first count"
            )

    def texts(self, xp, x, lengths, slot):
        """Texts as a padded matrix, and their lengths."""
        if lengths is None:
            return padded(xp, x, slot)
        x = x.data if isinstance(x, LoDTensor) else x
        return x, padded_lengths(lengths, *x.shape, f"{slot}Length")


def distances(xp: Any, hyps: Array, refs: Array, many: Array, wanted: Array) -> Array:
    """Levenshtein distances of the rows of two matrices, all pairs at once.

    Args:
        hyps, refs: padded texts.
        many, wanted: how many tokens of each count.
    """
    above = xp.broadcast_to(xp.arange(refs.shape[1] + 1), (len(refs), refs.shape[1] + 1))
    places, every = xp.arange(refs.shape[1] + 1), xp.arange(len(refs))
    edits = above[every, wanted]  # where the text in Hyps is empty
    for t in range(hyps.shape[1]):
        differs = hyps[:, t : t + 1] != refs
        best = xp.minimum(above[:, 1:] + 1, above[:, :-1] + differs)
        row = xp.concatenate([xp.full((len(refs), 1), t + 1), best], axis=1)
        # insertions: row[j] = min over k <= j of row[k] + j - k
        row = xp.minimum.accumulate(row - places, axis=1) + places
        edits = xp.where(many == t + 1, row[every, wanted], edits)
        above = row
    return edits


class ctc_align(DetachedValues):
    """Output = labels without repetitions and blanks, those of each text moved to its front.

    (Graves et al., Connectionist temporal classification, ICML 2006.)

    Input: labels: sequences, of shape [rows, 1], or padded, [n, width].
    InputLength: how many labels of each padded row count, [n] or [n, 1].
    Output: as Input; padded with ``padding_value``.  Of sequences that are all empty, one row of -1
        that belongs to none.
    OutputLength: how many labels are left of each padded row, [n, 1].
    blank: the label that stands for none.
    merge_repeated: labels that repeat the one before are dropped, too.
    padding_value: what is behind the labels of a padded row.
    """

    signature = "Input![], InputLength?! -> Output, OutputLength?"
    blank: int = 0
    merge_repeated: bool = True
    padding_value: int = 0

    def infer(self, Input: Spec, InputLength: Spec) -> Specs:
        need_integer(Input=Input, InputLength=InputLength)
        need_ndim(2, Input=Input)
        if InputLength is not None:
            rows = Input.shape[0]
            if InputLength.ndim == 0 or not agree(size_of(InputLength.shape), rows):
                raise ShapeError(
                    f"expected InputLength of shape [{rows}, 1], a length for each row of Input, "
                    f"got {list(InputLength.shape)}"
                )
            return Input, InputLength.with_shape([rows, 1])
        if not agree(Input.shape[1], 1):
            raise ShapeError(
                f"expected sequences of shape [rows, 1], or padded labels with InputLength, got "
                f"shape {list(Input.shape)}"
            )
        return Input.with_shape([-1, 1])._replace(lod_level=0), None

    def kept(self, xp: Any, labels: Array, counts: Array, first: Array) -> Array:
        """Which labels stay.

        Args:
            labels: them, along the last dimension.
            counts: which of them there are.
            first: which of them begin a text.
        """
        stays = counts & (labels != self.blank)
        if self.merge_repeated:
            same = xp.zeros(labels.shape, bool)
            same[..., 1:] = labels[..., 1:] == labels[..., :-1]
            stays &= first | ~same
        return stays

    def run(self, xp, Input, InputLength):
        if InputLength is None:
            flat, stays = self.staying(xp, Input)
            remaining = flat[stays]
            if not len(remaining):  # texts without a row, and yet there is one
                lod = self.lods(dict(Input=Input))["Output"]
                return LoDTensor(xp.full((1, 1), -1, flat.dtype), lod), None
            return xp.reshape(remaining, (-1, 1)), None
        labels = Input.data if isinstance(Input, LoDTensor) else Input
        rows, width = labels.shape
        lengths = padded_lengths(InputLength, rows, width, "InputLength")
        place = xp.arange(width)
        stays = self.kept(xp, labels, place < lengths[:, None], place == 0)
        out = xp.full(labels.shape, self.padding_value, labels.dtype)
        left = stays.sum(axis=1)
        number, _ = xp.nonzero(stays)
        out[number, (xp.cumsum(stays, axis=1) - 1)[stays]] = labels[stays]
        return out, xp.reshape(left.astype(InputLength.dtype), (rows, 1))

    def staying(self, xp: Any, Input: Any) -> Arrays:
        """All labels of sequences, and which of them stay."""
        offsets = offsets_of(Input, "Input")
        flat = xp.reshape(Input.data, -1)
        first = xp.zeros(len(flat), bool)
        first[[begin for begin, end in itertools.pairwise(offsets) if end > begin]] = True
        return flat, self.kept(xp, flat, xp.ones(len(flat), bool), first)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if ins.get("InputLength") is not None:
            return {}
        offsets = offsets_of(ins["Input"], "Input")
        _, stays = self.staying(np, ins["Input"])
        before = np.concatenate([[0], np.cumsum(stays)])
        return dict(Output=(tuple(before[list(offsets)].tolist()),))


class gather_tree(Detached):
    """Whole paths of a beam search: at each step the token from which the rest of the path was
    reached.

    Ids: the tokens that a beam search chose at each step, [steps, batch, beam].
    Parents: at each step, which path of the step before each token continues; of its shape.
    """

    signature = "Ids, Parents -> Out"

    def infer(self, Ids: Spec, Parents: Spec) -> Specs:
        need_integer(Ids=Ids, Parents=Parents)
        same_dtype(Ids=Ids, Parents=Parents)
        need_ndim(3, Ids=Ids)
        need_shape("Parents", Parents, Ids.shape, "as Ids")
        return Ids

    def run(self, xp: Any, Ids: Array, Parents: Array) -> Array:
        steps, rows, beam = Ids.shape
        if beam:
            xp.in_range(Parents[1:], beam, "Parents")
        if not steps:
            return Ids
        out = [Ids[-1]]
        path = xp.broadcast_to(xp.arange(beam), (rows, beam))
        for t in range(steps - 2, -1, -1):
            path = xp.take_along_axis(Parents[t + 1], path, axis=1)
            out.append(xp.take_along_axis(Ids[t], path, axis=1))
        return xp.stack(out[::-1])
