"""Steps of optimizers: a pass over the elements for each value that is made.

NumPy's kernels make two to twelve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import Kind
from ...opdef.prepared import Laid, Prepared
from .elementwise import ADD, ALGORITHMS
from .memory import FLOAT, Layout, Primitive, PrimitiveDescriptor, Workplace, plain, row_major
from .planner import Layouts, Planner, serves, whole

#: elements of a parameter, below which NumPy is as fast: passes cost less than calls
SMALLEST = {"adam": 1 << 13, "momentum": 1 << 14, "sgd": 1 << 15}
SOURCE, OTHER, TARGET = 1, 2, 17
SCALE, POST = 1 << 12, 1 << 15  #: what is added to the number of an argument
MULTIPLY, SUBTRACT = ALGORITHMS["elementwise_mul"], ALGORITHMS["elementwise_sub"]
SQUARE_ROOT, LINEAR, POWER = 0x25, 0x26, 0x30
VECTOR, NUMBER = ["vector"], ["number"]
LEAST_STAY = 1e-3  #: of the mean of squares; what comes is divided by it


class Vectors:
    """Makes primitives that go over vectors of one length once.

    Args:
        planner: of the plan.
        size: how many elements there are.
    """

    def __init__(self, planner: Planner, size: int) -> None:
        self._library, self._shop = planner.library, planner.shop
        self._all, self._one = (Layout(planner.library, row_major((n,))) for n in (size, 1))

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
            self._library,
            "binary",
            *(algorithm, first, second, first),
            posts=listed,
            scaled=scaled,
        )
        return Primitive(self._shop, descriptor, arguments)


def _pays(planner: Planner, kernel: Any, values: tuple[Any, ...]) -> bool:
    """Whether values are dense, and of a size that pays."""
    smallest = 1 if planner.everywhere else SMALLEST[kernel.op.type]
    return all(v.kind is Kind.LOD_TENSOR and v.size >= smallest for v in values)


def _laid(planner: Planner, kernel: Any, function: Any) -> Laid:
    prepared = Prepared(function, out=True, scratch=planner.shop)
    return Laid(prepared, (None,) * len(kernel.arguments), (None,) * len(kernel.outputs))


@serves("sgd")
def sgd(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """Param - LearningRate * Grad."""
    param, _, grad = kernel.arguments
    if not _pays(planner, kernel, (param, grad)):
        return None
    shape = param.shape
    update = Vectors(planner, param.size).once(SUBTRACT, scaled=(OTHER,))

    def step(param: Any, rate: Any, grad: Any, place: Workplace, out: Any = None) -> Any:
        out = whole(out, shape)
        update.at(place)(plain(param), plain(grad), out, rate)
        return out

    return _laid(planner, kernel, step)


@serves("momentum")
def momentum(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """mu * Velocity + Grad, and the step along it, with that of Nesterov or without."""
    param, grad, velocity, _ = kernel.arguments
    if not _pays(planner, kernel, (param, grad, velocity)):
        return None
    shape, mu, nesterov = param.shape, np.asarray(kernel.op.mu, FLOAT), kernel.op.use_nesterov
    vectors = Vectors(planner, param.size)
    gather = vectors.once(ADD, scaled=(SOURCE,))
    if nesterov:
        update = vectors.once(ADD, ((MULTIPLY, *NUMBER), (ADD, *VECTOR)), (SOURCE,))
    else:
        update = vectors.once(SUBTRACT, scaled=(OTHER,))

    def step(
        param: Any, grad: Any, velocity: Any, rate: Any, place: Workplace, out: Any = None
    ) -> Any:
        new, fast = (None, None) if out is None else out
        new, fast = whole(new, shape), whole(fast, shape)
        param, grad = plain(param), plain(grad)
        gather.at(place)(plain(velocity), grad, fast, mu)
        if nesterov:
            update.at(place)(fast, grad, new, np.negative(rate.reshape(1)), param, mu)
        else:
            update.at(place)(param, fast, new, rate)
        return new, fast

    return _laid(planner, kernel, step)


@serves("adam")
def adam(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """Both running means, and Param - r * Moment1Out / (sqrt(Moment2Out) + epsilon)."""
    param, grad, _, moment1, moment2, _, _, *tensors = kernel.arguments
    op = kernel.op
    if any(each is not None for each in tensors) or op.beta2 < LEAST_STAY:
        return None
    if not _pays(planner, kernel, (param, grad, moment1, moment2)):
        return None
    shape = param.shape
    beta1, rest1, beta2, one = (
        np.asarray(number, FLOAT) for number in (op.beta1, 1 - op.beta1, op.beta2, 1.0)
    )
    share = np.asarray((1 - op.beta2) / op.beta2, FLOAT)
    vectors = Vectors(planner, param.size)
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

    def step(
        param: Any,
        grad: Any,
        rate: Any,
        moment1: Any,
        moment2: Any,
        power1: Any,
        power2: Any,
        _: Any,
        __: Any,
        place: Workplace,
        out: Any = None,
    ) -> Any:
        given = (None,) * 3 if out is None else out[:3]
        new, first, second = (whole(each, shape) for each in given)
        grad = plain(grad)
        pace = (rate * np.sqrt(1 - power2) / (power1 - 1)).reshape(1)
        mean.at(place)(plain(moment1), grad, first, beta1, rest1)
        square.at(place)(grad, grad, second, plain(moment2), share)
        update.at(place)(second, one, new, first, pace, plain(param))
        return new, first, second, power1 * beta1, power2 * beta2

    return _laid(planner, kernel, step)
