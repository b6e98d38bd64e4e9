"""Normalisation over neighbouring channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...opdef.prepared import Epilogues, Offer, Prepared
from . import memory
from .library import TRAINING
from .offers import HIGH, LOW, Layouts, OneDnnKernels, held, serves, whole

if TYPE_CHECKING:
    from .memory import Layout

SOURCE, TARGET, WORKSPACE, SOURCE_BACK, TARGET_BACK = 1, 17, 64, 129, 145
OF_WORKSPACE = 135
ACROSS_CHANNELS = 0xAFF


class LrnForward:
    """A normalisation that a plan contains, and its way back.

    Raises:
        NotDone: the library has no fast kernel.
    """

    def __init__(self, onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> None:
        library, op, x = onednn.library, instruction.op, instruction.operands[0]
        form = memory.channels_last(x.shape) if op.axis == 3 else memory.row_major(x.shape)
        self.layout: Layout | None = held(x, form, layouts)
        source = memory.described(library, form, self.layout)
        numbers = (op.n, op.alpha * op.n, op.beta, op.k)
        descriptor = memory.PrimitiveDescriptor(
            library, "lrn_forward", TRAINING, ACROSS_CHANNELS, source, source, *numbers
        )
        self.space: Any = descriptor.memory(OF_WORKSPACE)
        self.bytes: int = library.size(self.space) if self.space else 0
        more = [(WORKSPACE, self.space)] if self.bytes else []
        self.primitive: memory.Primitive = memory.Primitive(
            onednn.contexts, descriptor, [(SOURCE, source), (TARGET, source), *more]
        )
        backward = memory.PrimitiveDescriptor(
            library,
            "lrn_backward",
            *(ACROSS_CHANNELS, source, source, source, *numbers),
            hint=descriptor,
        )
        arguments = [(SOURCE, source), (TARGET_BACK, source), (SOURCE_BACK, source), *more]
        self.backward: memory.Primitive = memory.Primitive(onednn.contexts, backward, arguments)
        self.shape: Any = x.shape if self.layout is None else self.layout.shape


def _cost(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    return HIGH if layouts[instruction.operands[0].number][0] is None else LOW


@serves("lrn", cost=_cost)
def lrn(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """X / MidOut^beta; what is raised to a power is not kept, and nothing may need it."""
    x, (_, middle) = instruction.operands[0], instruction.results
    own = type(instruction.op)
    if middle.is_output or any(user.op.derived_from is not own for user in middle.users):
        return None
    forward = LrnForward(onednn, instruction, layouts)
    key = ("lrn", x.number, middle.number)
    onednn.known[key] = forward
    is_plain, primitive, space = forward.layout is None, forward.primitive, forward.bytes
    nothing = np.broadcast_to(np.zeros((), "float32"), middle.shape)

    def run(x: Any, context: memory.ExecutionContext, out: Any = None) -> Any:
        y = whole(None if out is None else out[0], forward.shape)
        x = memory.plain(x) if is_plain else x
        if not space:
            primitive.at(context)(x, y)
            return y, nothing
        kept = np.empty(space, "uint8") if out is None or out[2] is None else out[2]
        primitive.at(context)(x, y, kept)
        return y, nothing, kept

    makes = ((key, (space,)),) if space else ()
    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    return Offer(prepared, (forward.layout,), (forward.layout, None), makes=makes)


@serves("lrn_grad")
def lrn_grad(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The cotangent of X."""
    x, middle, g = instruction.operands[:3]
    key = ("lrn", x.number, middle.number)
    forward = onednn.known.get(key)
    if forward is None:
        return None
    is_plain, primitive, shape = forward.layout is None, forward.backward, forward.shape

    def run(x: Any, g: Any, *rest: Any, out: Any = None) -> Any:
        *kept, context = rest
        out = whole(out, shape)
        x, g = (memory.plain(x), memory.plain(g)) if is_plain else (x, g)
        primitive.at(context)(x, g, out, *kept)
        return out

    reads = (key,) if forward.bytes else ()
    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    takes = (forward.layout, forward.layout)
    return Offer(prepared, takes, (forward.layout,), reads, operands=(x, g))
