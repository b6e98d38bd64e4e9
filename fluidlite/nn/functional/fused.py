"""Several functions in one call, as ``paddle.incubate.nn.functional`` has them: compositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError, UnsupportedError
from ...functions.arithmetic import add, matmul, multiply
from ...functions.elementary import rsqrt, scale
from ...functions.reduction import mean
from ...functions.shaping import reshape
from ...ground.spellings import Spelling
from . import activation as activations
from .normalization import layer_norm
from .projection import dropout, linear

if TYPE_CHECKING:
    from ...eager.tensor import Tensor

_FUSED = Spelling({})
_ACTIVATIONS = ("gelu", "relu", "none", None)


def _biased(product: Tensor, bias: Tensor | None = None) -> Tensor:
    return product if bias is None else add(product, bias)


fused_matmul_bias: Callable[..., Tensor] = _FUSED(
    matmul,
    "fused_matmul_bias",
    """
    A product of matrices, plus a bias.

    Args:
        x, y: matrices, or stacks of them.
        bias: of the last dimension.
        transpose_x, transpose_y: swap the last two dimensions first.
    """,
    then=_biased,
    order="x, y, bias, transpose_x, transpose_y, name",
)
fused_linear: Callable[..., Tensor] = _FUSED(
    fused_matmul_bias,
    "fused_linear",
    """
    ``x weight + bias``.

    Args:
        x: [..., in].
        weight: [in, out]; [out, in] with ``transpose_weight``.
        bias: [out].
        transpose_weight: whether the weight is transposed.
    """,
    fixed={"transpose_x": False},
    y="weight",
    transpose_y="transpose_weight",
)


def _activated(x: Tensor, activation: str | None = None) -> Tensor:
    """
    Args:
        x: a tensor.
        activation: gelu or relu; none when None.
    """
    if activation not in _ACTIVATIONS:
        raise ArgumentError(f"expected activation to be gelu, relu or None, got {activation!r}")
    if activation in ("none", None):
        return x
    activated: Tensor = getattr(activations, str(activation))(x)
    return activated


fused_linear_activation: Callable[..., Tensor] = _FUSED(
    fused_matmul_bias,
    "fused_linear_activation",
    """
    An activation of a product of matrices plus a bias.

    Raises:
        ArgumentError: ``activation`` is another.
    """,
    fixed={"name": None},
    then=_activated,
    order="x, y, bias, trans_x, trans_y, activation",
    defaults={"bias": ...},
    transpose_x="trans_x",
    transpose_y="trans_y",
)


def _plus(dropped: Tensor, y: Tensor) -> Tensor:
    return add(dropped, y)


fused_dropout_add: Callable[..., Tensor] = _FUSED(
    dropout,
    "fused_dropout_add",
    """
    ``dropout(x) + y``.

    Args:
        x, y: of one shape.
        p: the probability of 0.
        training: False: nothing is dropped.
        mode: as of dropout.
    """,
    fixed={"axis": None},
    then=_plus,
    order="x, y, p, training, mode, name",
)


def fused_bias_dropout_residual_layer_norm(
    x: Tensor,
    residual: Tensor,
    bias: Tensor | None = None,
    ln_scale: Tensor | None = None,
    ln_bias: Tensor | None = None,
    dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """``layer_norm(residual + dropout(x + bias))``, along the last dimension.

    Args:
        x, residual: of one shape.
        bias, ln_scale, ln_bias: of the last dimension.
        dropout_rate: the probability of 0.
        ln_epsilon: added to variances.
        training: False: nothing is dropped.
        mode: as of dropout.
    """
    moved = x if bias is None else add(x, bias)
    summed = fused_dropout_add(moved, residual, dropout_rate, training, mode)
    return normed(summed, ln_scale, ln_bias, ln_epsilon)


def normed(x: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    """Normalised along the last dimension.

    Args:
        x: [..., D].
        weight, bias: [D]; None for none.
        epsilon: added to variances.
    """
    return layer_norm(x, [+x.array.shape[-1]], weight, bias, epsilon)


def fused_feedforward(
    x: Tensor,
    linear1_weight: Tensor,
    linear2_weight: Tensor,
    linear1_bias: Tensor | None = None,
    linear2_bias: Tensor | None = None,
    ln1_scale: Tensor | None = None,
    ln1_bias: Tensor | None = None,
    ln2_scale: Tensor | None = None,
    ln2_bias: Tensor | None = None,
    dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5,
    activation: str = "relu",
    ln1_epsilon: float = 1e-5,
    ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    name: str | None = None,
) -> Tensor:
    """Two linear maps with an activation between them, dropout, a residual and a normalisation.

    Args:
        x: [..., d_model].
        linear1_weight, linear1_bias: [d_model, inner] and [inner].
        linear2_weight, linear2_bias: [inner, d_model] and [d_model].
        ln1_scale, ln1_bias, ln1_epsilon: of the normalisation in front.
        ln2_scale, ln2_bias, ln2_epsilon: of the normalisation behind.
        dropout1_rate, dropout2_rate: behind the first and the second map.
        activation: relu or gelu.
        pre_layer_norm: normalise in front, not behind.
        training: False: nothing is dropped.
        mode: as of dropout.
        ring_id: accepted: there is one process.
        add_residual: add ``x``.
    """
    inner = normed(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    inner = _activated(linear(inner, linear1_weight, linear1_bias), activation)
    inner = dropout(inner, dropout1_rate, training=training, mode=mode)
    out = linear(inner, linear2_weight, linear2_bias)
    out = dropout(out, dropout2_rate, training=training, mode=mode)
    out = add(x, out) if add_residual else out
    return out if pre_layer_norm else normed(out, ln2_scale, ln2_bias, ln2_epsilon)


def _normed_sum(
    normalise: Callable[..., Any],
    x: Tensor,
    norm_weight: Tensor | None,
    norm_bias: Tensor | None,
    epsilon: float,
    residual_alpha: float = 1.0,
    begin_norm_axis: int = 1,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    quant_scale: float = -1,
    quant_round_type: float = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Tensor | tuple[Tensor, Tensor]:
    """A normalisation of sums.

    Args:
        normalise: of the sum, the sizes that are normalised, the weight, the bias and epsilon.
        x: normalised from dimension ``begin_norm_axis`` on.
        norm_weight, norm_bias: the scale and the shift, as large as what is normalised.
        epsilon: keeps the square root away from 0.
        residual_alpha: times the residual.
        begin_norm_axis: the first dimension that is normalised.
        bias: of the last dimension.
        residual: as x.
        quant_scale: -1: results are not quantized.
        quant_round_type, quant_max_bound, quant_min_bound: accepted.

    Raises:
        UnsupportedError: ``quant_scale`` is positive.
    """
    if quant_scale > 0:
        raise UnsupportedError("quantized results are not supported; leave quant_scale at -1")
    summed: Any = x if bias is None else add(x, bias)
    summed = summed if residual is None else add(summed, scale(residual, residual_alpha))
    sizes = [+n for n in summed.array.shape[begin_norm_axis:]]
    found = normalise(summed, sizes, norm_weight, norm_bias, epsilon)
    return found if residual is None else (found, summed)


def _rms_normed(x: Any, sizes: list[int], weight: Any, bias: Any, epsilon: float) -> Any:
    square = mean(multiply(x, x), list(range(-len(sizes), 0)), keepdim=True)
    found = multiply(multiply(x, rsqrt(add(square, epsilon))), reshape(weight, sizes))
    return found if bias is None else add(found, reshape(bias, sizes))


fused_layer_norm: Callable[..., Tensor | tuple[Tensor, Tensor]] = _FUSED(
    _normed_sum,
    "fused_layer_norm",
    """
    The normalisation of ``x + bias + residual_alpha residual``; with a residual a pair of it and of
    that sum.
    """,
    fixed={"normalise": layer_norm},
)
fused_rms_norm: Callable[..., Tensor | tuple[Tensor, Tensor]] = _FUSED(
    _normed_sum,
    "fused_rms_norm",
    """
    ``x + bias + residual`` divided by the root of its mean square (Zhang and Sennrich 2019, "Root
    mean square layer normalization"); with a residual a pair of it and of that sum.
    """,
    fixed={"normalise": _rms_normed, "residual_alpha": 1.0},
    defaults={"begin_norm_axis": ...},
)
