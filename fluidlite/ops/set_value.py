"""A tensor with other values in a part of it, by where the part begins and ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import REQUIRED, Long, Scalar, attr
from ..opdef.definition import Op
from ..opdef.spec import Spec, normal_axis, size_of
from .given import numbers
from .item import ABSENT, NEW, NUMBER, SLICE, put_item


class set_value(Op):
    """Out = Input with the value in a part.

    ValueTensor: the value; goes before ``values``.
    StartsTensorList, EndsTensorList, StepsTensorList: the bounds as one number each; go before the
        attributes.
    axes: the dimensions that are cut.
    starts, ends, steps: where the part begins, before which place it stops, and its steps, along
        each of ``axes``; may count from the end.  Where steps are below zero, the end -1 is the
        place before the first element.
    decrease_axes: those of ``axes`` that are cut to one element, which the value does not have.
    none_axes: dimensions of size 1 that the value has besides, by the dimension that they precede.
    values, shape: the elements of the value, and its shape.
    dtype: not read: values become what Input holds.
    """

    signature = (
        "Input, ValueTensor?, StartsTensorList?*!, EndsTensorList?*!, StepsTensorList?*! -> Out"
    )
    lod: ClassVar[str | None] = "Input"
    dtype: DType = attr(DType.FP32, inert=True)
    axes: list[Long] = REQUIRED
    starts: list[Long] = ()
    ends: list[Long] = ()
    steps: list[Long] = ()
    decrease_axes: list[Long] = ()
    none_axes: list[Long] = ()
    values: list[Scalar] = ()
    shape: list[Long] = ()

    def infer(
        self,
        Input: Spec,
        ValueTensor: Spec | None,
        StartsTensorList: list[Spec] | None,
        EndsTensorList: list[Spec] | None,
        StepsTensorList: list[Spec] | None,
    ) -> Specs:
        for axis in (*self.axes, *self.decrease_axes):
            normal_axis(axis, Input.ndim, "axes")
        if ValueTensor is None and len(self.values) != size_of(self.shape):
            raise ShapeError(
                f"expected {size_of(self.shape)} values for shape {list(self.shape)}, got "
                f"{len(self.values)}"
            )
        given = StartsTensorList, EndsTensorList, StepsTensorList
        if not any(given) and -1 not in Input.shape:
            item = self.item(Input.shape, self.starts, self.ends, self.steps)
            value = ValueTensor if ValueTensor is not None else Input.with_shape(self.shape)
            put_item({"item": item}).infer(Input, value.with_dtype(Input.dtype), None)
        return Input

    def item(
        self, shape: Sequence[int], starts: Sequence[int], ends: Sequence[int], steps: Sequence[int]
    ) -> list[int]:
        """The part as an index of :class:`put_item`."""
        if not len(starts) == len(ends) == len(steps) == len(self.axes):
            raise ShapeError(
                f"expected one start, end and step for each of the axes {list(self.axes)}, got "
                f"{list(starts)}, {list(ends)} and {list(steps)}"
            )
        entries = [[SLICE, ABSENT, ABSENT, ABSENT] for _ in shape]
        dropped = {axis % len(shape) for axis in self.decrease_axes}
        for axis, start, end, step in zip(self.axes, starts, ends, steps):
            size, place = shape[axis], axis % len(shape)
            if place in dropped:
                entries[place] = [NUMBER, start, 0, 0]
                continue
            start = start + size if start < 0 else start
            if step > 0:
                end = end + size if end < 0 else end
                bounds = [max(min(start, size), 0), max(min(end, size), 0)]
            else:
                end = end + size if end < -1 else end
                bounds = [max(min(start, size - 1), 0), max(end, -1)]
            entries[place] = [SLICE, bounds[0], ABSENT if bounds[1] < 0 else bounds[1], step]
        item = []
        for place, entry in enumerate(entries):
            item += [NEW, 0, 0, 0] * list(map(int, self.none_axes)).count(place) + entry
        behind = sum(place >= len(shape) for place in self.none_axes)
        return item + [NEW, 0, 0, 0] * behind

    def bounds(self, *lists: Any) -> list[list[int]]:
        """Starts, ends and steps."""
        attributes = self.starts, self.ends, self.steps
        return [numbers(own, None, given) for own, given in zip(attributes, lists)]

    def run(
        self,
        xp: Any,
        Input: Array,
        ValueTensor: Array,
        StartsTensorList: Any,
        EndsTensorList: Any,
        StepsTensorList: Any,
    ) -> Array:
        bounds = self.bounds(StartsTensorList, EndsTensorList, StepsTensorList)
        if ValueTensor is None:
            value = xp.asarray(np.reshape(self.values, self.shape).astype(Input.dtype))
        else:
            value = xp.asarray(ValueTensor, Input.dtype)
        return put_item({"item": self.item(Input.shape, *bounds)}).run(xp, Input, value, None)

    def grad(self, f, ValueTensor, StartsTensorList, EndsTensorList, StepsTensorList, dOut):
        bounds = self.bounds(StartsTensorList, EndsTensorList, StepsTensorList)
        op = put_item({"item": self.item(dOut.shape, *bounds)})
        value = ValueTensor
        if value is None:
            value = f.fill_constant(shape=[1], dtype=dOut.dtype, value=0.0)
        rules = op.grad(f, value, None, dOut)
        return dict(Input=rules["X"], ValueTensor=rules["Value"])
