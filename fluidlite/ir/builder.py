"""The interpreter that appends operators to a block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import unique_name
from ..dtypes import DType
from ..errors import ArgumentError, AttributeValueError, ShapeError
from ..opdef.arithmetic import WITH_NUMBER
from ..opdef.definition import Op
from ..opdef.interpreter import Interpreter
from .variable import Variable

if TYPE_CHECKING:
    from .block import Block

TO_THE_END = 10_000_000  # what fluid's programs write for "up to the last element"


class Builder(Interpreter):
    """Appends operators to a block; results are variables called ``<stem>_<n>``.

    Args:
        block: where to append.
        stem: ``fc_0.tmp`` in a layer, ``tmp`` in Python's arithmetic.
    """

    def __init__(self, block: Block, stem: str) -> None:
        self.block = block
        self.stem = stem

    def new_variable(self, dtype: Any = None, stop_gradient: bool = False) -> Variable:
        """A variable for a result."""
        return self.block.create_var(
            name=unique_name.generate(self.stem), dtype=dtype, persistable=False, stop_gradient=stop_gradient
        )

    def apply(self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None) -> dict[str, Any]:
        """Append an operator whose outputs are new variables; optional outputs are made only when wanted."""
        outs: dict[str, Any] = {}
        for slot in op.outputs:
            if slot.optional and not (want is not None and slot.name in want):
                continue
            outs[slot.name] = [self.new_variable() for _ in range(op_width(op, ins))] if slot.many else self.new_variable()
        self.append(op, ins, outs)
        return outs

    def append(self, op: Op, ins: Mapping[str, Any], outs: Mapping[str, Any]) -> None:
        """Append an operator that writes given variables."""
        self.block.append_op(type=op.type, inputs=ins, outputs=outs, attrs=op.attr_values())

    # -- Python's operators on variables -----------------------------------------------------------------------

    def combine(self, x: Variable, method: str, operator: str, other: Any, reflected: bool) -> Variable:
        """``x`` and ``other`` under Python's ``method``, in the operators that fluid 1.8 writes for it."""
        if not isinstance(other, Variable):
            number = _number(other, operator)
            if method in WITH_NUMBER and not (method == "__truediv__" and not x.dtype.is_float):
                if number != int(number) and not x.dtype.is_float:
                    raise ArgumentError(
                        f"variable {x.name!r} is {x.dtype} and {other!r} is no integer; cast the variable first"
                    )
                return self.scale(x, **WITH_NUMBER[method](number))
            other = self._filled_like(x, number) if reflected else self._scalar(x, number)
        elif other.dtype != x.dtype:
            other = self.cast(other, in_dtype=other.dtype, out_dtype=x.dtype)
        left, right = (other, x) if reflected else (x, other)
        if operator == "matmul":
            return self.matmul(left, right)
        axis = 0 if right.shape and right.shape[0] == -1 else -1
        return getattr(self, operator)(left, right, axis=axis)

    def _scalar(self, x: Variable, number: float) -> Variable:
        return self.fill_constant(shape=[1], dtype=x.dtype, value=number)

    def _filled_like(self, x: Variable, number: float) -> Variable:
        if -1 not in x.shape:
            return self.fill_constant(shape=x.shape, dtype=x.dtype, value=number)
        unknown = x.shape.index(-1)
        return self.fill_constant_batch_size_like(
            x, shape=x.shape, dtype=x.dtype, value=number, input_dim_idx=unknown, output_dim_idx=unknown
        )

    def item(self, x: Variable, item: Any) -> Variable:
        """``x[item]``: integers, slices with steps, ``...`` and one-element integer variables.

        Raises:
            ArgumentError: the item is of another kind.
            ShapeError: there are more items than dimensions.
        """
        items = list(item) if isinstance(item, tuple) else [item]
        if any(i is Ellipsis for i in items):
            at = next(k for k, i in enumerate(items) if i is Ellipsis)
            items[at : at + 1] = [slice(None)] * (x.ndim - len(items) + 1)
        if len(items) > x.ndim:
            raise ShapeError(f"variable {x.name!r} of shape {list(x.shape)} takes {x.ndim} indices, got {len(items)}")
        axes, starts, ends, steps, dropped = [], [], [], [], []
        tensors: dict[int, Variable] = {}
        for axis, each in enumerate(items):
            if isinstance(each, slice):
                if each == slice(None):
                    continue
                step = 1 if each.step is None else each.step
                start, end = _bounds(each, step)
                axes, starts, ends, steps = [*axes, axis], [*starts, start], [*ends, end], [*steps, step]
            elif isinstance(each, Variable):
                tensors[len(axes)] = each
                axes, starts, ends, steps = [*axes, axis], [*starts, -1], [*ends, -1], [*steps, 1]
                dropped.append(axis)
            elif isinstance(each, (int, np.integer)) and not isinstance(each, bool):
                end = each + 1 if each != -1 else TO_THE_END
                axes, starts, ends, steps = [*axes, axis], [*starts, int(each)], [*ends, int(end)], [*steps, 1]
                dropped.append(axis)
            else:
                raise ArgumentError(f"variable {x.name!r} is indexed by integers, slices and ..., got {each!r}")
        stem = f"{x.name}_slice"
        f = Builder(self.block, stem)
        if any(step != 1 for step in steps):
            found = f.strided_slice(x, axes=axes, starts=starts, ends=ends, strides=steps)
            return f.squeeze(found, axes=dropped) if dropped else found
        if tensors:
            return self._sliced_at(f, x, axes, starts, ends, dropped, tensors)
        return f.slice(x, axes=axes, starts=starts, ends=ends, decrease_axis=dropped, infer_flags=[1] * len(axes))

    def _sliced_at(
        self,
        f: Builder,
        x: Variable,
        axes: list[int],
        starts: list[int],
        ends: list[int],
        dropped: list[int],
        at: dict[int, Variable],
    ) -> Variable:
        g = Builder(self.block, "_generated_var")
        first, last = [], []
        for k in range(len(axes)):
            if k in at:
                one = g.fill_constant(shape=[1], dtype="int32", value=1.0, force_cpu=True)
                first.append(at[k])
                last.append(g.elementwise_add(at[k], _as_type(g, one, at[k].dtype)))
            else:
                first.append(g.fill_constant(shape=[1], dtype="int32", value=float(starts[k]), force_cpu=True))
                last.append(g.fill_constant(shape=[1], dtype="int32", value=float(ends[k]), force_cpu=True))
        return f.slice(
            x,
            StartsTensorList=first,
            EndsTensorList=last,
            axes=axes,
            starts=starts,
            ends=ends,
            decrease_axis=dropped,
            infer_flags=[-1 if k in at else 1 for k in range(len(axes))],
        )


