"""What is computed element by element, on values as they lie.

Where blocks are filled up with zeros, these have to stay zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ground.dtypes import DType
from ...opdef.prepared import Epilogues, Offer, Prepared
from ...opdef.spec import Spec
from .library import TRAINING, NotDone
from .memory import (
    ExecutionContext,
    Layout,
    Primitive,
    PrimitiveDescriptor,
    any_of,
    chosen,
    plain,
    row_major,
)
from .norms import bounded, linear, made_by
from .offers import Layouts, OneDnnKernels, serves, whole

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
OF_TWO: dict[str, Callable[..., Any]] = {
    "elementwise_add": np.add,
    "elementwise_sub": np.subtract,
    "elementwise_mul": np.multiply,
    "elementwise_max": np.maximum,
    "elementwise_min": np.minimum,
}
#: that give zero for zeros
KEEPING_ZERO = (
    "abs",
    "leaky_relu",
    "relu6",
    "relu6_grad",
    "scale",
    "sqrt",
    "square",
    "tanh",
    "tanh_grad",
)
OTHERS = ("exp", "sigmoid", "sigmoid_grad", "elementwise_div")


def _common(instruction: Any, layouts: Layouts) -> Layout | None:
    """The layout of values of one shape: that of the first that is not plain."""
    values = instruction.inputs
    if any(v.shape != instruction.results[0].shape for v in values):
        return None
    held = [layouts[v.number][0] for v in values]
    return next((layout for layout in held if layout is not None), None)


def _taken(arguments: list[Any], layout: Layout) -> tuple[Any, ...]:
    return tuple(None if a is None else layout for a in arguments)


@serves(*OF_TWO, alone=False)
def of_two(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """A function of two values."""
    layout = _common(instruction, layouts)
    if layout is None:
        return _by_channel(onednn, instruction, layouts, epilogues)
    if instruction.op.type == "elementwise_add":
        return added(onednn, instruction, layouts, epilogues)
    prepared = Prepared(OF_TWO[instruction.op.type], out=True, over=(0, 1))
    return Offer(prepared, (layout, layout), (layout,))


def _by_channel(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """A function of images and a number for each of their channels."""
    x, y = instruction.operands
    layout = layouts[x.number][0]
    fits = (
        instruction.op.axis == 1
        and y.shape == x.shape[1:2]
        and x.shape == instruction.results[0].shape
    )
    if layout is None or not fits or layout.form != row_major(x.shape):
        return None
    if instruction.op.type in ("elementwise_max", "elementwise_min"):
        return None  # the library's give the other one in place of NaN
    library, algorithm = onednn.library, ALGORITHMS[instruction.op.type]
    form = row_major((1, x.shape[1], *(1 for _ in x.shape[2:])))
    descriptor = PrimitiveDescriptor(
        library, "binary", algorithm, layout, any_of(library, form.sizes), layout
    )
    numbers = chosen(library, form, descriptor.memory(OF_SOURCE, 1))
    arguments = [(SOURCE, layout), (OTHER, descriptor.memory(OF_SOURCE, 1)), (TARGET, layout)]
    primitive = Primitive(onednn.contexts, descriptor, arguments)

    def run(x: Any, y: Any, context: ExecutionContext, out: Any = None) -> Any:
        out = whole(out, layout.shape)
        primitive.at(context)(x, plain(y), out)
        return out

    prepared = Prepared(run, out=True, over=(0,), scratch=onednn.contexts)
    offer = Offer(prepared, (layout, numbers), (layout,))
    if not onednn.hides or instruction.op.type not in ("elementwise_add", "elementwise_sub"):
        return offer
    positions = x.size / y.size
    rule = linear((0, x, 1.0), (1, y, positions**0.5))
    return bounded(offer, instruction.result.number, rule)


@serves("sum", alone=False)
def added(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The sum of two values, and then of the next, and relu of it where that comes next."""
    layout = _common(instruction, layouts)
    if layout is None or len(instruction.inputs) < 2:
        return None
    relu = epilogues.begins_with("relu")
    first = _sum(onednn, layout, relu and len(instruction.inputs) == 2)
    more = _sum(onednn, layout, relu)

    def run(*arrays: Any, out: Any = None) -> Any:
        *values, context = arrays
        if len(values) == 1:
            (values,) = values
        out = whole(out, layout.shape)
        first.at(context)(values[0], values[1], out)
        for value in values[2:-1]:
            first.at(context)(out, value, out)
        if len(values) > 2:
            more.at(context)(out, values[-1], out)
        return out

    over = (0,) if len(instruction.operands) == 2 else ()
    prepared = Prepared(run, out=True, over=over, scratch=onednn.contexts)
    takes = (layout,) * len(instruction.operands)
    offer = Offer(prepared, takes, (layout,), fused=int(relu))
    if not onednn.hides:
        return offer
    number = made_by(instruction, epilogues, offer.fused)
    if isinstance(instruction.operands[0], list):
        (listed,) = instruction.operands
        of_list = linear(*((i, value, 1.0) for i, value in enumerate(listed)))
        return bounded(offer, number, lambda context, arrays: of_list(context, arrays[0]), relu)
    terms = [(i, value, 1.0) for i, value in enumerate(instruction.operands)]
    return bounded(offer, number, linear(*terms), relu)


