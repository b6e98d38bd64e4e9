"""How far, or how alike, vectors are."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, agree, broadcast, flat, need_float, same_dtype, spec
from .elementwise import indicator, sum_like
from .families import OneNumber
from .inert_attributes import ShapeAtRuntime
from .vector_norm import power_norm, power_norm_cotangent

SHORTEST = 1e-4  #: what shorter rows count as, so that none is divided by 0


class dist(OneNumber):
    """The length of X - Y: the sum of ``|X - Y|^p``, to the power of ``1 / p``.

    X, Y: of one element type; their shapes are aligned at the end, and sizes of 1 stretch.
    Out: one number.
    p: 0 counts what differs; ``float("inf")`` gives the largest difference, and ``-float("inf")``
        the smallest.
    """

    signature = "X, Y -> Out"
    p: float = 2.0
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_float(X=X, Y=Y)
        same_dtype(X=X, Y=Y)
        if math.isnan(self.p):
            raise AttributeValueError(f"expected p to be a number, got {self.p}")
        if 0 in broadcast(X.shape, Y.shape) and math.isinf(self.p):
            raise ShapeError(
                f"expected an element to choose, got shapes {list(X.shape)} and {list(Y.shape)}"
            )
        return spec(self.one, X.dtype)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        return power_norm(xp, xp.reshape(X - Y, (-1,)), self.p, 0, not self.zero_d)

    def grad(self, f: Any, X: Value, Y: Value, Out: Value, dOut: Value) -> Rules:
        def difference():
            return power_norm_cotangent(f, X - Y, Out, dOut, self.p)

        return dict(X=lambda: sum_like(f, difference(), X), Y=lambda: sum_like(f, -difference(), Y))


class Rows(Op, abstract=True):
    """A number for each row of X, compared with that row of Y or with its only row.

    X: [N, ...].
    Y: of the shape of X, or with 1 as first size.
    """

    def sizes(self, X: Spec, Y: Spec) -> Any:
        """The number of rows, of those of Y, and the size of a row when flattened."""
        need_float(X=X, Y=Y)
        same_dtype(X=X, Y=Y)
        if X.ndim < 2 or X.ndim != Y.ndim or not all(map(agree, X.shape[1:], Y.shape[1:])):
            raise ShapeError(
                f"expected X [n, ...] and Y with rows of the same shape, got {list(X.shape)} and "
                f"{list(Y.shape)}"
            )
        if Y.shape[0] != 1 and not agree(X.shape[0], Y.shape[0]):
            raise ShapeError(
                f"expected as many rows in Y as in X, or a single one; got {list(Y.shape)} and "
                f"{list(X.shape)}"
            )
        return X.shape[0], Y.shape[0], flat(X.shape, 1)[1]


class squared_l2_distance(Rows):
    """Out[i] = the sum of (X[i] - Y[i])^2.

    sub_result: X - Y, with flattened rows.
    """

    signature = "X, Y -> sub_result~, Out"

    def infer(self, X: Spec, Y: Spec) -> Specs:
        count, _, size = self.sizes(X, Y)
        return X.with_shape((count, size)), X.with_shape((count, 1))

    def run(self, xp: Any, X: Array, Y: Array) -> Arrays:
        difference = xp.reshape(X, flat(X.shape, 1)) - xp.reshape(Y, flat(Y.shape, 1))
        return difference, xp.sum(difference * difference, axis=1, keepdims=True)

    def grad(
        self, f: Any, X: Value, Y: Value, sub_result: Value, dOut: Value, dsub_result: Value = None
    ) -> Rules:
        def difference():
            g = sub_result * dOut * 2.0
            g = g if dsub_result is None else g + dsub_result
            return f.reshape(g, shape=list(X.shape))

        return dict(X=lambda: difference(), Y=lambda: sum_like(f, -difference(), Y))


class cos_sim(ShapeAtRuntime, Rows):
    """The cosine of the angle between each row of X and that of Y.

    XNorm, YNorm: the lengths of the rows, 1e-4 at least.
    Out: [N, 1].
    """

    signature = "X, Y -> Out, XNorm~, YNorm~"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)

    def infer(self, X: Spec, Y: Spec) -> Specs:
        count, other, _ = self.sizes(X, Y)
        out = X.with_shape((count, 1))
        return out, out, Y.with_shape((other, 1))

    def run(self, xp: Any, X: Array, Y: Array) -> Arrays:
        x, y = (xp.reshape(v, flat(v.shape, 1)) for v in (X, Y))
        x_norm, y_norm = (
            xp.maximum(xp.sqrt(xp.sum(v * v, axis=1, keepdims=True)), SHORTEST) for v in (x, y)
        )
        return xp.sum(x * y, axis=1, keepdims=True) / x_norm / y_norm, x_norm, y_norm

    def grad(self, f, X, Y, Out, XNorm, YNorm, dOut, dXNorm=None, dYNorm=None):
        flattened = lambda v: f.reshape(v, shape=flat(v.shape, 1))

        def by(one, other, norm, other_norm, dnorm):
            """The cotangent of a vector: through the product, and through its length."""
            x, y = flattened(one), flattened(other)
            longer = f.greater_than(norm, f.fill_any_like(norm, value=SHORTEST))
            unit = x / norm * indicator(f, longer, norm)
            g = sum_like(f, dOut * (y / other_norm - Out * unit) / norm, x)
            return f.reshape(g if dnorm is None else g + unit * dnorm, shape=list(one.shape))

        return dict(
            X=lambda: by(X, Y, XNorm, YNorm, dXNorm), Y=lambda: by(Y, X, YNorm, XNorm, dYNorm)
        )
