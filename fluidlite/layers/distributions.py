"""Probability distributions: samples, entropies, densities and divergences as operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from ..ground.missing_names import answer
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.variable import Variable
from .compare import less_than
from .creation import assign, fill_constant, fill_constant_batch_size_like
from .elementwise import elementwise_add, elementwise_mul, elementwise_pow
from .joining import concat
from .math import cast, matmul
from .matrix import diag
from .reduce import reduce_max, reduce_prod, reduce_sum
from .reshaping import reshape
from .reshaping import shape as shape_of
from .sampling import gaussian_random, uniform_random
from .unary import exp, log
from .variables import create_tensor


@answers_protected
class Distribution(Described):
    """What all distributions have: methods that append operators to the current program."""

    def sample(self, shape: Sequence[int], seed: int = 0) -> Variable:
        """Numbers drawn from the distribution."""
        raise _not_offered(self, "sample")

    def entropy(self) -> Variable:
        """The entropy, in nats."""
        raise _not_offered(self, "entropy")

    def kl_divergence(self, other: Any) -> Variable:
        """The divergence of Kullback and Leibler from ``other``, in nats."""
        raise _not_offered(self, "kl_divergence")

    def log_prob(self, value: Variable) -> Variable:
        """The logarithm of the density at ``value``."""
        raise _not_offered(self, "log_prob")


def _not_offered(distribution: Distribution, method: str) -> UnsupportedError:
    return UnsupportedError(
        f"expected a distribution with a method {method}, got {type(distribution).__name__}, "
        f"which has none"
    )


def _same_kind(distribution: Distribution, other: Any) -> None:
    if not isinstance(other, type(distribution)):
        raise ArgumentError(
            f"expected other to be a {type(distribution).__name__}, got {other!r:.60} of type "
            f"{type(other).__name__}"
        )


#: of distributions: a number, numbers or a variable
Parameters = float | list[Any] | np.ndarray[Any, Any] | Variable


def _checked(what: str, value: Any) -> Any:
    """A variable as it is, and numbers as a float32 array."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, list, np.ndarray)):
        raise ArgumentError(
            f"expected {what} to be a number, a list, an array or a variable, got {value!r:.60} of "
            f"type {type(value).__name__}"
        )
    try:
        return np.atleast_1d(np.asarray(value, "float32"))
    except (TypeError, ValueError):
        raise ArgumentError(f"expected {what} to hold numbers, got {value!r:.60}") from None


def _variables(stretched: bool, **given: Any) -> tuple[list[Any], bool]:
    """Parameters of a distribution as variables, and whether all were single numbers.

    Args:
        stretched: whether numbers get a common shape.
        given: parameters by their names.

    Raises:
        ArgumentError: a parameter is none, or there are variables and numbers.
    """
    single = all(isinstance(value, (int, float)) for value in given.values())
    values = [_checked(what, value) for what, value in given.items()]
    kinds = {isinstance(value, Variable) for value in values}
    if kinds == {True}:
        return values, False
    if len(kinds) > 1:
        raise ArgumentError(
            f"expected {' and '.join(given)} to be all variables or all numbers, got both"
        )
    if stretched:
        try:
            values = [np.array(value) for value in np.broadcast_arrays(*values)]
        except ValueError:
            shapes = " and ".join(str(list(value.shape)) for value in values)
            raise ArgumentError(
                f"expected shapes of {' and '.join(given)} that stretch to one, got {shapes}"
            ) from None
    variables: list[Any] = []
    for value in values:
        variables.append(create_tensor("float32"))
        assign(value, variables[-1])
    return variables, single


def _drawn(
    draw: Any, batch: Variable, shape: Any, seed: int, single: bool
) -> tuple[Variable, list[int]]:
    """Numbers for a sample, and the shape that the sample has in the end.

    Args:
        draw: makes numbers of a shape from a seed.
        batch: has the shape of one draw.
        shape: of the sample, before the dimensions of ``batch``.
        seed: fixes the numbers; 0 for none.
        single: whether the dimensions of ``batch`` are left out in the end.
    """
    if not isinstance(shape, (list, tuple)):
        raise ArgumentError(f"expected shape to be a list of sizes, got {shape!r:.60}")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ArgumentError(f"expected seed to be an integer, got {seed!r:.60}")
    whole = [*shape, *batch.shape]
    if -1 not in batch.shape:
        return draw(whole, seed=seed), list(shape) if single else whole
    front = assign(np.array(shape, "int32"))
    return draw(concat([front, shape_of(batch)]), seed=seed), whole


