"""What neural networks put between their layers: sigmoids, rectifiers, and their relatives."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, NoGradientError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex, is_complex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, agree, need_float, normal_axis, same_dtype, size_of
from ..opdef.structure import Epilogue
from .elementwise import indicator, sum_like
from .inert_attributes import UseMkldnn
from .unary import Activation, Unary


class tanh(Activation):
    """The hyperbolic tangent of X, for each element."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    ufunc: ClassVar[Callable[..., Any] | None] = np.tanh
    whole: ClassVar[bool] = False

    def grad_numpy(self, xp: Any, Out: Array, dOut: Array) -> Arrays:
        slope = xp.asarray(xp.multiply(Out, Out))
        xp.subtract(1.0, slope, out=slope)
        return dict(X=xp.multiply(dOut, slope, out=slope))

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * (1.0 - Out * Out))


class tanh_shrink(Activation):
    """``X - tanh(X)``, for each element."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def run(self, xp: Any, X: Array) -> Array:
        return X - xp.tanh(X)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.square(f.tanh(X)))


class stanh(Unary):
    """``scale_b * tanh(scale_a * X)``, for each element.

    scale_a: factor of the input.
    scale_b: factor of the output.
    """

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    scale_a: float = 0.67
    scale_b: float = 1.7159

    def run(self, xp: Any, X: Array) -> Array:
        return self.scale_b * xp.tanh(self.scale_a * X)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            t = f.tanh(X * self.scale_a)
            return dOut * (1.0 - t * t) * (self.scale_a * self.scale_b)

        return dict(X=dx)


class sigmoid(Activation):
    """``1 / (1 + exp(-X))``, for each element."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def run(self, xp: Any, X: Array) -> Array:
        return logistic(xp, X)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * Out * (1.0 - Out))


class logsigmoid(Activation):
    """``-log(1 + exp(-X))``, for each element."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def run(self, xp: Any, X: Array) -> Array:
        return -(xp.logaddexp(0, -X) if X.dtype.kind == "f" else complex_softplus(xp, -X))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.sigmoid(-X))


class softplus(Activation):
    """``log(1 + exp(X))``, for each element.

    beta: how sharp the bend at 0 is: Out is ``log(1 + exp(beta * X)) / beta``.
    threshold: where ``beta * X`` is above it, Out is X; not of complex numbers.
    """

    beta: float = attr(1.0, local=True)
    threshold: float = attr(math.inf, local=True)

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def run(self, xp: Any, X: Array) -> Array:
        if X.dtype.kind == "c":
            return complex_softplus(xp, X * self.beta) / self.beta
        if self.beta == 1:
            out = xp.logaddexp(0, X)
        else:
            out = xp.logaddexp(0, X * self.beta) / self.beta
        return out if self.threshold == math.inf else xp.where(self.straight(X), X, out)

    def straight(self, X: Array) -> Array:
        """Where Out is X."""
        return X * self.beta > self.threshold

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            scaled = X if self.beta == 1 else X * self.beta
            if self.threshold == math.inf or is_complex(X):
                return dOut * f.sigmoid(scaled)
            straight = above(f, scaled, self.threshold)
            return dOut * (straight + (1.0 - straight) * f.sigmoid(scaled))

        return dict(X=dx)


class soft_relu(Unary):
    """``log(1 + exp(y))`` for ``y``, which is X within [-threshold, threshold].

    threshold: the bound of X.
    """

    threshold: float = 40.0

    def run(self, xp: Any, X: Array) -> Array:
        return xp.logaddexp(0, xp.clip(X, -self.threshold, self.threshold))

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        """Out tells where X was inside, and there sigmoid(X) = 1 - e^-Out."""

        def bound(value):
            return f.soft_relu(f.fill_any_like(Out, value=value), threshold=self.threshold)

        def dx():
            t = f.tanh(Out * 0.5)  # 1 - e^-Out would lose the digits of a small Out
            slope = t * 2.0 / (1.0 + t)
            return dOut * slope * between(f, Out, bound(-self.threshold), bound(self.threshold))

        return dict(X=dx)


class softsign(Activation):
    """``X / (1 + |X|)``, for each element."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def run(self, xp: Any, X: Array) -> Array:
        return X / (1 + xp.abs(X))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            size = f.abs(X)
            if not is_complex(X):
                return dOut / f.square(1.0 + size)
            # along X as for real numbers, across it as X shrinks: dOut / (1 + |X|)
            below, away = 1.0 + size, size + indicator(f, size == 0.0, size)
            along = f.real(f.conj(X) * dOut) / (f.square(below) * away)
            return dOut / below - X * along

        return dict(X=dx)


