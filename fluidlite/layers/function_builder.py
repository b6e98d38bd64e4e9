"""What appends where a function is called with variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import unique_name
from ..ground import state
from ..opdef.definition import Op
from .layer import LayerBuilder


class FunctionBuilder(LayerBuilder):
    """The interpreter of functions of variables: in paddle 2's mode results are called after the
    operators that make them.
    """

    _of_operator: str | None = None

    @property
    def stem(self) -> str:
        return self._of_operator or super().stem

    @stem.setter
    def stem(self, value: str) -> None:
        """Results are named after the operators only."""

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        if state.builds.get():
            self._of_operator = _stem_of(op.type)
        return super().apply(op, ins, want)


def _stem_of(type: str) -> str:
    """What paddle 2 calls a result of an operator after."""
    if type.startswith(("elementwise_", "logical_")):
        return type
    known = _CALLED.get(type, type.removeprefix("reduce_"))
    return f"{unique_name.generate(known)}.tmp"


#: operators that are called otherwise in names of results
_CALLED = {
    "matmul": "matmul_v2",
    "arg_max": "argmax",
    "arg_min": "argmin",
    "lookup_table_v2": "embedding",
    "uniform_random": "uniform",
    "gaussian_random": "gaussian",
    **{f"{name}2": name for name in ("transpose", "squeeze")},
    "expand_v2": "expand",
    "flatten_contiguous_range": "flatten",
}