def _settled(out: Variable, sizes: list[int]) -> Variable:
    """A sample in the shape that is known of it, as far as one is."""
    return out if list(out.shape) == sizes or sizes.count(-1) > 1 else reshape(out, sizes)


class _OfTwo(Distribution):
    """A distribution of two parameters: noise, stretched and moved."""

    _noise: Callable[..., Variable]  #: of a shape and a seed
    _width: Any  #: what noise is stretched by
    _single: bool

    def _take(self, **given: Parameters) -> None:
        """Keep the parameters, as variables."""
        values, self._single = _variables(True, **given)
        vars(self).update(zip(given, values))
        self._names = tuple(given)

    def sample(self, shape: Sequence[int], seed: int = 0) -> Variable:
        """Numbers drawn from the distribution.

        Args:
            shape: of the sample, before the dimensions of the parameters.
            seed: fixes the numbers; 0 for others at every run.
        """
        start, other = (getattr(self, name) for name in self._names)
        noise, sizes = _drawn(self._noise, start + other, shape, seed, self._single)
        return _settled(elementwise_add(elementwise_mul(noise, self._width), start), sizes)


class Uniform(_OfTwo):
    """The uniform distribution between ``low`` and ``high``.

    Args:
        low, high: bounds: numbers, lists, arrays, or variables both.

    Raises:
        ArgumentError: a bound has none of these forms, or only one is a variable.

    >>> entropy = fluid.layers.Uniform(0.0, 2.0).entropy()
    >>> fluid.Executor().run(fetch_list=[entropy])
    [array([0.6931472], dtype=float32)]
    """

    low: Variable
    high: Variable

    def __init__(self, low: Parameters, high: Parameters) -> None:
        self._take(low=low, high=high)

    _width = property(lambda self: self.high - self.low)
    _noise = staticmethod(partial(uniform_random, min=0.0, max=1.0))

    def entropy(self) -> Variable:
        """The entropy, in nats: in the shape of the bounds."""
        return log(self.high - self.low)

    def log_prob(self, value: Variable) -> Variable:
        """The logarithm of the density at ``value``; minus infinity outside the bounds.

        Args:
            value: in a shape that goes with that of the bounds.
        """
        above: Any = cast(less_than(self.low, value), value.dtype)
        below: Any = cast(less_than(value, self.high), value.dtype)
        inside: Any = log(above * below)
        return inside - log(self.high - self.low)


