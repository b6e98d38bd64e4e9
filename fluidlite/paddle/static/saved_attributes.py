"""What operators lack of the form that paddle 2.6 demands: attributes and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import unique_name
from ...ground.dtypes import DType
from ...ir.literal import EmptyList
from ...ir.operator import Operator
from ...ir.variable import Variable

_FAR = -1_000_000  #: ends of slices below it are beyond any first element


def _axis_of_dims(op: Operator) -> None:
    if not op.has_attr("axis") or not op.attr("axis"):
        op.set_attr("axis", op.attr("dims"))


def _bounds_in_run(op: Operator) -> None:
    """Bounds that a run knows have a number and a flag as well, without which paddle breaks off."""
    axes = op.attr("axes")
    names = [name for name in ("starts", "ends", "strides") if op.has_attr(name)]
    if any(len(op.attr(name)) != len(axes) for name in names):
        for name in names:
            if len(op.attr(name)) != len(axes):
                op.set_attr(name, [1 if name == "strides" else -1] * len(axes))
        op.set_attr("infer_flags", [-1] * len(axes))


def _as_cut_there(op: Operator) -> None:
    """A slice that runs backwards beyond the first element ends at -1."""
    if any(map(op.inputs.get, ("StartsTensorList", "EndsTensorList", "StridesTensorList"))):
        _bounds_in_run(op)
        return
    axes, strides = op.attr("axes"), op.attr("strides")
    if not op.attr("infer_flags"):
        op.set_attr("infer_flags", [1] * len(axes))
    shape = op.block.var_recursive(op.input("Input")[0]).shape
    beyond = [
        end < -shape[axis] if shape[axis] > 0 else end < _FAR
        for axis, end in zip(axes, op.attr("ends"))
    ]
    if len(beyond) == len(strides):
        ends = zip(op.attr("ends"), strides, beyond)
        op.set_attr("ends", [-1 if step < 0 and far else end for end, step, far in ends])


def _axis_from_front(op: Operator) -> None:
    if op.attr("axis") < 0:
        shape = op.block.var_recursive(op.input("X")[0]).shape
        op.set_attr("axis", op.attr("axis") + len(shape))


def _size_of_out(op: Operator) -> None:
    if not any(op.attr("output_size")):
        op.set_attr("output_size", list(op.block.var_recursive(op.output("Out")[0]).shape[2:]))


def _type_of_out(op: Operator) -> None:
    op.set_attr("dtype", int(op.block.var_recursive(op.first_output).dtype))


def _with_output(slot: str, dtype: DType | None = None) -> Callable[[Operator], None]:
    """What gives an operator an output that paddle 2 always has, of a type, or of that of X."""

    def change(op: Operator) -> None:
        if not op.outputs.get(slot):
            name = unique_name.generate(f"{op.first_output}.{slot.lower()}")
            like = dtype or op.block.var_recursive(op.input("X")[0]).dtype
            op.block.declare(Variable(op.block, name, shape=[-1], dtype=like))
            op.set_output(slot, name)

    return change


def _with_attribute(name: str, value: Any) -> Callable[[Operator], None]:
    """What gives an operator an attribute that gradients of paddle 2 read."""
    return lambda op: None if name in op.attr_names else op.replace_attr(name, value)


#: type -> what changes the operator itself
CHANGES: dict[str, Callable[[Operator], None]] = {
    "eigvalsh": _with_output("Eigenvectors"),
    "cast": _with_attribute("use_mkldnn", False),
    "conv2d_transpose": _with_attribute("output_padding", EmptyList("INTS")),
    "flip": _axis_of_dims,
    "graph_send_recv": _with_output("Dst_count", DType.INT32),
    "graph_send_ue_recv": _with_output("Dst_count", DType.INT32),
    "linspace": _type_of_out,
    "roll": _axis_of_dims,
    "segment_pool": _with_output("SummedIds", DType.FP32),
    "slice": _bounds_in_run,
    "split": _axis_from_front,
    "strided_slice": _as_cut_there,
    "unpool": _size_of_out,
}
