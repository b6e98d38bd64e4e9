"""Sequences that are formed anew."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..errors import ArgumentError, AttributeValueError, LoDError
from ..ground.values import bare, checked_offsets
from ..opdef.annotations import Array, Rules, Value
from ..opdef.definition import Op
from ..opdef.sequences import lod_of
from ..opdef.spec import Spec


class lod_reset(Op):
    """Out = the rows of X, which form sequences as Y or ``target_lod`` says.

    Y: a value in sequences, whose LoD is taken; or integers, which are offsets.
    target_lod: offsets of one level; read where there is no Y.
    append: the level is one more, inside those of X.
    """

    signature = "X[], Y?![] -> Out"
    target_lod: list[int] = ()
    append: bool = False
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Y: Spec | None) -> Spec:
        if Y is None:
            self.need_offsets()
        if Y is not None:
            return X._replace(lod_level=max(Y.lod_level, 1))
        return X._replace(lod_level=X.lod_level + 1 if self.append else 1)

    def need_offsets(self) -> None:
        """Check that ``target_lod`` has offsets.

        Raises:
            AttributeValueError: there are none, or they do not ascend from 0.
        """
        target = list(self.target_lod)
        if not target:
            raise AttributeValueError("expected Y or target_lod, got neither")
        if target[0] != 0 or any(a > b for a, b in pairwise(target)):
            raise AttributeValueError(
                f"expected offsets that ascend from 0, got {target!r:.80}; of sequences with 2 and "
                "3 rows they are [0, 2, 5]"
            )

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        X, Y = ins["X"], ins.get("Y")
        if Y is not None and not lod_of(Y) and bare(Y).dtype.kind not in "iu":
            raise LoDError(
                f"expected Y with sequences, or integers as offsets; got no LoD and "
                f"{bare(Y).dtype}; feed a LoDTensor (create_lod_tensor(array, lengths))"
            )
        if Y is not None and lod_of(Y):
            levels = lod_of(Y)
        else:
            levels = (self.target_lod if Y is None else np.asarray(bare(Y)).reshape(-1),)
        if self.append:
            levels = (*lod_of(X), *levels)
        try:
            return {"Out": checked_offsets(levels, len(bare(X)))}
        except ArgumentError as error:
            raise LoDError(
                f"expected offsets from 0 to {len(bare(X))}, the number of rows of X: {error}"
            ) from None

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        return bare(X)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut)