def _sum(onednn: OneDnnKernels, layout: Layout, relu: bool) -> Primitive:
    descriptor = PrimitiveDescriptor(
        onednn.library, "binary", ADD, layout, layout, layout, relu=relu
    )
    arguments = [(SOURCE, layout), (OTHER, layout), (TARGET, layout)]
    return Primitive(onednn.contexts, descriptor, arguments)


@serves("relu", alone=False)
def relu(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The larger of X and zero."""
    layout = _common(instruction, layouts)
    if layout is None:
        return None
    descriptor = _relu(onednn, layout)
    primitive = Primitive(onednn.contexts, descriptor, [(SOURCE, layout), (TARGET, layout)])

    def run(x: Any, context: ExecutionContext, out: Any = None) -> Any:
        out = whole(out, layout.shape)
        primitive.at(context)(x, out)
        return out

    prepared = Prepared(run, out=True, over=(0,), scratch=onednn.contexts)
    offer = Offer(prepared, (layout,), (layout,))
    rule = linear((0, instruction.operands[0], 1.0))
    return bounded(offer, instruction.result.number, rule, hides=True)


def _relu(onednn: OneDnnKernels, layout: Layout) -> PrimitiveDescriptor:
    return PrimitiveDescriptor(
        onednn.library, "eltwise_forward", TRAINING, RELU_BY_RESULT, layout, layout, 0.0, 0.0
    )


@serves("relu_grad", alone=False)
def relu_grad(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The cotangent where Out is above zero."""
    layout = _common(instruction, layouts)
    if layout is None:
        return None
    descriptor = PrimitiveDescriptor(
        onednn.library,
        "eltwise_backward",
        *(RELU_BY_RESULT, layout, layout, layout, 0.0, 0.0),
        hint=_relu(onednn, layout),
    )
    arguments = [(TARGET, layout), (TARGET_BACK, layout), (SOURCE_BACK, layout)]
    primitive = Primitive(onednn.contexts, descriptor, arguments)

    def run(value: Any, g: Any, context: ExecutionContext, out: Any = None) -> Any:
        out = whole(out, layout.shape)
        primitive.at(context)(value, g, out)
        return out

    prepared = Prepared(run, out=True, over=(1,), scratch=onednn.contexts)
    offer = Offer(prepared, (layout, layout), (layout,))
    rule = linear((1, instruction.operands[1], 1.0))
    return bounded(offer, instruction.result.number, rule, hides=True)


@serves(*KEEPING_ZERO, *OTHERS, alone=False)
def by_numpy(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """NumPy's kernel, on elements as they lie."""
    layout, op = _common(instruction, layouts), instruction.op
    if layout is None or any(isinstance(a, list) for a in instruction.operands):
        return None
    if layout.padded and (op.type in OTHERS or (op.type == "scale" and op.bias)):
        return None
    stored = Spec(layout.shape, DType.FP32)
    prepared = op.prepared([None if a is None else stored for a in instruction.operands])
    if prepared is None:
        raise NotDone("NumPy has no kernel for elements as they lie")
    return Offer(prepared, _taken(instruction.operands, layout), (layout,))
