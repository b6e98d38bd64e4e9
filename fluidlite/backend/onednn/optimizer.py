"""Steps of optimizers: a pass over the elements for each value that is made.

NumPy's kernels make two to twelve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ground.dtypes import Kind
from ...opdef.prepared import Epilogues, Offer, Prepared
from .elementwise import ADD, ALGORITHMS, OTHER
from .memory import (
    FLOAT,
    ExecutionContext,
    Layout,
    Primitive,
    PrimitiveDescriptor,
    plain,
    row_major,
)
from .offers import HIGH, LOW, Layouts, OneDnnKernels, serves, whole
from .post_ops import LINEAR, POST

#: elements of a parameter, below which NumPy is as fast: passes cost less than calls
SMALLEST = {"adam": 1 << 13, "momentum": 1 << 14, "sgd": 1 << 15}
SOURCE, TARGET = 1, 17
SCALE = 1 << 12  #: what is added to the number of an argument
MULTIPLY, SUBTRACT = ALGORITHMS["elementwise_mul"], ALGORITHMS["elementwise_sub"]
SQUARE_ROOT, POWER = 0x25, 0x30
VECTOR, NUMBER = ["vector"], ["number"]
LEAST_STAY = 1e-3  #: of the mean of squares; what comes is divided by it


class Vectors:
    """Makes primitives that go over vectors of one length once.

    Args:
        onednn: the kernels of the graph.
        size: how many elements there are.
    """

    def __init__(self, onednn: OneDnnKernels, size: int) -> None:
        self._library, self._factory = onednn.library, onednn.contexts
        self._all, self._one = (Layout(onednn.library, row_major((n,))) for n in (size, 1))

    def once(
        self,
        algorithm: int,
        posts: tuple[tuple[Any, ...], ...] = (),
        scaled: tuple[int, ...] = (),
        by_number: bool = False,
    ) -> Primitive:
        """A function of two vectors, and what is done with its results.

        Args:
            algorithm: the function.
            posts: functions of the results so far, in order: of two numbers known now, or of
                another vector (``VECTOR``) or number (``NUMBER``) that comes when it runs.
            scaled: which of the two are first multiplied by a number that comes when it runs.
            by_number: whether the second is a number.

        Returns:
            a primitive of the two, the result, what comes for ``posts``, and for ``scaled``.
        """
        first, second = self._all, self._one if by_number else self._all
        listed: list[tuple[Any, ...]] = []
        arguments = [(SOURCE, first), (OTHER, second), (TARGET, first)]
        for place, (function, *how) in enumerate(posts):
            if how in (VECTOR, NUMBER):
                operand = self._one if how == NUMBER else self._all
                listed.append(("binary", function, operand))
                arguments.append((POST * (place + 1) | OTHER, operand))
            else:
                listed.append(("eltwise", function, *how))
        arguments += [(SCALE | number, self._one) for number in scaled]
        descriptor = PrimitiveDescriptor(
            self._library, "binary", *(algorithm, first, second, first), posts=listed, scaled=scaled
        )
        return Primitive(self._factory, descriptor, arguments)


def _cost(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    return HIGH if instruction["Param"].size < SMALLEST[instruction.op.type] else LOW


def _are_dense(values: tuple[Any, ...]) -> bool:
    return all(v.kind is Kind.LOD_TENSOR and v.size for v in values)


def _offer(onednn: OneDnnKernels, instruction: Any, function: Any) -> Offer:
    prepared = Prepared(function, out=True, scratch=onednn.contexts)
    return Offer(prepared, (None,) * len(instruction.operands), (None,) * len(instruction.results))


@serves("sgd", cost=_cost)
def sgd(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """Param - LearningRate * Grad."""
    param, _, grad = instruction.operands
    if not _are_dense((param, grad)):
        return None
    shape = param.shape
    update = Vectors(onednn, param.size).once(SUBTRACT, scaled=(OTHER,))

    def step(param: Any, rate: Any, grad: Any, context: ExecutionContext, out: Any = None) -> Any:
        out = whole(out, shape)
        update.at(context)(plain(param), plain(grad), out, rate)
        return out

    return _offer(onednn, instruction, step)


@serves("momentum", cost=_cost)
def momentum(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """mu * Velocity + Grad, and the step along it, with that of Nesterov or without."""
    param, grad, velocity, _ = instruction.operands
    if not _are_dense((param, grad, velocity)) or instruction.op.regularization_method:
        return None
    shape, mu, nesterov = (
        param.shape,
        np.asarray(instruction.op.mu, FLOAT),
        instruction.op.use_nesterov,
    )
    vectors = Vectors(onednn, param.size)
    gather = vectors.once(ADD, scaled=(SOURCE,))
    if nesterov:
        update = vectors.once(ADD, ((MULTIPLY, *NUMBER), (ADD, *VECTOR)), (SOURCE,))
    else:
        update = vectors.once(SUBTRACT, scaled=(OTHER,))

    def step(
        param: Any, grad: Any, velocity: Any, rate: Any, context: ExecutionContext, out: Any = None
    ) -> Any:
        new, fast = (None, None) if out is None else out
        new, fast = whole(new, shape), whole(fast, shape)
        param, grad = plain(param), plain(grad)
        gather.at(context)(plain(velocity), grad, fast, mu)
        if nesterov:
            update.at(context)(fast, grad, new, np.negative(rate.reshape(1)), param, mu)
        else:
            update.at(context)(param, fast, new, rate)
        return new, fast

    return _offer(onednn, instruction, step)


@serves("adam", cost=_cost)
def adam(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """Both running means, and Param - r * Moment1Out / (sqrt(Moment2Out) + epsilon)."""
    param, grad, _, moment1, moment2, _, _, *tensors = instruction.operands
    op = instruction.op
    if any(each is not None for each in tensors) or op.beta2 < LEAST_STAY:
        return None
    if not _are_dense((param, grad, moment1, moment2)):
        return None
    shape = param.shape
    beta1, rest1, beta2, one = (
        np.asarray(number, FLOAT) for number in (op.beta1, 1 - op.beta1, op.beta2, 1.0)
    )
    share = np.asarray((1 - op.beta2) / op.beta2, FLOAT)
    vectors = Vectors(onednn, param.size)
    mean = vectors.once(ADD, scaled=(SOURCE, OTHER))
    # the gradient is scaled before it is squared: the square alone may be infinite
    square = vectors.once(MULTIPLY, ((ADD, *VECTOR), (LINEAR, op.beta2, 0.0)), (SOURCE,))
    update = vectors.once(
        MULTIPLY,
        (
            *((SQUARE_ROOT, 0.0, 0.0), (LINEAR, 1.0, op.epsilon), (POWER, 1.0, -1.0)),
            *((MULTIPLY, *VECTOR), (MULTIPLY, *NUMBER), (ADD, *VECTOR)),
        ),
        by_number=True,
    )

    def step(param: Any, grad: Any, rate: Any, *state: Any, out: Any = None) -> Any:
        moment1, moment2, power1, power2, *_, context = state
        given = (None,) * 3 if out is None else out[:3]
        new, first, second = (whole(each, shape) for each in given)
        grad = plain(grad)
        pace = (rate * np.sqrt(1 - power2) / (power1 - 1)).reshape(1)
        mean.at(context)(plain(moment1), grad, first, beta1, rest1)
        square.at(context)(grad, grad, second, plain(moment2), share)
        update.at(context)(second, one, new, first, pace, plain(param))
        return new, first, second, power1 * beta1, power2 * beta2

    return _offer(onednn, instruction, step)
