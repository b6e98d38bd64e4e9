"""What is computed element by element, on values as they lie.

Where blocks are filled up with zeros, these have to stay zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import DType
from ...opdef.prepared import Laid, Prepared
from ...opdef.spec import Spec
from .library import TRAINING, NotDone
from .memory import (
    Layout,
    Primitive,
    PrimitiveDescriptor,
    Workplace,
    any_of,
    chosen,
    plain,
    row_major,
)
from .planner import Layouts, Planner, serves, whole

SOURCE, OTHER, TARGET, SOURCE_BACK, TARGET_BACK = 1, 2, 17, 129, 145
OF_SOURCE = 129
RELU_BY_RESULT = 0x100
ADD = 0x1FFF0
ALGORITHMS = {
    "elementwise_add": ADD,
    "elementwise_mul": 0x1FFF1,
    "elementwise_max": 0x1FFF2,
    "elementwise_min": 0x1FFF3,
    "elementwise_sub": 0x1FFF5,
}

#: of two values of one shape
OF_TWO = {
    "elementwise_add": np.add,
    "elementwise_sub": np.subtract,
    "elementwise_mul": np.multiply,
    "elementwise_max": np.maximum,
    "elementwise_min": np.minimum,
}
#: that give zero for zeros
KEEPING_ZERO = ("abs", "leaky_relu", "relu6", "scale", "sqrt", "square", "tanh", "tanh_grad")
OTHERS = ("exp", "sigmoid", "sigmoid_grad", "elementwise_div")


def _common(kernel: Any, layouts: Layouts) -> Layout | None:
    """The layout of values of one shape: that of the first that is not plain."""
    values = kernel.inputs
    if any(v.shape != kernel.outputs[0].shape for v in values):
        return None
    held = [layouts[v.number][0] for v in values]
    return next((layout for layout in held if layout is not None), None)


def _taken(arguments: list[Any], layout: Layout) -> tuple[Any, ...]:
    return tuple(None if a is None else layout for a in arguments)


@serves(*OF_TWO, alone=False)
def of_two(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """A function of two values."""
    layout = _common(kernel, layouts)
    if layout is None:
        return _by_channel(planner, kernel, layouts)
    if kernel.op.type == "elementwise_add":
        return added(planner, kernel, layouts)
    prepared = Prepared(OF_TWO[kernel.op.type], out=True, over=(0, 1))
    return Laid(prepared, (layout, layout), (layout,))


def _by_channel(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """A function of images and a number for each of their channels."""
    x, y = kernel.arguments
    layout = layouts[x.number][0]
    fits = kernel.op.axis == 1 and y.shape == x.shape[1:2] and x.shape == kernel.outputs[0].shape
    if layout is None or not fits or layout.form != row_major(x.shape):
        return None
    library, algorithm = planner.library, ALGORITHMS[kernel.op.type]
    form = row_major((1, x.shape[1], *(1 for _ in x.shape[2:])))
    descriptor = PrimitiveDescriptor(
        library, "binary", algorithm, layout, any_of(library, form.sizes), layout
    )
    numbers = chosen(library, form, descriptor.memory(OF_SOURCE, 1))
    arguments = [(SOURCE, layout), (OTHER, descriptor.memory(OF_SOURCE, 1)), (TARGET, layout)]
    primitive = Primitive(planner.shop, descriptor, arguments)

    def run(x: Any, y: Any, place: Workplace, out: Any = None) -> Any:
        out = whole(out, layout.shape)
        primitive.at(place)(x, plain(y), out)
        return out

    prepared = Prepared(run, out=True, over=(0,), scratch=planner.shop)
    return Laid(prepared, (layout, numbers), (layout,))


@serves("sum", alone=False)
def added(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The sum of two values, and then of the next, and relu of it where that comes next."""
    layout = _common(kernel, layouts)
    if layout is None or len(kernel.inputs) < 2:
        return None
    relu = planner.relu_behind(kernel)
    first = _sum(planner, layout, relu is not None and len(kernel.inputs) == 2)
    more = _sum(planner, layout, relu is not None)
    if relu is not None:
        planner.same[relu.outputs[0].number] = 0

    def run(*arrays: Any, out: Any = None) -> Any:
        *values, place = arrays
        if len(values) == 1:
            (values,) = values
        out = whole(out, layout.shape)
        first.at(place)(values[0], values[1], out)
        for value in values[2:-1]:
            first.at(place)(out, value, out)
        if len(values) > 2:
            more.at(place)(out, values[-1], out)
        return out

    over = (0,) if len(kernel.arguments) == 2 else ()
    prepared = Prepared(run, out=True, over=over, scratch=planner.shop)
    return Laid(prepared, (layout,) * len(kernel.arguments), (layout,))


def _sum(planner: Planner, layout: Layout, relu: bool) -> Primitive:
    descriptor = PrimitiveDescriptor(
        planner.library, "binary", ADD, layout, layout, layout, relu=relu
    )
    arguments = [(SOURCE, layout), (OTHER, layout), (TARGET, layout)]
    return Primitive(planner.shop, descriptor, arguments)


@serves("relu", alone=False)
def relu(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The larger of X and zero."""
    layout = _common(kernel, layouts)
    if layout is None:
        return None
    descriptor = _relu(planner, layout)
    primitive = Primitive(planner.shop, descriptor, [(SOURCE, layout), (TARGET, layout)])

    def run(x: Any, place: Workplace, out: Any = None) -> Any:
        out = whole(out, layout.shape)
        primitive.at(place)(x, out)
        return out

    prepared = Prepared(run, out=True, over=(0,), scratch=planner.shop)
    return Laid(prepared, (layout,), (layout,))


def _relu(planner: Planner, layout: Layout) -> PrimitiveDescriptor:
    return PrimitiveDescriptor(
        planner.library, "eltwise_forward", TRAINING, RELU_BY_RESULT, layout, layout, 0.0, 0.0
    )


@serves("relu_grad", alone=False)
def relu_grad(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The cotangent where Out is above zero."""
    layout = _common(kernel, layouts)
    if layout is None:
        return None
    descriptor = PrimitiveDescriptor(
        planner.library,
        "eltwise_backward",
        *(RELU_BY_RESULT, layout, layout, layout, 0.0, 0.0),
        hint=_relu(planner, layout),
    )
    arguments = [(TARGET, layout), (TARGET_BACK, layout), (SOURCE_BACK, layout)]
    primitive = Primitive(planner.shop, descriptor, arguments)

    def run(value: Any, g: Any, place: Workplace, out: Any = None) -> Any:
        out = whole(out, layout.shape)
        primitive.at(place)(value, g, out)
        return out

    prepared = Prepared(run, out=True, over=(1,), scratch=planner.shop)
    return Laid(prepared, (layout, layout), (layout,))


@serves(*KEEPING_ZERO, *OTHERS, alone=False)
def by_numpy(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """NumPy's kernel, on elements as they lie."""
    layout, op = _common(kernel, layouts), kernel.op
    if layout is None or any(isinstance(a, list) for a in kernel.arguments):
        return None
    if layout.padded and (op.type in OTHERS or (op.type == "scale" and op.bias)):
        return None
    stored = Spec(layout.shape, DType.FP32)
    prepared = op.prepared([None if a is None else stored for a in kernel.arguments])
    if prepared is None:
        raise NotDone("NumPy has no kernel for elements as they lie")
    return Laid(prepared, _taken(kernel.arguments, layout), (layout,))
