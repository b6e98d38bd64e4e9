"""Distributions whose logarithm of the density is linear in functions of what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...backward import gradients
from ...eager.engine import grad
from ...functions.creation import assign
from ...functions.reduction import sum as total
from ...ground.public_names import list_public_names
from ...ground.state import builds
from ...ground.tracebacks import api_boundaries
from .distribution import Distribution

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


class ExponentialFamily(Distribution):
    """The base of distributions with the density ``h(x) exp(<theta, t(x)> - A(theta))``.

    A subclass gives theta in ``_natural_parameters``, the function A in ``_log_normalizer``, and
    the expectation of ``log h`` in ``_mean_carrier_measure``; the entropy follows (Nielsen and
    Nock, Entropies and cross-entropies of exponential families, 2010).

    Args:
        batch_shape: of the distributions that are held together.
        event_shape: of one draw.
    """

    @property
    def _natural_parameters(self) -> Any:
        raise self._not_offered("_natural_parameters")

    def _log_normalizer(self, *natural_parameters: Any) -> Any:
        raise self._not_offered("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._not_offered("_mean_carrier_measure")

    def entropy(self) -> Tensor:
        """The entropy, in nats: of the gradient of A."""
        normalizer, slopes, natural = log_normalizer(self)
        out: Any = normalizer - self._mean_carrier_measure
        ndim = len(self.batch_shape)
        for slope, parameter in zip(slopes, natural):
            part = slope * parameter
            axes = list(range(ndim, part.array.ndim))
            out = out - (total(part, axes) if axes else part)
        return out


def log_normalizer(family: ExponentialFamily) -> tuple[Any, list[Any], list[Any]]:
    """A of the natural parameters, its gradient by them, and the parameters."""
    natural: list[Any] = []
    for parameter in family._natural_parameters:
        copy: Any = assign(parameter)
        copy.stop_gradient = False
        natural.append(copy)
    out = family._log_normalizer(*natural)
    if builds.get():
        whole: Any = total(out)
        return out, gradients(whole, natural), natural
    return out, grad(total(out), natural, create_graph=True), natural


list_public_names(globals())
api_boundaries(globals())
