"""Samples chosen by their tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import LoDError
from ..ground.dtypes import DType
from ..ground.values import bare, offsets_from
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long
from ..opdef.definition import ValueShaped
from ..opdef.sequences import lod_of, offsets_of, one_level_of, rows_in
from ..opdef.spec import Spec, need_integer, spec


class filter_by_instag(ValueShaped):
    """Out = the samples of Ins that have a tag which is in Filter_tag.

    Ins: samples: rows, or sequences of one level.
    Ins_tag: integers in as many sequences as there are samples.
    Filter_tag: integers.
    LossWeight: [samples, 1], ones; where no sample is left, Out is one row of ``out_val_if_empty``,
        and LossWeight is 0.
    IndexMap: [samples, 3]: where each begins in Out, where in Ins, and how many rows it has.
    is_lod: whether samples are sequences.
    out_val_if_empty: what the row holds where no sample is left.
    """

    signature = "Ins[], Ins_tag![], Filter_tag! -> Out, LossWeight!, IndexMap!"
    is_lod: bool = REQUIRED
    out_val_if_empty: Long = 0

    def infer(self, Ins: Spec, Ins_tag: Spec, Filter_tag: Spec) -> Specs:
        need_integer(Ins_tag=Ins_tag, Filter_tag=Filter_tag)
        out = Ins.with_dim(0, -1)._replace(lod_level=0)
        return out, spec([-1, 1], DType.FP32), spec([-1, 3], DType.INT64)

    def _map(self, Ins, Ins_tag, Filter_tag):
        """Where each sample that is left begins in Ins, and how many rows it has."""
        tags, rows = np.asarray(offsets_of(Ins_tag, "Ins_tag")), bare(Ins)
        if self.is_lod and lod_of(Ins):
            begins = np.asarray(one_level_of(Ins, "Ins"))
        else:
            begins = np.arange(len(rows) + 1)
        if len(begins) != len(tags):
            raise LoDError(
                f"expected Ins_tag with {len(begins) - 1} sequences, one for each sample of Ins, "
                f"got lengths {np.diff(tags).tolist()}"
            )
        found = np.isin(bare(Ins_tag).reshape(-1), Filter_tag.reshape(-1))
        before = np.concatenate([[0], np.cumsum(found)])
        kept = np.flatnonzero(before[tags[1:]] > before[tags[:-1]])
        return begins[kept], np.diff(begins)[kept]

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        counts = self._map(ins["Ins"], ins["Ins_tag"], ins["Filter_tag"])[1]
        each = (tuple(range(max(len(counts), 1) + 1)),)
        out = (offsets_from(counts),) if len(counts) else each
        return {"Out": out, "LossWeight": each, "IndexMap": each}

    def run(self, xp: Any, Ins: Array, Ins_tag: Array, Filter_tag: Array) -> Arrays:
        rows = bare(Ins)
        begins, counts = self._map(Ins, Ins_tag, Filter_tag)
        if not len(begins):
            out = np.full((1, *rows.shape[1:]), self.out_val_if_empty, rows.dtype)
            return out, np.zeros([1, 1], np.float32), np.array([[0, 1, 1]])
        offsets = np.asarray(offsets_from(counts))
        out = np.take(rows, _rows(begins, counts), axis=0)
        return (
            out,
            np.ones([len(begins), 1], np.float32),
            np.stack([offsets[:-1], begins, counts], axis=1).astype(np.int64),
        )

    def grad(self, f: Any, Ins: Value, LossWeight: Value, IndexMap: Value, dOut: Value) -> Rules:
        def d_ins():
            size, empty = bare(Ins).shape[0], not LossWeight.any()
            index = np.array([-1]) if empty else _rows(IndexMap[:, 1], IndexMap[:, 2])
            return f.add_rows(index, dOut, size=size)

        return dict(Ins=d_ins)


def _rows(begins, counts):
    """The numbers of rows of parts that begin somewhere."""
    bounds = np.stack([begins, begins + counts], axis=1).reshape(-1)
    return rows_in(bounds, 2 * np.arange(len(begins)))
