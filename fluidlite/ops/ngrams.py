"""Embeddings of n-grams by hashing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError
from ..ground.dtypes import DType
from ..ground.values import bare, offsets_from
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import need_least
from ..opdef.definition import ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import one_level_of
from ..opdef.spec import Spec, need_float, need_integer, need_shape, spec

PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)


class pyramid_hash(ValueShaped):
    """Out = a row for each n-gram of each sequence: parts of W that hashes of the n-gram choose.

    The n-grams of 2 to ``pyramid_layer`` elements follow each other by their length and place.
    Part k of a row is the ``rand_len`` numbers of W from XXH32(n-gram as float32, seed k *
    rand_len) modulo ``space_len`` (Collet, xxHash fast digest algorithm).  A sequence without
    n-grams has one row of zeros.

    X: sequences of integers.
    W: [space_len + rand_len, 1].
    WhiteList, BlackList: not read, as there are no filters.
    DropPos: [rows of X * pyramid_layer, 1]: first of all, whether each n-gram was kept.
    X_Temp_Out: X as float32.
    num_emb: the length of a row, a multiple of ``rand_len``.
    space_len: how many places of W a part may begin at.
    pyramid_layer: the elements of the longest n-grams.
    drop_out_percent: the share of n-grams that are left out in training; otherwise what rows are
        multiplied with, as fluid has it.
    is_training: whether n-grams are left out.
    white_list_len, black_list_len: of the filters; not read.
    distribute_update_vars: not read: names of parameters that servers hold.
    use_filter: must be false: filters are files of another library's.
    seed: of the choice of what is left out.
    lr: not read: in fluid the gradient operator moves W by it, here W has a gradient.
    """

    signature = "X[]!, W, WhiteList!, BlackList! -> Out, DropPos!~, X_Temp_Out!~"
    fluid: ClassVar[FluidForm] = FluidForm(only_here=("W",))
    num_emb: int = 0
    space_len: int = 0
    pyramid_layer: int = 2
    rand_len: int = 0
    drop_out_percent: float = 0.0
    is_training: int = 0
    use_filter: bool = True
    white_list_len: int = 0
    black_list_len: int = 0
    seed: int = 0
    lr: float = 0.0
    distribute_update_vars: str = ""

    def infer(self, X: Spec, W: Spec, WhiteList: Spec, BlackList: Spec) -> Specs:
        need_integer(X=X)
        need_float(W=W)
        if self.use_filter:
            raise AttributeValueError(
                "expected use_filter False, got True: lists of n-grams are filters in files of "
                "another library's, which cannot be read here; filter the sequences before"
            )
        if self.rand_len < 1 or self.num_emb < 1 or self.num_emb % self.rand_len:
            raise AttributeValueError(
                f"expected num_emb to be a multiple of rand_len, got {self.num_emb} and "
                f"{self.rand_len}"
            )
        need_least(self, 1, "space_len")
        need_least(self, 2, "pyramid_layer")
        size = self.space_len + self.rand_len
        need_shape("W", W, (size, 1))
        out = spec([-1, self.num_emb], W.dtype)._replace(lod_level=1)
        rows = -1 if X.shape[0] == -1 else X.shape[0] * self.pyramid_layer
        return out, spec([rows, 1], DType.INT32), X.with_dtype(DType.FP32)

    def _grams(self, X):
        """Elements of W for each row of Out, with -1 for zeros; what was kept, by sequence."""
        elements = bare(X).reshape(-1).astype("<f4").view("<u4")
        offsets = one_level_of(X, "X")
        state, index, masks = self.seed % 2**32, [], []
        for begin, end in itertools.pairwise(offsets):
            places = [
                self._places(elements[begin:end], n)
                for n in range(2, min(self.pyramid_layer, end - begin) + 1)
            ]
            grams = np.concatenate(places) if places else np.zeros([0, self.num_emb], np.int64)
            is_kept = np.ones(len(grams), bool)
            if self.is_training:
                numbers, state = _draw(state, len(grams))
                is_kept = np.asarray(numbers, np.float32) >= np.float32(self.drop_out_percent)
            masks.append(is_kept)
            left = grams[is_kept]
            index.append(left if len(left) else np.full([1, self.num_emb], -1))
        return index, masks

    def _places(self, elements, n):
        """The elements of W for all n-grams of one sequence."""
        words = np.lib.stride_tricks.sliding_window_view(elements, n)
        begins = [
            xxh32(words, seed) % np.uint32(self.space_len)
            for seed in range(0, self.num_emb, self.rand_len)
        ]
        places = np.stack(begins, axis=1).astype(np.int64)[:, :, None] + np.arange(self.rand_len)
        return places.reshape(len(words), self.num_emb)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        index, _ = self._grams(ins["X"])
        return {"Out": (offsets_from([len(rows) for rows in index]),)}

    def run(self, xp: Any, X: Array, W: Array) -> Arrays:
        index, masks = self._grams(X)
        places = np.concatenate(index) if index else np.zeros([0, self.num_emb], np.int64)
        out = np.where(places < 0, np.zeros([], W.dtype), W.reshape(-1)[places])
        if not self.is_training:
            out = out * W.dtype.type(self.drop_out_percent)
        rows = bare(X)
        marks = np.zeros([len(rows) * self.pyramid_layer, 1], np.int32)
        flat = np.concatenate(masks) if masks else np.zeros([0], bool)
        marks[: len(flat), 0] = flat
        return out, marks, rows.astype(np.float32)

    def grad(
        self, f: Any, X: Value, W: Value, DropPos: Value, X_Temp_Out: Value, dOut: Value
    ) -> Rules:
        def dw():
            places = np.concatenate(self._grams(X)[0]).reshape(-1)
            flow = f.reshape(dOut, shape=[len(places), 1])
            if not self.is_training:
                flow = f.scale(flow, scale=self.drop_out_percent)
            return f.add_rows(places, flow, size=W.shape[0])

        return dict(W=dw)


def _draw(state, count):
    """So many numbers from 0 to 1, as POSIX's example of ``rand_r`` makes them, and its state."""
    numbers = []
    for _ in range(count):
        value = 0
        for bits in (11, 10, 10):
            state = (state * 1103515245 + 12345) % 2**32
            value = value << bits ^ (state >> 16) % 2**bits
        numbers.append(value / (2**31 - 1))
    return numbers, state


def xxh32(words: Array, seed: int) -> Array:
    """The 32-bit xxHash of the bytes of each row of an array of uint32, [n, words]."""
    one, two, three, four, five = (np.uint32(p) for p in PRIMES)

    def turned(v, n):
        return (v << np.uint32(n)) | (v >> np.uint32(32 - n))

    start, at, count = np.full(len(words), seed, np.uint32), 0, words.shape[1]
    if count >= 4:
        lanes = [start + one + two, start + two, start, start - one]
        while at + 4 <= count:
            lanes = [turned(v + words[:, at + i] * two, 13) * one for i, v in enumerate(lanes)]
            at += 4
        total = sum((turned(v, n) for v, n in zip(lanes, (1, 7, 12, 18))), start - start)
    else:
        total = start + five
    total = total + np.uint32(4 * count)
    for k in range(at, count):
        total = turned(total + words[:, k] * three, 17) * four
    total = (total ^ (total >> np.uint32(15))) * two
    total = (total ^ (total >> np.uint32(13))) * three
    return total ^ (total >> np.uint32(16))