class gelu(Activation):
    """X times the probability that a normal variable lies below X (Hendrycks and Gimpel, Gaussian
    error linear units, arXiv 1606.08415).

    approximate: take ``1/2 (1 + tanh(sqrt(2/pi) (X + 0.044715 X^3)))`` for the probability.
    """

    approximate: bool = False

    def epilogue(self, x: Spec) -> Epilogue | None:
        return Epilogue(self.type, (float(self.approximate),))

    def run(self, xp: Any, X: Array) -> Array:
        if self.approximate:
            inner = math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)
            return 0.5 * X * (1 + xp.tanh(inner))
        return 0.5 * X * (1 + xp.erf(X * math.sqrt(0.5)))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def approximate():
            squared = X * X
            t = f.tanh((X + squared * X * 0.044715) * math.sqrt(2 / math.pi))
            slope = (squared * (3 * 0.044715) + 1.0) * math.sqrt(2 / math.pi)
            return dOut * 0.5 * (1.0 + t + X * (1.0 - t * t) * slope)

        def exact():
            density = f.exp(X * X * -0.5) * (1 / math.sqrt(2 * math.pi))
            return dOut * ((1.0 + f.erf(X * math.sqrt(0.5))) * 0.5 + X * density)

        return dict(X=approximate if self.approximate else exact)


class swish(UseMkldnn, Unary):
    """``X * sigmoid(beta * X)``, for each element (Ramachandran et al., Searching for activation
    functions, 2017).

    beta: how steep the sigmoid is.
    """

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    beta: float = 1.0

    def epilogue(self, x: Spec) -> Epilogue | None:
        return Epilogue(self.type, (self.beta,))

    def run(self, xp: Any, X: Array) -> Array:
        gate = logistic(xp, X if self.beta == 1 else self.beta * X)
        if X.dtype.kind == "c":
            return X * gate
        largest = _largest(X.dtype)  # where the gate is 0, infinite X must give 0
        if self.beta < 0:
            return xp.minimum(X, largest) * gate
        return xp.maximum(X, -largest) * gate

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            inner = X * self.beta
            s = f.sigmoid(inner)
            # far outside s (1 - s) is 0, and so is the product with what is infinite
            if not is_complex(X):
                inner = f.clip(inner, min=-FAR, max=FAR)
            return dOut * (s + inner * s * (1.0 - s))

        return dict(X=dx)


