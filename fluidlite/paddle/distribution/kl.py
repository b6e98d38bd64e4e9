"""Divergences of Kullback and Leibler, by the classes of two distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import ArgumentError
from ...functions.elementary import log
from ...functions.reduction import sum as total
from ...functions.selection import where
from ...functions.special import digamma, lgamma
from ...ground import state
from ...ground.callsite import warn
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .bernoulli import Bernoulli
from .beta import Beta
from .categorical import Categorical
from .cauchy import Cauchy
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exponential_family import ExponentialFamily, log_normalizer
from .geometric import Geometric
from .laplace import Laplace
from .lognormal import LogNormal
from .normal import Normal
from .uniform import Uniform

if TYPE_CHECKING:
    from ...eager.tensor import Tensor

__all__ = ["kl_divergence", "register_kl"]

Rule = Callable[[Any, Any], Any]
F = TypeVar("F", bound=Rule)
#: two classes -> the divergence of their distributions
_rules: state.StateSlot[dict[tuple[type, type], Rule]] = state.slot(
    "divergences", lambda: dict(_BUILT_IN)
)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """How much information is lost where one distribution stands for another one, in nats.

    Args:
        p: the distribution of the draws.
        q: the one that stands for it.

    Raises:
        NotImplementedError: there is no formula for two of their classes: ``register_kl``.

    >>> D = fluid.paddle.distribution
    >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0)).item()
    0.5
    """
    return _rule(type(p), type(q))(p, q)


def register_kl(cls_p: type, cls_q: type) -> Callable[[F], F]:
    """A decorator of a function of two distributions that gives their divergence.

    Args:
        cls_p: the class of the first one, and of its subclasses that have no function themselves.
        cls_q: the class of the second one.

    Raises:
        ArgumentError: these are no classes of distributions.
    """
    for each in (cls_p, cls_q):
        if not isinstance(each, type) or not issubclass(each, Distribution):
            raise ArgumentError(f"register_kl: expected classes of distributions, got {each!r:.60}")

    def registered(function: F) -> F:
        _rules.get()[cls_p, cls_q] = function
        return function

    return registered


def _rule(p: type, q: type) -> Rule:
    rules = _rules.get()
    able = [pair for pair in rules if issubclass(p, pair[0]) and issubclass(q, pair[1])]
    if not able:
        raise NotImplementedError(
            f"kl_divergence: expected distributions with a formula, got {p.__name__} and "
            f"{q.__name__}; register_kl adds one"
        )
    of_p = min(able, key=lambda pair: (p.__mro__.index(pair[0]), q.__mro__.index(pair[1])))
    of_q = min(able, key=lambda pair: (q.__mro__.index(pair[1]), p.__mro__.index(pair[0])))
    if of_p != of_q:
        names = [f"{left.__name__} and {right.__name__}" for left, right in (of_p, of_q)]
        warn(
            f"kl_divergence: {p.__name__} and {q.__name__} have a formula of {names[0]} and one of "
            f"{names[1]}, which is not taken",
            None,
        )
    return rules[of_p]


def _by_method(p: Any, q: Any) -> Any:
    return p.kl_divergence(q)


def _of_beta(p: Beta, q: Beta) -> Any:
    mine, theirs = p.alpha + p.beta, q.alpha + q.beta
    normal = lgamma(q.alpha) + lgamma(q.beta) + lgamma(mine)
    other = lgamma(p.alpha) + lgamma(p.beta) + lgamma(theirs)
    slopes = (p.alpha - q.alpha) * digamma(p.alpha) + (p.beta - q.beta) * digamma(p.beta)
    return normal - other + slopes + (theirs - mine) * digamma(mine)


def _of_dirichlet(p: Dirichlet, q: Dirichlet) -> Any:
    mine, theirs = p.concentration, q.concentration
    whole = total(mine, -1)
    normal = lgamma(whole) - lgamma(total(theirs, -1)) - total(lgamma(mine) - lgamma(theirs), -1)
    expected = digamma(mine) - digamma(whole).unsqueeze(-1)
    return normal + total((mine - theirs) * expected, -1)


def _of_uniform(p: Uniform, q: Uniform) -> Any:

    inside = (q.low <= p.low).logical_and(p.high <= q.high)
    ratio = (q.high - q.low) / (p.high - p.low)
    return where(inside, log(ratio), ratio * math.inf)


def _of_family(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    """The divergence of Bregman that A makes (Nielsen and Nock, 2010)."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"kl_divergence: expected exponential families of one kind, got {type(p).__name__} and "
            f"{type(q).__name__}"
        )
    mine, slopes, natural = log_normalizer(p)
    out: Any = q._log_normalizer(*q._natural_parameters) - mine
    ndim = max(len(p.batch_shape), len(q.batch_shape))
    for slope, here, there in zip(slopes, natural, q._natural_parameters):
        part = (there - here) * slope
        axes = list(range(ndim, part.array.ndim))
        out = out - (total(part, axes) if axes else part)
    return out


_BUILT_IN: dict[tuple[type, type], Rule] = {
    **{
        (kind, kind): _by_method
        for kind in (Bernoulli, Categorical, Cauchy, Geometric, Laplace, LogNormal, Normal)
    },
    (Beta, Beta): _of_beta,
    (Dirichlet, Dirichlet): _of_dirichlet,
    (Uniform, Uniform): _of_uniform,
    (ExponentialFamily, ExponentialFamily): _of_family,
}

list_public_names(globals())
api_boundaries(globals())
