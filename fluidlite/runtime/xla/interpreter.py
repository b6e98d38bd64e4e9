"""The interpreter that JAX traces: operators on arrays that stand for values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...ground.dtypes import as_dtype
from ...ground.values import SelectedRows
from ...opdef.definition import Op, lookup
from ...opdef.interpreter import Eval, kernel_of
from ...opdef.spec import Spec
from .arrays import on_arrays

#: constants of more elements than this are computed where the program runs
KNOWN_SIZE = 1 << 16


class TracedEval(Eval):
    """Runs operators on JAX's arrays, known or traced.

    What depends on constants alone is computed at once, on NumPy, so that shapes may depend on it.

    Args:
        backend: JAX's.
        host: NumPy's.
        rng: see :class:`Eval`.
    """

    def __init__(self, backend: Any, host: Any, rng: Any = None) -> None:
        super().__init__(backend, rng)
        self.backend: Any = backend
        self._host = Eval(host)

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        op, ins = dense(op, ins)
        found = on_arrays(op, ins, self.backend.checks.get())
        if found is not None:
            return found
        kernel, reads, draws = kernel_of(op, self.backend.name)
        if kernel is not None and not draws and op.folds:
            known = [_known(ins.get(name), op.reads_shapes) for name in reads]
            if None not in known:
                given = {n: v[0] for n, v in zip(reads, known, strict=True) if v is not None}
                if _result_size(op, given) <= KNOWN_SIZE:
                    return self._host.apply(op, given, want)
        return super().apply(op, {slot: self._indexable(v) for slot, v in ins.items()}, want)

    def _indexable(self, value: Any) -> Any:
        """A constant that a kernel may index by what is traced; one number stays as it is."""
        if isinstance(value, list):
            return [self._indexable(each) for each in value]
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 1:
            return self.xp.asarray(value)
        return value


def dense(op: Op, ins: Mapping[str, Any]) -> tuple[Op, Mapping[str, Any]]:
    """An operator that gives whole tensors, in place of one that stores some rows of them."""
    if op.type != "selected_rows":
        return op, ins
    attrs = op.attr_values()
    return lookup("lookup_table_adjoint")({"size": attrs.pop("height"), **attrs}), ins


def _known(value: Any, shapes_suffice: bool) -> tuple[Any] | None:
    """A value that an operator can be computed with now; None if there is none."""
    if value is None:
        return (None,)
    if isinstance(value, list):
        parts = [_known(each, shapes_suffice) for each in value]
        return None if None in parts else ([each[0] for each in parts if each is not None],)
    if isinstance(value, (np.ndarray, np.generic)):
        return (np.asarray(value),) if value.size <= KNOWN_SIZE or shapes_suffice else None
    if shapes_suffice and hasattr(value, "shape") and not isinstance(value, SelectedRows):
        return (np.broadcast_to(np.zeros((), value.dtype), value.shape),)
    return None


def _result_size(op: Op, ins: Mapping[str, Any]) -> int:
    """How many elements the results have at most; no number is too large where none is known."""
    from_spec = specs(ins)
    try:
        found = op.infer_outputs(from_spec)
    except Exception:
        return 0
    sizes = [int(np.prod(s.shape)) for value in found.values() for s in _listed(value)]
    return max(sizes, default=0)


def specs(ins: Mapping[str, Any]) -> dict[str, Any]:
    """Shapes and element types of what slots hold; None for what is no tensor."""
    return {
        slot: [_spec(each) for each in value] if isinstance(value, list) else _spec(value)
        for slot, value in ins.items()
    }


def _spec(value: Any) -> Spec | None:
    is_tensor = hasattr(value, "shape") and hasattr(value, "dtype")
    return Spec(value.shape, as_dtype(value.dtype)) if is_tensor else None


def _listed(value: Any) -> list[Any]:
    return [v for v in (value if isinstance(value, list) else [value]) if v is not None]