class silu(Unary):
    """``X * sigmoid(X)``, for each element (Elfwing et al., Sigmoid-weighted linear units for
    neural network function approximation, 2017).
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    fluid: ClassVar[FluidForm] = FluidForm(carried=("Out",))

    def expand(self, f: Any, X: Value) -> Value:
        return f.swish(X)


class mish(Unary):
    """``X * tanh(log(1 + exp(X)))``, for each element (Misra, Mish: a self regularized
    non-monotonic activation function, BMVC 2020).

    threshold: ``log(1 + exp(X))`` is taken as X above it, and as ``exp(X)`` below its negative.
    """

    threshold: float = 20.0

    def run(self, xp: Any, X: Array) -> Array:
        return X * xp.tanh(tailed_softplus(xp, X, self.threshold))

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            right, left = above(f, X, self.threshold), above(f, -X, self.threshold)
            within, tail = 1.0 - right - left, left * f.exp(X * left)
            t = f.tanh(right * X + within * f.softplus(X) + tail)
            slope = right + within * f.sigmoid(X) + tail
            return dOut * (t + X * (1.0 - t * t) * slope)

        return dict(X=dx)


class relu(Activation):
    """X where it is positive, else 0, for each element: ``max(X, 0)``."""

    is_monotone: ClassVar[bool] = True

    def run(self, xp: Any, X: Array) -> Array:
        return xp.maximum(X, 0)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * above(f, Out, 0.0))


class relu6(Unary):
    """``min(max(0, X), threshold)``, for each element.

    threshold: the upper bound.
    """

    threshold: float = 6.0

    def epilogue(self, x: Spec) -> Epilogue | None:
        return Epilogue(self.type, (self.threshold,))

    def run(self, xp: Any, X: Array) -> Array:
        return xp.clip(X, 0, self.threshold)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * between(f, Out, 0.0, self.threshold))


class brelu(Unary):
    """``min(max(t_min, X), t_max)``, for each element.

    t_min: the bounds.
    t_max: the bounds.
    """

    t_min: float = 0.0
    t_max: float = 24.0

    def run(self, xp: Any, X: Array) -> Array:
        return xp.clip(X, self.t_min, self.t_max)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * between(f, X, self.t_min, self.t_max))


class thresholded_relu(Unary):
    """X where it is above ``threshold``, else 0."""

    threshold: float = 1.0

    def run(self, xp: Any, X: Array) -> Array:
        return xp.where(self.threshold < X, X, 0)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * above(f, X, self.threshold))


class leaky_relu(UseMkldnn, Unary):
    """Out = X where X > 0, alpha X elsewhere.

    alpha: the slope below 0.
    rises_at_0: paddle 2's form: the slope at 0 is 1, not alpha; unless alpha is 0, too.
    """

    alpha: float = 0.02
    rises_at_0: bool = attr(False, edition=True)

    def epilogue(self, x: Spec) -> Epilogue | None:
        return Epilogue(self.type, (self.alpha,))

    def run(self, xp: Any, X: Array) -> Array:
        return xp.where(X > 0, X, self.alpha * X)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        if self.alpha < 0:
            raise NoGradientError(
                "the gradient of leaky_relu is found from the sign of Out, which needs alpha >= 0; "
                f"got alpha={self.alpha}"
            )

        slope = lambda rises: rises * (1 - self.alpha) + self.alpha
        if self.rises_at_0 and self.alpha:
            return dict(X=lambda: dOut * slope(1.0 - indicator(f, Out < 0.0, Out)))
        return dict(X=lambda: dOut * slope(above(f, Out, 0.0)))


class hard_shrink(Unary):
    """X where it lies outside of [-threshold, threshold], else 0."""

    threshold: float = 0.5

    def run(self, xp: Any, X: Array) -> Array:
        return xp.where(xp.abs(X) > self.threshold, X, 0)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * above(f, f.abs(X), self.threshold))


class softshrink(Unary):
    """X moved towards 0 by lambda, and 0 where it is closer than that."""

    lambda_: float = attr(0.5, alias="lambda")

    def run(self, xp: Any, X: Array) -> Array:
        return X - xp.clip(X, -self.lambda_, self.lambda_)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * above(f, f.abs(X), self.lambda_))


class hard_sigmoid(Unary):
    """``slope * X + offset`` within [0, 1], for each element.

    slope: of the straight part.
    offset: the value at 0.
    """

    slope: float = 0.2
    offset: float = 0.5

    def run(self, xp: Any, X: Array) -> Array:
        return xp.clip(self.slope * X + self.offset, 0, 1)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * between(f, Out, 0.0, 1.0) * self.slope)


class hard_swish(Unary):
    """``X * min(max(0, X + offset), threshold) / scale``, for each element (Howard et al.,
    Searching for MobileNetV3, ICCV 2019).

    threshold: the upper bound of the second factor.
    scale: the divisor.
    offset: added to X in the second factor.
    """

    threshold: float = 6.0
    scale: float = 6.0
    offset: float = 3.0

    def run(self, xp: Any, X: Array) -> Array:
        return X * xp.clip(X + self.offset, 0, self.threshold) / self.scale

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            gate = X + self.offset
            slope = X * between(f, gate, 0.0, self.threshold)
            return dOut * (f.relu6(gate, threshold=self.threshold) + slope) / self.scale

        return dict(X=dx)


class prelu(Op):
    """Out = X where X > 0, Alpha X elsewhere.

    Alpha: one slope; one for each channel, which is dimension 1; or one for each element of X along
        all dimensions but the first.
    mode: which of these: "all", "channel" or "element".
    data_format: NHWC and its like where the channels are the last dimension.
    """

    signature = "X, Alpha -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    mode: str = "all"
    data_format: str = attr("NCHW", local=True)

    def slopes(self, shape: Shape) -> Shape:
        """The shape of Alpha that broadcasts to X."""
        if self.mode == "all":
            return (1,) * len(shape)
        if self.mode == "channel" and len(shape) > 1 and self.data_format[-1] == "C":
            return (1,) * (len(shape) - 1) + shape[-1:]
        if self.mode == "channel" and len(shape) > 1:
            return (1, shape[1]) + (1,) * (len(shape) - 2)
        if self.mode == "element" and len(shape) > 1:
            return (1, *shape[1:])
        if self.mode in ("channel", "element"):
            raise ShapeError(
                f"mode {self.mode!r} needs X of 2 or more dimensions, got {list(shape)}"
            )
        raise AttributeValueError(f"expected mode all, channel or element, got {self.mode!r}")

    def infer(self, X: Spec, Alpha: Spec) -> Specs:
        need_float(X=X, Alpha=Alpha)
        same_dtype(X=X, Alpha=Alpha)
        wanted, got = size_of(self.slopes(X.shape)), size_of(Alpha.shape)
        if not agree(wanted, got):
            raise ShapeError(
                f"expected Alpha to hold {wanted} slopes for X of shape {list(X.shape)} and mode "
                f"{self.mode!r}, got shape {list(Alpha.shape)}"
            )
        return X

    def run(self, xp: Any, X: Array, Alpha: Array) -> Array:
        return xp.where(X > 0, X, xp.reshape(Alpha, self.slopes(X.shape)) * X)

    def grad(self, f: Any, X: Value, Alpha: Value, dOut: Value) -> Rules:
        negative = lambda: 1.0 - above(f, X, 0.0)
        slopes = f.reshape(Alpha, shape=list(self.slopes(X.shape)))

        def dx():
            below = negative()
            return dOut * (1.0 - below + below * slopes)

        def dalpha():
            total = sum_like(f, dOut * X * negative(), slopes)
            return f.reshape(total, shape=list(Alpha.shape))

        return dict(X=dx, Alpha=dalpha)


class maxout(Op):
    """The largest of each ``groups`` neighbouring channels (Goodfellow et al., Maxout networks,
    ICML 2013).

    X: images, [N, C, H, W], or [N, H, W, C] with ``axis`` 3 or -1.
    Out: of the shape of X with ``C / groups`` channels.
    groups: the number of neighbouring channels in a group; divides that of all channels.
    axis: the dimension of the channels.
    """

    signature = "X -> Out"
    lod: ClassVar[str | None] = None
    groups: int = REQUIRED
    axis: int = 1

    def grouped(self, shape: Shape) -> tuple[Any, ...]:
        """A shape with the channels split into groups and members, and the axis of the members."""
        axis = normal_axis(self.axis, len(shape))
        split = (shape[axis] // self.groups, self.groups)
        return shape[:axis] + split + shape[axis + 1 :], axis + 1

    def infer(self, X: Spec) -> Spec:
        need_float(X=X)
        channels = X.shape[normal_axis(self.axis, X.ndim)]
        if self.groups < 1 or (channels != -1 and channels % self.groups):
            raise ShapeError(
                f"expected a number of channels divisible by groups={self.groups}, got X of shape "
                f"{list(X.shape)}"
            )
        return X.with_dim(self.axis, -1 if channels == -1 else channels // self.groups)

    def run(self, xp: Any, X: Array) -> Array:
        shape, axis = self.grouped(X.shape)
        return xp.max(xp.reshape(X, shape), axis=axis)

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        """Where several members are largest, they share the gradient."""
        shape, axis = self.grouped(X.shape)

        def dx():
            one = [*shape[:axis], 1, *shape[axis + 1 :]]
            members = f.reshape(X, shape=list(shape))
            largest = indicator(f, f.equal(members, f.reshape(Out, shape=one)), X)
            share = largest / f.reduce_sum(largest, dim=[axis], keep_dim=True)
            return f.reshape(share * f.reshape(dOut, shape=one), shape=list(X.shape))

        return dict(X=dx)


#: e^-FAR is 0 in every element type
FAR = 1000.0


#: powers of e that are still finite, by the bytes of an element
LARGEST_POWER = {4: 88.7, 8: 709.7}


@functools.lru_cache
def _largest(dtype: Any) -> Any:
    """The largest number, of its type: before NumPy 2 a float that large made doubles."""
    return np.finfo(dtype).max


def logistic(xp: Any, X: Array) -> Array:
    """1 / (1 + e^-X), exact in relative terms on both sides down to the smallest normal number."""
    if X.dtype.kind == "c":
        right = xp.real(X) >= 0
        small = xp.exp(xp.where(right, -X, X))
        return xp.where(right, 1, small) / (1 + small)
    if X.dtype.itemsize > 2:
        most = X.dtype.type(LARGEST_POWER[X.dtype.itemsize])
        return (-most <= X) / (1 + xp.exp(xp.minimum(-X, most)))
    small = xp.exp(-xp.abs(X))  # e^-X overflows early in half precision
    return xp.where(X >= 0, 1, small) / (1 + small)


def complex_softplus(xp: Any, X: Array) -> Array:
    """log(1 + e^X) of complex numbers, whose imaginary part is in (-pi, pi]."""
    right = xp.real(X) > 0
    out = xp.log1p(xp.exp(xp.where(right, -X, X))) + xp.where(right, X, 0)
    turns = xp.round(xp.imag(out) / (2 * math.pi))
    return xp.asarray(out - 2j * math.pi * turns, X.dtype)


def tailed_softplus(xp: Any, v: Array, threshold: float) -> Array:
    """ln(1 + e^v), or what it tends to where ``v`` is larger in size than ``threshold``."""
    inner = xp.where(v < -threshold, xp.exp(xp.minimum(v, 0)), xp.logaddexp(0, v))
    return xp.where(v > threshold, v, inner)


def above(f: Any, v: Value, bound: float) -> Value:
    """1 where v > bound, else 0."""
    return indicator(f, v > bound, v)


def between(f: Any, v: Value, low: Value, high: Value) -> Value:
    """1 where low < v < high, else 0."""
    return indicator(f, v > low, v) * indicator(f, v < high, v)
