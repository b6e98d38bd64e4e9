"""Random numbers in the shape of a tensor: chances, noise, choices."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import attr, need_above
from ..opdef.definition import Detached, Op
from ..opdef.spec import Spec, agree, need_float, need_ndim, normal_axis, size_of
from .sampling import EvenlySpread, NormallySpread


class DrawnFor(Op, abstract=True):
    """Random numbers for each element of X, on which nothing depends smoothly."""

    signature = "X -> Out"
    random: ClassVar[bool] = True

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        return X

    def run(self, xp: Any, rng: Any, X: Array) -> Array:
        return xp.asarray(self.drawn(xp, rng(self.start), X), X.dtype)

    @property
    def start(self) -> int:
        """Fixes the numbers of every run; with 0 they come from the program's own stream."""
        return 0

    def drawn(self, xp: Any, generator: Any, X: Array) -> Array:
        """The numbers."""
        raise NotImplementedError

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.fill_zeros_like(dOut))


class bernoulli(DrawnFor):
    """Out = 1 with the chance X, else 0, for each element."""

    grad = None

    def drawn(self, xp: Any, generator: Any, X: Array) -> Array:
        return generator.random(X.shape, X.dtype) < X


class poisson(DrawnFor):
    """Out = how often something happens that happens X times on average, for each element.

    X: floats from 0.
    """

    def drawn(self, xp: Any, generator: Any, X: Array) -> Array:
        return generator.poisson(X)


class exponential(DrawnFor):
    """Out = exponentially distributed numbers in the shape of X, of the mean 1 / lambda.

    lambda: how often something happens in a unit of time.
    """

    rate: float = attr(1.0, alias="lambda")

    def infer(self, X: Spec) -> Specs:
        need_above(self, 0, "rate")
        return super().infer(X)

    def drawn(self, xp: Any, generator: Any, X: Array) -> Array:
        return -xp.log1p(-generator.random(X.shape, X.dtype)) / self.rate


class uniform_random_inplace(DrawnFor, EvenlySpread):
    """Out = numbers equally likely everywhere in [min, max), in the shape of X.

    seed: fixes the numbers of every run; with 0 they come from the program's own stream.
    """

    reads_shapes: ClassVar[bool] = True
    seed: int = 0

    @property
    def start(self) -> int:
        return self.seed

    def infer(self, X: Spec) -> Specs:
        self.check_bounds()
        return super().infer(X)

    def drawn(self, xp: Any, generator: Any, X: Array) -> Array:
        return self.numbers(xp, generator, X.shape, X.dtype)


class gaussian_inplace(NormallySpread):
    """out = normally distributed numbers in the shape of x.

    seed: fixes the numbers of every run; with 0 they come from the program's own stream.
    """

    signature = "x -> out"
    random: ClassVar[bool] = True
    reads_shapes: ClassVar[bool] = True
    seed: int = 0

    def infer(self, x: Spec) -> Specs:
        need_float(x=x)
        return x

    def run(self, xp: Any, rng: Any, x: Array) -> Array:
        return xp.asarray(self.numbers(rng(self.seed), x.shape, x.dtype), x.dtype)

    def grad(self, f: Any, dout: Value) -> Rules:
        return dict(x=lambda: f.fill_zeros_like(dout))


class dirichlet(Op):
    """Out = shares that add up to 1 along the last dimension, of Dirichlet's distribution.

    Alpha: concentrations above 0, [..., n].
    """

    signature = "Alpha -> Out"
    random: ClassVar[bool] = True
    grad = None

    def infer(self, Alpha: Spec) -> Specs:
        need_float(Alpha=Alpha)
        if not Alpha.ndim:
            raise ShapeError("expected Alpha of at least one dimension, got shape []")
        return Alpha

    def run(self, xp: Any, rng: Any, Alpha: Array) -> Array:
        precision = "float64" if Alpha.dtype.itemsize > 4 else "float32"
        drawn = rng(0).standard_gamma(Alpha.astype(precision), dtype=precision)
        return (drawn / xp.sum(drawn, axis=-1, keepdims=True)).astype(Alpha.dtype)