class Normal(_OfTwo):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``.

    Args:
        loc, scale: numbers, lists, arrays, or variables both.

    Raises:
        ArgumentError: a parameter has none of these forms, or only one is a variable.

    >>> one, other = fluid.layers.Normal(0.0, 1.0), fluid.layers.Normal(1.0, 1.0)
    >>> fluid.Executor().run(fetch_list=[one.kl_divergence(other)])
    [array([0.5], dtype=float32)]
    """

    loc: Variable
    scale: Variable

    def __init__(self, loc: Parameters, scale: Parameters) -> None:
        self._take(loc=loc, scale=scale)

    _width = property(lambda self: self.scale)
    _noise = staticmethod(partial(gaussian_random, mean=0.0, std=1.0))

    def entropy(self) -> Variable:
        """The entropy, in nats: in the common shape of the parameters."""
        sizes = list((self.loc + self.scale).shape)
        zeros = fill_constant_batch_size_like(self.loc + self.scale, sizes, self.loc.dtype, 0.0)
        spread: Any = log(self.scale + zeros)
        return 0.5 + 0.5 * math.log(2 * math.pi) + spread

    def log_prob(self, value: Variable) -> Variable:
        """The logarithm of the density at ``value``.

        Args:
            value: in a shape that goes with that of the parameters.
        """
        variance = self.scale * self.scale
        log_scale = log(self.scale)
        square = (value - self.loc) * (value - self.loc)
        return -1.0 * square / (2.0 * variance) - log_scale - math.log(math.sqrt(2.0 * math.pi))

    def kl_divergence(self, other: Normal) -> Variable:
        """The divergence of Kullback and Leibler from ``other``, in nats.

        Args:
            other: another normal distribution.

        Raises:
            ArgumentError: ``other`` is none.
        """
        _same_kind(self, other)
        ratio = self.scale / other.scale
        ratio = ratio * ratio
        apart = (self.loc - other.loc) / other.scale
        apart = apart * apart
        return 0.5 * (ratio + apart - 1.0 - log(ratio))


class Categorical(Distribution):
    """The distribution over kinds whose logarithms of probabilities are ``logits`` and a constant.

    Args:
        logits: a list, an array or a variable; the last dimension numbers the kinds.

    Raises:
        ArgumentError: ``logits`` has none of these forms.

    >>> even = fluid.layers.Categorical([0.0, 0.0])
    >>> fluid.Executor().run(fetch_list=[even.entropy()])
    [array([0.6931472], dtype=float32)]
    """

    logits: Variable

    def __init__(self, logits: Parameters) -> None:
        ((self.logits,), _) = _variables(False, logits=logits)

    def _lowered(self) -> Any:
        """The logits, lowered so that the largest is 0."""
        return self.logits - reduce_max(self.logits, dim=-1, keep_dim=True)

    def entropy(self) -> Variable:
        """The entropy, in nats; the last dimension has size 1."""
        logits = self._lowered()
        weights: Any = exp(logits)
        total = reduce_sum(weights, dim=-1, keep_dim=True)
        each = (weights / total) * (logits - log(total))
        found: Any = reduce_sum(each, dim=-1, keep_dim=True)
        return -1.0 * found

    def kl_divergence(self, other: Categorical) -> Variable:
        """The divergence of Kullback and Leibler from ``other``, in nats; the last dimension has
        size 1.

        Args:
            other: another distribution over as many kinds.

        Raises:
            ArgumentError: ``other`` is none.
        """
        _same_kind(self, other)
        mine, theirs = self._lowered(), other._lowered()
        weights: Any = exp(mine)
        others = exp(theirs)
        total = reduce_sum(weights, dim=-1, keep_dim=True)
        others_total = reduce_sum(others, dim=-1, keep_dim=True)
        each = (weights / total) * (mine - log(total) - theirs + log(others_total))
        return reduce_sum(each, dim=-1, keep_dim=True)


@answers_protected
class MultivariateNormalDiag(Distribution):
    """The normal distribution of vectors whose covariance is diagonal.

    Args:
        loc: the mean: [k].
        scale: the covariance: [k, k], zero beside the diagonal.

    Raises:
        ArgumentError: a parameter is no list, array or variable, or only one is a variable.

    >>> variances = np.diag([1.0, 1.0]).astype("float32")
    >>> one = fluid.layers.MultivariateNormalDiag(np.zeros(2, "float32"), variances)
    >>> other = fluid.layers.MultivariateNormalDiag(np.ones(2, "float32"), variances)
    >>> fluid.Executor().run(fetch_list=[one.kl_divergence(other)])
    [array([1.], dtype=float32)]
    """

    loc: Variable
    scale: Variable

    def __init__(self, loc: Parameters, scale: Parameters) -> None:
        (self.loc, self.scale), _ = _variables(False, loc=loc, scale=scale)

    def _unit(self) -> tuple[Any, Any]:
        """A matrix of ones, and one with ones on the diagonal only."""
        sizes = list(self.scale.shape)
        ones = fill_constant(sizes, self.scale.dtype, 1.0)
        return ones, diag(fill_constant([sizes[0]], self.scale.dtype, 1.0))

    def _determinant(self) -> Any:
        ones, unit = self._unit()
        return reduce_prod(self.scale + ones - unit)

    def _inverse(self) -> Any:
        ones, unit = self._unit()
        return elementwise_pow(self.scale, ones - 2.0 * unit)

    def entropy(self) -> Variable:
        """The entropy, in nats: [1]."""
        size = self.scale.shape[0]
        volume: Any = log(self._determinant())
        return 0.5 * (size * (1.0 + math.log(2 * math.pi)) + volume)

    def kl_divergence(self, other: MultivariateNormalDiag) -> Variable:
        """The divergence of Kullback and Leibler from ``other``, in nats: [1].

        Args:
            other: another such distribution of vectors of that size.

        Raises:
            ArgumentError: ``other`` is none.
        """
        _same_kind(self, other)
        inverse = other._inverse()
        spread: Any = reduce_sum(inverse * self.scale)
        apart = other.loc - self.loc
        distance = matmul(matmul(apart, inverse), apart)
        size = self.scale.shape[0]
        theirs: Any = log(other._determinant())
        volumes = theirs - log(self._determinant())
        return 0.5 * (spread + distance - float(size) + volumes)


answer(globals())
