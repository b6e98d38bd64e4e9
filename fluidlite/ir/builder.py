"""The interpreter that appends operators to a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import unique_name
from ..errors import ArgumentError, AttributeValueError, ShapeError
from ..ground import state
from ..ground.callsite import warn_once
from ..ground.dtypes import DType
from ..opdef.arithmetic import WITH_NUMBER, Arithmetic, is_rounded
from ..opdef.attribute import whole_number
from ..opdef.definition import Op
from ..opdef.gradient import DerivedGrad
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
        block, name = self.block, unique_name.generate(self.stem)
        while name in block.vars and block.vars[name].is_data:  # which a user named so
            name = unique_name.generate(self.stem)
        if dtype is None and name not in block.vars:
            made = Variable(block, name, stop_gradient=stop_gradient)
            block.declare(made)
            return made
        return block.declare_var(
            name=name, dtype=dtype, persistable=False, stop_gradient=stop_gradient
        )

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Append an operator whose outputs are new variables; optional outputs are made only when
        wanted.
        """
        outs: dict[str, Any] = {}
        for slot in op.outputs:
            if slot.optional and not (want is not None and slot.name in want):
                continue
            outs[slot.name] = (
                [self.new_variable() for _ in range(op_width(op, ins, slot.name))]
                if slot.many
                else self.new_variable()
            )
        self.append(op, ins, outs)
        if state.builds.get() and all(x.stop_gradient for x in _variables(ins)):
            for made in _variables(outs):  # as paddle 2 has it
                made.stop_gradient = True
        return outs

    def append(self, op: Op, ins: Mapping[str, Any], outs: Mapping[str, Any]) -> None:
        """Append an operator that writes given variables."""
        self.block.add_op(op, ins, outs)

    # -- Python's operators on variables -----------------------------------------------------------

    def combine(
        self, x: Variable, method: str, operator: str, other: Any, reflected: bool
    ) -> Variable:
        """``x`` and ``other`` under Python's ``method``, in the operators that fluid 1.8 writes for
        it.
        """
        if not isinstance(other, Variable):
            number = _number(other, operator)
            plain = isinstance(other, (int, float))  # numbers of NumPy become variables in fluid
            if method in WITH_NUMBER and (method != "__truediv__" or x.dtype.is_continuous):
                if not x.dtype.is_continuous and not number.is_integer():
                    raise ArgumentError(
                        f"variable {x.name!r} is {x.dtype} and {other!r} is no integer; cast the "
                        f"variable first"
                    )
            else:
                plain = False
            is_double = x.dtype.part is DType.FP64 and state.keeps_doubles.get()
            if plain and not (is_double and is_rounded(method, number)):
                return self.scale(x, **WITH_NUMBER[method](number))
            if not x.dtype.is_continuous and not number.is_integer():
                warn_once(
                    f"{operator}: {other!r} is rounded towards zero, as variable {x.name!r} is "
                    f"{x.dtype}; cast the variable first"
                )
            value = {"str_value": repr(number)} if is_double else {"value": number}
            other = self._filled_like(x, value) if reflected else self._scalar(x, value)
            other.stop_gradient = True
        elif other.dtype.is_complex and not x.dtype.is_complex:
            if not x.dtype.is_float:
                x = self.cast(x, in_dtype=x.dtype, out_dtype=other.dtype)
        elif other.dtype != x.dtype and not (x.dtype.is_complex and other.dtype.is_continuous):
            other = self.cast(other, in_dtype=other.dtype, out_dtype=x.dtype)
        left, right = (other, x) if reflected else (x, other)
        if operator == "matmul":
            return self.matmul(left, right)
        # fluid 1.8 begins at the first dimension where its size is unknown; paddle 2 never does
        first = right.shape and right.shape[0] == -1 and not state.builds.get()
        axis = 0 if first else -1
        if first and left.has_shape and left.ndim < right.ndim and set(left.shape) != {1}:
            warn_once(
                f"{operator}: the dimensions of {left.name!r} {list(left.shape)} are the first "
                f"ones of {right.name!r} {list(right.shape)}, as in fluid 1.8; write the larger "
                "one first"
            )
        return getattr(self, operator)(left, right, axis=axis)

    def _scalar(self, x: Variable, value: Mapping[str, Any]) -> Variable:
        shape = [] if x.has_shape and not x.shape else [1]
        return self.fill_constant(shape=shape, dtype=x.dtype, **value)

    def _filled_like(self, x: Variable, value: Mapping[str, Any]) -> Variable:
        if -1 not in x.shape:
            return self.fill_constant(shape=x.shape, dtype=x.dtype, **value)
        unknown = x.shape.index(-1)
        return self.fill_constant_batch_size_like(
            x, shape=x.shape, dtype=x.dtype, input_dim_idx=unknown, output_dim_idx=unknown, **value
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
            raise ShapeError(
                f"variable {x.name!r} of shape {list(x.shape)} takes {x.ndim} indices, got "
                f"{len(items)}"
            )
        cuts = [cut for axis, each in enumerate(items) if (cut := _cut(x, axis, each)) is not None]
        where: dict[str, Any] = {
            "axes": [cut.axis for cut in cuts],
            "starts": [cut.start for cut in cuts],
            "ends": [cut.end for cut in cuts],
            "may_be_empty": state.builds.get(),
        }
        dropped = [cut.axis for cut in cuts if cut.dropped]
        f = Builder(self.block, f"{x.name}_slice")
        if any(cut.step != 1 for cut in cuts):
            f = Builder(self.block, f"{x.name}_strided_slice")
            where.update(strides=[cut.step for cut in cuts], infer_flags=[1] * len(cuts))
            found = f.strided_slice(x, **where)
            return f.squeeze(found, axes=dropped) if dropped else found
        if any(cut.at is not None for cut in cuts):
            where.update(self._bounds_at_run(cuts))
        flags = [1 if cut.at is None else -1 for cut in cuts]
        return f.slice(x, **where, decrease_axis=dropped, infer_flags=flags)

    def _bounds_at_run(self, cuts: list[Cut]) -> dict[str, list[Variable]]:
        """Variables that hold the bounds of a slice, some of which are known when it runs."""
        f = Builder(self.block, "_generated_var")

        def fixed(value: int) -> Variable:
            return f.fill_constant(shape=[1], dtype="int32", value=float(value), force_cpu=True)

        starts, ends = [], []
        for cut in cuts:
            if cut.at is None:
                starts.append(fixed(cut.start))
                ends.append(fixed(cut.end))
            else:
                starts.append(cut.at)
                ends.append(f.elementwise_add(cut.at, _as_type(f, fixed(1), cut.at.dtype)))
        return {"StartsTensorList": starts, "EndsTensorList": ends}


class Cut(NamedTuple):
    """What an index means along one dimension."""

    axis: int
    start: int
    end: int
    step: int = 1
    dropped: bool = False
    at: Variable | None = None  #: a position that is known when the program runs


def _cut(x: Variable, axis: int, item: Any) -> Cut | None:
    """One entry of an index; None where it takes everything."""
    if isinstance(item, slice):
        if item == slice(None):
            return None
        step = 1 if item.step is None else item.step
        return Cut(axis, *_bounds(item, step), step)
    if isinstance(item, Variable):
        if item.has_dtype and item.dtype is DType.BOOL:
            raise ArgumentError(
                f"variable {x.name!r} is indexed by integers, slices and ..., got the mask "
                f"{item.name!r}: what it picks has no declared size; use layers.gather_nd(x, "
                "layers.where(mask)), or multiply by the mask"
            )
        return Cut(axis, -1, -1, dropped=True, at=item)
    if isinstance(item, (int, np.integer)) or (isinstance(item, np.ndarray) and item.size == 1):
        at = whole_number(item)
        return Cut(axis, at, at + 1 if at != -1 else TO_THE_END, dropped=True)
    raise ArgumentError(
        f"variable {x.name!r} is indexed by integers, slices and ..., got {item!r:.60}"
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
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value.item() if isinstance(value, np.ndarray) else value)
    except (TypeError, ValueError):
        shown = "a value" if isinstance(value, Arithmetic) else f"{value!r:.60}"
        raise ArgumentError(
            f"{operator}: expected a variable or a number, got {shown} of type "
            f"{type(value).__name__}{_instead(value)}"
        ) from None


def _instead(value: Any) -> str:
    """What to write in place of what is no variable."""
    if isinstance(value, Arithmetic):
        return "; a tensor has its value now, a variable when its program runs: feed it"
    if isinstance(value, (list, tuple)):
        return "; make it a variable first: layers.assign(numpy.array(...))"
    if value is None:
        return "; `is None` asks whether there is a variable"
    return ""


def op_width(op: Op, ins: Mapping[str, Any], slot: str) -> int:
    """How many variables a list output of an operator holds.

    Args:
        op: the operator.
        ins: what it reads, by slot.
        slot: the output.

    Raises:
        AttributeValueError: nothing says so.
    """
    known = op.output_widths.get(slot)
    if known is None and isinstance(op, DerivedGrad):  # as many as what they are gradients of
        reads = [read.slot for read in op.reads if op.grad_slots.get(read.of) == slot]
        listed = [ins[name] for name in reads if isinstance(ins.get(name), list)]
        known = len(listed[0]) if listed else None
    if known is not None:
        return known
    width = getattr(op, "width", None)
    if width is None:
        raise AttributeValueError(f"{op.type} does not say how many outputs it has")
    return int(width(**{slot.name: ins.get(slot.name) for slot in op.inputs}))


def _variables(slots: Mapping[str, Any]) -> Iterator[Variable]:
    for held in slots.values():
        listed = held if isinstance(held, (list, tuple)) else [held]
        yield from (each for each in listed if isinstance(each, Variable))
