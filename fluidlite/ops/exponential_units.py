"""Rectifiers that fall below 0: to a limit, as exponential functions do, or with any slope."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError
from ..opdef.annotations import Array, Rules, Value
from ..opdef.spec import Spec
from ..opdef.structure import Epilogue
from .activation import above
from .elementwise import indicator
from .unary import Unary


class elu(Unary):
    """X where it is positive, else ``alpha * (exp(X) - 1)`` (Clevert et al., Fast and accurate deep
    network learning by exponential linear units, ICLR 2016).

    alpha: minus the limit far below 0.
    """

    alpha: float = 1.0

    def epilogue(self, x: Spec) -> Epilogue | None:
        return Epilogue(self.type, (self.alpha,))

    def run(self, xp: Any, X: Array) -> Array:
        return xp.where(X > 0, X, self.alpha * xp.expm1(xp.minimum(X, 0)))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            positive = above(f, X, 0.0)
            below = f.exp(X * (1.0 - positive)) * (1.0 - positive)
            return dOut * (positive + below * self.alpha)

        return dict(X=dx)


class celu(Unary):
    """X where it is positive, else ``alpha * (exp(X / alpha) - 1)`` (Barron, Continuously
    differentiable exponential linear units, 2017).

    alpha: minus the limit far below 0; not 0.
    """

    alpha: float = 1.0

    def infer(self, X: Spec) -> Spec:
        if self.alpha == 0:
            raise AttributeValueError("expected alpha other than 0, got 0")
        return super().infer(X)

    def run(self, xp: Any, X: Array) -> Array:
        below = xp.where(X > 0, xp.zeros((), X.dtype), X) / self.alpha
        return xp.where(X > 0, X, self.alpha * xp.expm1(below))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            positive = above(f, X, 0.0)
            below = f.exp(X * (1.0 - positive) / self.alpha) * (1.0 - positive)
            return dOut * (positive + below)

        return dict(X=dx)


class selu(Unary):
    """``scale * X`` where X is positive, else ``scale * alpha * (exp(X) - 1)``.

    Klambauer et al., Self-normalizing neural networks, NIPS 2017; the defaults are theirs.
    """

    scale: float = 1.0507009873554804934193349852946
    alpha: float = 1.6732632423543772848170429916717

    def run(self, xp: Any, X: Array) -> Array:
        return self.scale * xp.where(X > 0, X, self.alpha * xp.expm1(xp.minimum(X, 0)))

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        def dx():
            positive = above(f, Out, 0.0)
            below = (Out + self.scale * self.alpha) * (1.0 - positive)
            return dOut * (positive * self.scale + below)

        return dict(X=dx)


class leaky_relu_v2(Unary):
    """Out = X where X > 0, alpha X elsewhere, for slopes of any sign: the gradient reads X, as that
    of paddle 2 does.

    alpha: the slope below 0.  At 0 the slope is 1.
    """

    alpha: float = 0.02

    def expand(self, f: Any, X: Value) -> Value:
        below = f.elementwise_min(X, f.fill_zeros_like(X))
        return f.elementwise_add(f.relu(X), f.scale(below, scale=self.alpha))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        falls = lambda: indicator(f, X < 0.0, X) * (1 - self.alpha)
        return dict(X=lambda: dOut * (1.0 - falls()))
