"""Wholes with other elements where operators of programs take views of them."""

from __future__ import annotations

from typing import Any

from ..eager.recording import eager
from . import shaping
from .items import decode, set_item

#: operators that give views -> the input that they are views of
WHOLES = {
    "reshape2": "X",
    "transpose2": "X",
    "take_item": "X",
    "slice": "Input",
    "squeeze2": "X",
    "strided_slice": "Input",
}


def is_view(op: Any, whole: Any, before: Any) -> bool:
    """Whether an operator gives a view.

    Args:
        op: the operator.
        whole: what it takes.
        before: the operator that makes this; None if there is none.
    """
    if any(op.input(slot) for slot in op.input_names if slot != WHOLES[op.type]):
        return False
    if op.type != "reshape2" or before is None or before.type not in {*WHOLES} - {"reshape2"}:
        return True
    # others leave elements apart, which are copied
    return {*whole.shape} <= {1} or (before.type == "slice" and before.attr("axes") == [0])


def put_back(op: Any, whole: Any, view: Any) -> Any:
    """The whole with the elements of a view.

    Args:
        op: the operator that gives views of it.
        whole: what it takes.
        view: what it gives, or has the shape of that.
    """
    if op.type == "reshape2":
        return shaping.reshape(view, list(whole.array.shape))
    if op.type == "transpose2":
        axis = op.attr("axis")
        return eager.transpose(view, axis=tuple(sorted(range(len(axis)), key=axis.__getitem__)))
    if op.type == "take_item":
        return set_item(whole, decode(tuple(op.attr("item"))), view)
    axes, index = op.attr("axes"), [slice(None)] * len(whole.array.shape)
    steps = op.attr("strides") if op.type == "strided_slice" else [1] * len(axes)
    for axis, first, last, step in zip(axes, op.attr("starts"), op.attr("ends"), steps):
        index[axis] = first if axis in op.attr("decrease_axis") else slice(first, last, step)
    if len(op.attr("decrease_axis")) == len(index):  # it has the shape [1]
        view = shaping.reshape(view, [])
    return set_item(whole, tuple(index), view)
