"""The likeliest tags of sentences, by scores of tags and of tags behind each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.definition import Op
from ..opdef.spec import Spec, agree, need_integer, need_ndim, same_float


class viterbi_decode(Op):
    """Path = the tags of each sentence with the greatest sum of scores, and Scores = that sum.

    (Viterbi, Error bounds for convolutional codes and an asymptotically optimum decoding algorithm,
    IEEE Transactions on Information Theory 13(2), 1967.)

    Input: scores of tags, [sentences, words, tags].
    Transition: the score of each tag (column) behind each one (row), [tags, tags].
    Length: how many words each sentence has, [sentences].
    include_bos_eos_tag: the last row has the scores of first tags, the one before it of last ones.
    Scores: [sentences].
    Path: [sentences, words of the longest one], 0 behind the last word.
    """

    signature = "Input, Transition, Length! -> Scores, Path"
    include_bos_eos_tag: bool = True
    host = True
    grad = None

    def infer(self, Input: Spec, Transition: Spec, Length: Spec) -> Specs:
        same_float(Input=Input, Transition=Transition)
        need_integer(Length=Length)
        need_ndim(3, Input=Input)
        need_ndim(2, Transition=Transition)
        need_ndim(1, Length=Length)
        count, _, tags = Input.shape
        if not all(agree(size, tags) for size in Transition.shape):
            raise ShapeError(
                f"expected Transition with {tags} rows and columns, as Input of shape "
                f"{list(Input.shape)} has tags, got {list(Transition.shape)}"
            )
        if not agree(Length.shape[0], count):
            raise ShapeError(
                f"expected Length with {count} elements, one for each sentence, got "
                f"{list(Length.shape)}"
            )
        path = Input.with_shape([count, -1]).with_dtype(DType.INT64)
        return Input.with_shape([count]), path

    def run(self, xp: Any, Input: Array, Transition: Array, Length: Array) -> Arrays:
        count, words, _ = Input.shape
        if not ((Length >= 0) & (Length <= words)).all():
            raise OutOfRangeError(f"expected Length from 0 to {words}, got {Length.tolist()}")
        longest = int(Length.max(initial=0))
        path = np.zeros([count, longest], np.int64)
        if not words or not count:
            return np.zeros([count], Input.dtype), path
        ends = Transition[-2] if self.include_bos_eos_tag else np.zeros_like(Transition[0])
        score = Input[:, 0] + (Transition[-1] if self.include_bos_eos_tag else 0)
        score = score + np.where(Length[:, None] == 1, ends, 0)
        came = np.zeros([longest, *score.shape], np.int64)
        for t in range(1, longest):
            ways = score[:, :, None] + Transition
            came[t] = ways.argmax(axis=1)
            further = ways.max(axis=1) + Input[:, t] + np.where(Length[:, None] == t + 1, ends, 0)
            score = np.where(Length[:, None] > t, further, score)
        rows, tag = np.arange(count), score.argmax(axis=1)
        for t in range(longest - 1, -1, -1):
            within = Length > t
            path[within, t] = tag[within]
            tag = np.where(within, came[t][rows, tag], tag)
        return score.max(axis=1).astype(Input.dtype), path
