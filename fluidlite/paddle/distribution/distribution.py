"""What probability distributions have in common."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...eager.mode import no_grad
from ...eager.recording import TensorRecord
from ...errors import ArgumentError
from ...functions.elementary import cast, exp
from ...functions.shaping import broadcast_tensors
from ...ground.aliases import Alias
from ...ground.docstrings import Family
from ...ground.dtypes import as_dtype
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operand
from ...opdef.spec import broadcast
from .. import creation

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike

__all__ = ["Distribution"]

T = TypeVar("T", bound="Distribution")

#: what methods of distributions take
METHODS = Family(
    {
        "value": "what was drawn: a tensor, an array or a number, in a shape that broadcasts with "
        "that of the distribution.",
        "shape": "sizes in front of those of the distribution: how many are drawn of each.",
        "other": "a distribution.",
        "name": "accepted.",
    }
)


def tensor_of(value: ArrayLike, like: Tensor | None = None) -> Tensor:
    """A value as a tensor, or a variable: of the element type of another one, as long as its own
    is none of fractions.

    Args:
        value: a tensor, an array, a number, or lists of them.
        like: has the element type; float32 when None.

    Raises:
        ArgumentError: it is none of these.
    """
    kind = np.dtype("float32") if like is None else like.array.dtype
    if isinstance(value, Operand):
        made: Any = value
        return made if value.array.dtype.kind == "f" else cast(made, as_dtype(kind))
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError
    except (TypeError, ValueError):
        raise ArgumentError(
            f"expected a number, a list, an array or a tensor, got {value!r:.60} of type "
            f"{type(value).__name__}"
        ) from None
    if like is None and isinstance(value, np.ndarray) and array.dtype == np.float64:
        kind = array.dtype
    return creation.to_tensor(array.astype(kind))


def parameters_in(*values: ArrayLike, spread: bool = True) -> list[Any]:
    """Parameters of a distribution, as tensors of one element type.

    Args:
        values: numbers, lists, arrays, tensors.
        spread: whether tensors get a common shape; other values do in any case.

    Raises:
        ArgumentError: one is none of these.
    """
    tensors: list[Any] = [each for each in values if isinstance(each, Operand)]
    first = tensor_of(tensors[0]) if tensors else None
    parameters: list[Any] = [tensor_of(each, first) for each in values]
    widest = max((each.array.dtype for each in parameters), key=lambda kind: kind.itemsize)
    parameters = [p if p.array.dtype == widest else cast(p, as_dtype(widest)) for p in parameters]
    alike = all(each.array.shape == parameters[0].array.shape for each in parameters)
    if alike or not (spread or len(tensors) < len(values)):
        return parameters
    return broadcast_tensors(parameters)


def stretched(*tensors: Tensor, shape: Sequence[int] = ()) -> tuple[int, ...]:
    """The shape that tensors broadcast to; -1 where a program knows it in a run only.

    Args:
        tensors: of shapes that fit together.
        shape: a further one.
    """
    shapes = [[*shape], *([*tensor.array.shape] for tensor in tensors)]
    gaps = [[size == -1 for size in sizes] for sizes in shapes]
    # a size that nobody knows is that of the result, unless there is one above 1
    settled = [tuple([1 if size == -1 else size for size in sizes]) for sizes in shapes]
    known: tuple[int, ...] = functools.reduce(broadcast, settled, ())
    unknown = np.zeros(len(known), bool)
    for gap in gaps:
        unknown[len(known) - len(gap) :] |= np.array(gap, bool)
    return tuple(-1 if gap and size == 1 else size for size, gap in zip(known, unknown))


def known_elements(parameter: Tensor) -> Any:
    """The elements of a parameter, to be checked; none where a program computes it."""
    return parameter.array if isinstance(parameter, TensorRecord) else np.empty(0)


def sizes_in(shape: Any) -> tuple[int, ...]:
    """The sizes of samples, checked.

    Raises:
        ArgumentError: they are no list of whole numbers.
    """
    if not isinstance(shape, (list, tuple)) or not all(
        isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size >= 0
        for size in shape
    ):
        raise ArgumentError(f"expected shape to be a list of sizes from 0, got {shape!r:.60}")
    return tuple(map(int, shape))


def without_gradient(draw: Callable[..., Any], *given: Any) -> Any:
    """What a function gives, as a constant."""
    with no_grad():
        out = draw(*given)
    out.stop_gradient = True
    return out


class Distribution(Described):
    """The base of probability distributions; several that are alike are held together.

    Args:
        batch_shape: of the distributions that are held together.
        event_shape: of one draw.
    """

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        for what, sizes in (("batch_shape", batch_shape), ("event_shape", event_shape)):
            if not isinstance(sizes, Iterable):
                raise ArgumentError(f"expected {what} to be a tuple of sizes, got {sizes!r:.60}")
        self._batch_shape, self._event_shape = tuple(batch_shape), tuple(event_shape)

    batch_shape: Alias[Sequence[int]] = Alias(
        "_batch_shape", "The shape of the distributions that are held together."
    )
    event_shape: Alias[Sequence[int]] = Alias("_event_shape", "The shape of one draw.")

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        raise self._not_offered("mean")

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        raise self._not_offered("variance")

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        raise self._not_offered("sample")

    @METHODS
    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws, through which gradients flow to the parameters."""
        raise self._not_offered("rsample")

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise self._not_offered("entropy")

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another distribution, in nats."""
        raise self._not_offered("kl_divergence")

    @METHODS
    def prob(self, value: ArrayLike) -> Tensor:
        """The density, or the probability, of a value."""
        return exp(self.log_prob(value))

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of :meth:`prob`."""
        raise self._not_offered("log_prob")

    @METHODS
    def probs(self, value: ArrayLike) -> Tensor:
        """The same as :meth:`prob`."""
        return self.prob(value)

    def _extend_shape(self, sample_shape: Sequence[int]) -> tuple[int, ...]:
        return (*sizes_in(sample_shape), *self.batch_shape, *self.event_shape)

    def _not_offered(self, method: str) -> NotImplementedError:
        return NotImplementedError(
            f"expected a distribution with {method}, got {type(self).__name__}, which has none"
        )


def need_same(distribution: T, other: Any) -> T:
    """A distribution that is of the class of another one.

    Raises:
        ArgumentError: it is none.
    """
    if not isinstance(other, type(distribution)):
        raise ArgumentError(
            f"kl_divergence: expected a {type(distribution).__name__}, got {type(other).__name__}"
        )
    return other


list_public_names(globals())
api_boundaries(globals())
