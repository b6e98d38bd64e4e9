"""Which rows the gradient of a table names, where it is a whole tensor in a compiled function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from ...ground.values import SelectedRows, on_host
from ...ir.operator import Operator
from ...opdef.interpreter import Eval
from ..step import Step
from .refusal import NotTraceable


def rows_matter(ops: Iterable[Operator]) -> bool:
    """Whether an operator treats a gradient of some rows in another way than one of all rows.

    Args:
        ops: of a program.
    """
    return any(op.type == _OF_ROWS for op in ops)


_OF_ROWS = "adam"  #: others do the same with whole gradients


class NamedRows:
    """The rows that gradients of tables name: truths by variable, [height].

    ``adam`` is the optimizer that treats such a gradient in another way than one of all rows.

    Args:
        matter: whether the program has it.
    """

    def __init__(self, matter: bool = False) -> None:
        self.matter = matter
        self._named: dict[str, Any] = {}

    def note(self, step: Step, ins: Mapping[str, Any]) -> None:
        """Follow the rows through a step."""
        op: Any = step.instance
        if op.type in _OF_TABLES and op.is_sparse:
            height, padding = ins["W"].shape[0], op.padding_idx
            ids = jnp.asarray(ins["Ids"]).reshape(-1)
            ids = jnp.where(ids == padding, height, ids) if padding >= 0 else ids
            self._set(step, jnp.zeros(height, bool).at[ids].set(True, mode="drop"))
            return
        if op.type in _FOLLOWED and self._named:
            found = [self._named.get(name) for name in step.op.input_arg_names]
            rows = [each for each in found if each is not None]
            if rows and len(rows) == len(found):
                self._set(step, jnp.stack(rows).any(axis=0))
                return
        self._set(step, None)

    def _set(self, step: Step, rows: Any) -> None:
        for name in step.writes:
            if rows is None:
                self._named.pop(name, None)
            else:
                self._named[name] = rows

    def of(self, names: Iterable[str]) -> dict[str, Any]:
        """The rows of those among some variables that name rows, under the names that
        :func:`stored` knows.
        """
        return {name + _ROWS: self._named[name] for name in names if name in self._named}

    def around(self, step: Step) -> Callable[[], None]:
        """What is called behind a step with blocks: what they named is known in them only.

        It raises :class:`NotTraceable` behind passes that named rows, each its own, for Adam.
        """
        before = dict(self._named)

        def leave() -> None:
            found, self._named = self._named, before
            for name in step.writes:
                before.pop(name, None)
            if self.matter and step.instance.type in _OF_PASSES and found.keys() - before.keys():
                raise NotTraceable("each of its passes names other rows of a table")

        return leave

    def join(self, name: str, axis: str) -> None:
        """Let a gradient that devices have summed name the rows of all of them.

        Args:
            name: of the gradient.
            axis: of the mesh.
        """
        rows = self._named.get(name)
        if rows is not None:
            self._named[name] = lax.psum(rows.astype("int32"), axis) > 0

    def adam(self, f: Eval, step: Step, ins: dict[str, Any]) -> dict[str, Any] | None:
        """A step of ``adam`` whose gradient names some rows; None for any other step.

        Raises:
            NotTraceable: an option needs the rows themselves.
        """
        op: Any = step.instance
        if op.type != _OF_ROWS or not self._named:
            return None
        rows = self._named.get(step.op.inputs["Grad"][0])
        if rows is None:
            return None
        if ins.get("Beta1Tensor") is not None or ins.get("Beta2Tensor") is not None:
            raise NotTraceable("its betas are tensors, and its gradient names some rows")
        nexts = {f"Beta{k}Pow": ins[f"Beta{k}Pow"] * beta for k, beta in _betas(op)}
        outs = f.apply(op, {**ins, **nexts}, step.want)  # fluid 1.8 is a step ahead here
        outs |= {f"{name}Out": value for name, value in nexts.items()}
        if op.lazy_mode:
            for name in ("Param", "Moment1", "Moment2"):
                before = ins[name]
                chosen = rows.reshape(-1, *[1] * (before.ndim - 1))
                outs[f"{name}Out"] = jnp.where(chosen, outs[f"{name}Out"], before)
        return outs


def stored(made: dict[str, Any]) -> dict[str, Any]:
    """What a function made, with gradients of tables as the host knows them: as stored rows."""
    values = {name: value for name, value in made.items() if not name.endswith(_ROWS)}
    for name in values.keys() & {n.removesuffix(_ROWS) for n in made if n not in values}:
        dense, rows = on_host(values[name]), np.flatnonzero(on_host(made[name + _ROWS]))
        values[name] = SelectedRows(rows, len(dense), dense[rows])
    return values


def _betas(op: Any) -> list[tuple[int, float]]:
    return [(1, op.beta1), (2, op.beta2)]


_ROWS = "@ROWS"
_OF_TABLES = frozenset({"lookup_table_grad", "lookup_table_v2_grad"})
_OF_PASSES = frozenset({"while_grad", "recurrent_grad"})
#: operators that keep the rows of what they are given
_FOLLOWED = frozenset({"sum", "merge_selected_rows", "scale", "assign", "clip", "cast"})