class gumbel_softmax(Op):
    """Out = a class that is drawn by its logits, as a vector that gradients flow through (Jang, Gu
    and Poole, Categorical reparameterization with Gumbel-softmax, ICLR 2017).

    X: logits.
    Soft: where ``hard``, the vector before it was made hard; absent in programs of Paddle's, whose
        gradient is 0 then.
    temperature: above 0; small ones make the vectors nearly 0 or 1.
    hard: make them 0 or 1; gradients are those of the soft ones.
    axis: the dimension of the classes; may count from the end.
    """

    signature = "X -> Out, Soft?~"
    random: ClassVar[bool] = True
    temperature: float = 1.0
    hard: bool = False
    axis: int = -1

    def absent_outputs(self) -> tuple[str, ...]:
        return () if self.hard else ("Soft",)

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_above(self, 0, "temperature")
        normal_axis(self.axis, max(X.ndim, 1))
        return X, X if self.hard else None

    def run(self, xp: Any, rng: Any, X: Array) -> Arrays:
        unit = 1e-12 + rng(0).random(X.shape, X.dtype) * (1.0 - 1e-12)
        scores = (X - xp.log(-xp.log(unit) + 1e-20)) / self.temperature
        if not X.ndim:
            return xp.ones_like(X), xp.ones_like(X) if self.hard else None
        scores = xp.exp(scores - scores.max(axis=self.axis, keepdims=True))
        soft = xp.asarray(scores / scores.sum(axis=self.axis, keepdims=True), X.dtype)
        if not self.hard:
            return soft, None
        best = xp.expand_dims(xp.argmax(soft, axis=self.axis), self.axis)
        axis = normal_axis(self.axis, X.ndim)
        places = xp.reshape(xp.arange(X.shape[axis]), (-1, *[1] * (X.ndim - 1 - axis)))
        return xp.asarray(places == best, X.dtype), soft

    def grad(
        self, f: Any, Out: Value, dOut: Value, Soft: Value = None, dSoft: Value = None
    ) -> Rules:
        def dx():
            soft = Out if Soft is None else Soft
            flow = dOut if dSoft is None else dOut + dSoft
            if not soft.shape:
                return f.fill_zeros_like(flow)
            along = f.reduce_sum(flow * soft, dim=[self.axis], keep_dim=True)
            return soft * (flow - along) * (1 / self.temperature)

        return dict(X=dx)


class top_p_sampling(Detached):
    """ids = a place of each row of x, drawn by the probabilities there among the largest ones that
    together are above a share; out = its probability.

    (Holtzman et al., The curious case of neural text degeneration, ICLR 2020.)

    x: probabilities, [N, n].
    ps: the share for each row, [N] or [N, 1].
    threshold: the least probability that is taken of each row, [N] or [N, 1].
    seed: fixes the numbers of every run; with -1 they come from the program's own stream.
    """

    signature = "x, ps, threshold? -> out, ids"
    random: ClassVar[bool] = True
    seed: int = -1

    def infer(self, x: Spec, ps: Spec, threshold: Spec | None) -> Specs:
        need_float(x=x, ps=ps, threshold=threshold)
        need_ndim(2, x=x)
        for name, bound in dict(ps=ps, threshold=threshold).items():
            if bound is not None and not agree(size_of(bound.shape), x.shape[0]):
                raise ShapeError(
                    f"expected {name} with a number for each row of x of shape {list(x.shape)}, "
                    f"got {list(bound.shape)}"
                )
        out = x.with_dim(1, 1)
        return out, out.with_dtype(DType.INT64)

    def run(self, xp: Any, rng: Any, x: Array, ps: Array, threshold: Array | None) -> Arrays:
        order = xp.argsort(-x, axis=1, kind="stable")
        sorted_ = xp.take_along_axis(x, order, 1)
        before = xp.cumsum(sorted_, axis=1) - sorted_
        likely = before < xp.reshape(ps, (-1, 1))
        if threshold is not None:
            likely = likely & (sorted_ >= xp.reshape(threshold, (-1, 1)))
        likely = likely | (xp.arange(x.shape[1]) == 0)
        sums = xp.cumsum(xp.where(likely, sorted_, 0), axis=1)
        drawn = rng(max(self.seed, 0)).random((len(x), 1), "float64")
        place = (sums <= drawn * sums[:, -1:]).sum(axis=1, keepdims=True)
        ids = xp.take_along_axis(order, xp.minimum(place, x.shape[1] - 1), 1)
        return xp.take_along_axis(x, ids, 1), xp.asarray(ids, "int64")