def _as_type(f: Builder, x: Variable, dtype: DType) -> Variable:
    return x if x.dtype == dtype else f.cast(x, in_dtype=x.dtype, out_dtype=dtype)


def _bounds(each: slice, step: Any) -> tuple[int, int]:
    if not isinstance(step, int) or step == 0:
        raise ArgumentError(f"a slice of a variable takes a step other than 0, got {step!r}")
    start = (0 if step > 0 else TO_THE_END) if each.start is None else each.start
    end = (TO_THE_END if step > 0 else -TO_THE_END) if each.stop is None else each.stop
    for bound in (start, end):
        if not isinstance(bound, (int, np.integer)):
            raise ArgumentError(f"a slice of a variable takes integers, got {bound!r}")
    return int(start), int(end)


def _number(value: Any, operator: str) -> float:
    if isinstance(value, np.ndarray) and value.size != 1:
        raise ArgumentError(
            f"{operator}: expected a variable or a number, got an array of shape {list(value.shape)}; "
            "make it a variable first: layers.assign(array)"
        )
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{operator}: expected a variable or a number, got {value!r:.60}") from None


def op_width(op: Op, ins: Mapping[str, Any]) -> int:
    """How many variables a list output of an operator holds.

    Raises:
        AttributeValueError: nothing says so.
    """
    width = getattr(op, "width", None)
    if width is None:
        raise AttributeValueError(f"{op.type} does not say how many outputs it has")
    return int(width(**{slot.name: ins.get(slot.name) for slot in op.inputs}))
