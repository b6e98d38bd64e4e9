"""Normalisations with what stands before them, as passes and functions of Paddle 2 write them."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Specs, Value, Values
from ..opdef.attribute import REQUIRED, attr, need_choice, need_range
from ..opdef.definition import Op
from ..opdef.spec import Spec, flat, need_integer, same_float
from .dropout import WAYS

ACTIVATIONS = ("", "relu")


class Normed(Op, abstract=True):
    """A normalisation of a sum."""

    lod: ClassVar[str | None] = None


def normed(
    f: Any, epsilon: float, x: Value, scale: Value | None, bias: Value | None, begin: int
) -> dict[str, Any]:
    """What ``layer_norm`` gives, by slot."""
    parameters = [None if v is None else f.reshape(v, shape=[prod(v.shape)]) for v in (scale, bias)]
    slots: dict[str, Any] = f.layer_norm.all(x, *parameters, epsilon=epsilon, begin_norm_axis=begin)
    return slots


def added(f: Any, *values: Value | None) -> Value:
    """The sum of the values that are there; those of fewer dimensions meet the last ones."""
    first, *rest = [v for v in values if v is not None]
    for v in rest:
        first = f.elementwise_add(first, v)
    return first


class skip_layernorm(Normed):
    """Out = ``layer_norm`` of X + Y.

    Scale, Bias: a number for each element of a sample.
    epsilon: keeps the square root away from 0.
    begin_norm_axis: the first dimension of a sample.
    """

    signature = "X, Y, Scale, Bias -> Out"
    epsilon: float = REQUIRED
    begin_norm_axis: int = REQUIRED

    def infer(self, X: Spec, Y: Spec, Scale: Spec, Bias: Spec) -> Specs:
        same_float(X=X, Y=Y, Scale=Scale, Bias=Bias)
        return X

    def expand(self, f: Any, X: Value, Y: Value, Scale: Value, Bias: Value) -> Value:
        return normed(f, self.epsilon, added(f, X, Y), Scale, Bias, self.begin_norm_axis)["Y"]


class fused_embedding_eltwise_layernorm(Normed):
    """Out = ``layer_norm`` of the sum of rows of several tables.

    Ids: numbers of rows, [N, T] or [N, T, 1], for each table.
    Embs: the tables, [rows, hidden].
    Bias, Scale: of the normalisation, [hidden].
    epsilon: keeps the square root away from 0.
    """

    signature = "Ids*!, Embs*, Bias, Scale -> Out"
    epsilon: float = 1e-5

    def infer(self, Ids: list[Spec], Embs: list[Spec], Bias: Spec, Scale: Spec) -> Specs:
        if not Ids or len(Ids) != len(Embs):
            raise ShapeError(f"expected a table for each of {len(Ids)} Ids, got {len(Embs)}")
        need_integer(**{f"Ids[{k}]": ids for k, ids in enumerate(Ids)})
        same_float(Bias=Bias, Scale=Scale, **{f"Embs[{k}]": e for k, e in enumerate(Embs)})
        return Bias.with_shape([*Ids[0].shape[:2], Embs[0].shape[1]])

    def expand(
        self, f: Any, Ids: list[Value], Embs: list[Value], Bias: Value, Scale: Value
    ) -> Value:
        rows = [
            f.lookup_table_v2(table, f.reshape(ids, shape=ids.shape[:2]))
            for ids, table in zip(Ids, Embs)
        ]
        return normed(f, self.epsilon, added(f, *rows), Scale, Bias, 2)["Y"]


class fused_fc_elementwise_layernorm(Normed):
    """Out = ``layer_norm`` of X W + Bias0 + Y, the product activated first.

    W: [columns, K].
    Bias0: a number for each of K.
    Scale, Bias1: of the normalisation.
    Mean, Variance: of each sample.
    x_num_col_dims: how many dimensions of X are rows.
    activation_type: "relu", or "" for none.
    epsilon: keeps the square root away from 0.
    begin_norm_axis: the first dimension of a sample.
    """

    signature = "X, W, Y, Bias0?, Scale?, Bias1? -> Out, Mean?~, Variance?~"
    x_num_col_dims: int = 1
    activation_type: str = ""
    epsilon: float = 1e-5
    begin_norm_axis: int = 1

    def infer(
        self, X: Spec, W: Spec, Y: Spec, Bias0: Spec | None, Scale: Spec | None, Bias1: Spec | None
    ) -> Specs:
        same_float(X=X, W=W, Y=Y, Bias0=Bias0, Scale=Scale, Bias1=Bias1)
        need_choice(self, "activation_type", *ACTIVATIONS)
        one = Y.with_shape([flat(Y.shape, self.begin_norm_axis)[0]])
        return Y, one, one

    def expand(self, f, X, W, Y, Bias0, Scale, Bias1) -> Values:
        product = added(f, f.mul(X, W, x_num_col_dims=self.x_num_col_dims), Bias0)
        product = f.relu(product) if self.activation_type else product
        both = f.reshape(product, shape=Y.shape) + Y
        found = normed(f, self.epsilon, both, Scale, Bias1, self.begin_norm_axis)
        return found["Y"], found["Mean"], found["Variance"]


class fused_bias_dropout_residual_layer_norm(Normed):
    """Y = ``layer_norm`` of Residual + X + Bias along the last dimension, X + Bias with dropout.

    Residual: in the shape of X.
    Bias: a number for each of the last dimension.
    LnScale, LnBias: of the normalisation.
    BiasDropoutResidualOut: what is normalised.
    DropoutMaskOut: which elements are kept, in training.
    LnMean, LnVariance: of each sample.
    dropout_rate: the chance of an element of being set to 0.
    is_test: nothing is set to 0.
    dropout_fix_seed, dropout_seed: whether numbers are those of a seed, and which.
    dropout_implementation: as of ``dropout``.
    ln_epsilon: keeps the square root away from 0.
    """

    signature = (
        "X, Residual, Bias?, LnScale?, LnBias? -> "
        "Y, BiasDropoutResidualOut?~, DropoutMaskOut?~, LnMean?~, LnVariance?~"
    )
    random: ClassVar[bool] = True
    dropout_rate: float = 0.5
    is_test: bool = False
    dropout_fix_seed: bool = True
    dropout_seed: int = 1
    dropout_implementation: str = "downgrade_in_infer"
    ln_epsilon: float = 1e-5

    def infer(
        self, X: Spec, Residual: Spec, Bias: Spec | None, LnScale: Spec | None, LnBias: Spec | None
    ) -> Specs:
        same_float(X=X, Residual=Residual, Bias=Bias, LnScale=LnScale, LnBias=LnBias)
        need_range(self, 0, 1, "dropout_rate")
        need_choice(self, "dropout_implementation", *WAYS)
        if self.dropout_rate and not self.is_test and not self.dropout_fix_seed:
            raise AttributeValueError(
                "expected dropout_fix_seed where elements are dropped: a gradient draws them again"
            )
        one = X.with_shape([flat(X.shape, X.ndim - 1)[0]])
        mask = None if self.is_test else X.with_dtype(DType.UINT8)
        return X, X, mask, one, one

    def expand(self, f, X, Residual, Bias, LnScale, LnBias) -> Values:
        dropped = f.dropout.all(
            added(f, X, Bias),
            dropout_prob=self.dropout_rate,
            is_test=self.is_test,
            fix_seed=True,
            seed=self.dropout_seed,
            dropout_implementation=self.dropout_implementation,
        )
        both = dropped["Out"] + Residual
        found = normed(f, self.ln_epsilon, both, LnScale, LnBias, len(X.shape) - 1)
        return found["Y"], both, dropped.get("Mask"), found["Mean"], found["Variance"]


class OfResidual(Normed, abstract=True):
    """A normalisation of a sum with what goes around it.

    bias: added to x.
    residual: added to both.
    norm_weight, norm_bias: of the normalisation, a number for each element of a sample.
    residual_out: the sum.
    epsilon: keeps the square root away from 0.
    begin_norm_axis: the first dimension of a sample.
    quant_scale: not above 0: Out stays a float.
    """

    epsilon: float = REQUIRED
    begin_norm_axis: int = REQUIRED
    quant_scale: float = REQUIRED
    quant_round_type: int = attr(REQUIRED, inert=True)
    quant_max_bound: float = attr(REQUIRED, inert=True)
    quant_min_bound: float = attr(REQUIRED, inert=True)

    def check(self, *specs: Spec | None) -> None:
        """Check element types and attributes."""
        same_float(**dict(zip(self.input_slots, specs)))
        if self.quant_scale > 0:
            raise AttributeValueError(
                f"expected quant_scale not above 0, got {self.quant_scale}: results are floats"
            )


class rms_norm(OfResidual):
    """out = x + bias + residual, divided by the root of the mean of its squares, times norm_weight,
    plus norm_bias (Zhang and Sennrich, Root mean square layer normalization, NeurIPS 2019).

    x: samples.
    """

    signature = "x, bias?, residual?, norm_weight, norm_bias? -> out, residual_out?"

    def infer(self, x: Spec, *others: Spec | None) -> Specs:
        self.check(x, *others)
        flat(x.shape, self.begin_norm_axis)
        return x, x

    def expand(self, f, x, bias, residual, norm_weight, norm_bias) -> Values:
        both, shape = added(f, x, bias, residual), x.shape
        begin = self.begin_norm_axis % len(shape)
        size = prod(shape[begin:])
        rows = f.reshape(both, shape=[prod(shape[:begin]), size])
        mean = f.reduce_mean(f.square(rows), dim=[1], keep_dim=True)
        normal = rows * f.rsqrt(mean + self.epsilon)
        normal = f.elementwise_mul(normal, f.reshape(norm_weight, shape=[size]))
        normal = added(f, normal, norm_bias)
        return f.reshape(normal, shape=shape), both


class fused_bias_residual_layernorm(OfResidual):
    """out = ``layer_norm`` of x + bias + residual_alpha * residual.

    x: samples.
    mean, variance: of each sample.
    residual_alpha: a factor.
    """

    signature = (
        "x, bias?, residual?, norm_weight?, norm_bias? -> out, residual_out?, mean?~, variance?~"
    )
    epsilon: float = REQUIRED
    residual_alpha: float = REQUIRED

    def infer(self, x: Spec, *others: Spec | None) -> Specs:
        self.check(x, *others)
        one = x.with_shape([flat(x.shape, self.begin_norm_axis)[0]])
        return x, x, one, one

    def expand(self, f, x, bias, residual, norm_weight, norm_bias) -> Values:
        scaled = None if residual is None else f.scale(residual, scale=self.residual_alpha)
        both = added(f, x, bias, scaled)
        found = normed(f, self.epsilon, both, norm_weight, norm_bias, self.begin_norm_axis)
        return found["Y"], both, found["Mean"], found["Variance"]
