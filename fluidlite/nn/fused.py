"""Layers whose functions are several in one call, as ``paddle.incubate.nn`` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, UnsupportedError
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..initializer import Constant
from ..param_attr import Attr
from .functional import fused as F
from .functional import fused_attention as attention
from .layer import Layer, TensorLayer, checked

if TYPE_CHECKING:
    from ..eager.tensor import Tensor

FUSED = Family(
    {
        "dropout_rate": "of what is added to the input.",
        "epsilon": "added to variances.",
        "activation": "relu or gelu.",
        "normalize_before": "normalise in front, not behind.",
        "nranks, ring_id": "accepted: there is one process.",
        "name": "stands in ``repr``.",
    }
)


@from_fields
class FusedLinear(TensorLayer):
    """``x weight + bias``.

    Args:
        in_features, out_features: the last sizes of the input and of the output.
        weight_attr: of the weight, [in_features, out_features].
        bias_attr: of the bias; False for none.
        transpose_weight: the weight is [out_features, in_features].
        name: accepted.
    """

    in_features: int
    out_features: int
    weight_attr: Attr = None
    bias_attr: Attr = None
    transpose_weight: bool = False
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        inputs, outputs, weight_attr, bias_attr, self.transpose_weight, name = given.values()
        TensorLayer.__init__(self, name)
        shape = [outputs, inputs] if self.transpose_weight else [inputs, outputs]
        self.weight: Any = self.create_parameter(shape, weight_attr)
        self.bias: Any = self.create_parameter([outputs], bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        """The output."""
        return F.fused_linear(input, self.weight, self.bias, self.transpose_weight)


class FusedDropoutAdd(TensorLayer):
    """``dropout(x) + y``.

    Args:
        p: the probability of 0.
        mode: as of dropout.
        name: stands in ``repr``.
    """

    def __init__(
        self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__(name)
        self.p: float = p
        self.mode: str = mode

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The sum."""
        return F.fused_dropout_add(x, y, self.p, self.training, self.mode)

    def extra_repr(self) -> str:
        return f"p={self.p}, mode={self.mode}{self._called()}"


class FusedBiasDropoutResidualLayerNorm(TensorLayer):
    """``layer_norm(residual + dropout(x + bias))``.

    Args:
        embed_dim: the last size.
        dropout_rate: the probability of 0.
        weight_attr: accepted.
        bias_attr: of the bias; False for none.
        epsilon: added to variances.
        name: stands in ``repr``.
    """

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: Attr = None,
        bias_attr: Attr = None,
        epsilon: float = 1e-5,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.embed_dim, self.dropout_rate, self._epsilon = embed_dim, dropout_rate, epsilon
        self.linear_bias: Any = self.create_parameter([embed_dim], bias_attr, is_bias=True)
        first = Constant(1.0)
        self.ln_scale: Any = self.create_parameter([embed_dim], default_initializer=first)
        self.ln_bias: Any = self.create_parameter([embed_dim], is_bias=True)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        """The normalised sum."""
        parameters = (self.linear_bias, self.ln_scale, self.ln_bias)
        options = (self.dropout_rate, self._epsilon, self.training)
        return F.fused_bias_dropout_residual_layer_norm(x, residual, *parameters, *options)

    def extra_repr(self) -> str:
        rates = f"dropout_rate={self.dropout_rate}, epsilon={self._epsilon}"
        return (
            f"embed_dim={self.embed_dim}, {rates}, dtype={self._element_type.plain}{self._called()}"
        )


@FUSED
@from_fields
class FusedFeedForward(TensorLayer):
    """Two linear maps with an activation between them, dropout, a residual and a normalisation.

    Args:
        d_model: the last size of the input and of the output.
        dim_feedforward: that between the maps.
        act_dropout_rate: behind the activation; ``dropout_rate`` when None.
        linear1_weight_attr, linear1_bias_attr, linear2_weight_attr, linear2_bias_attr: of the maps.
        ln1_scale_attr, ln1_bias_attr, ln2_scale_attr, ln2_bias_attr: of the normalisations.
    """

    d_model: int
    dim_feedforward: int
    dropout_rate: float = 0.1
    epsilon: float = 1e-5
    activation: str = "relu"
    act_dropout_rate: float | None = None
    normalize_before: bool = False
    linear1_weight_attr: Attr = None
    linear1_bias_attr: Attr = None
    linear2_weight_attr: Attr = None
    linear2_bias_attr: Attr = None
    ln1_scale_attr: Attr = None
    ln1_bias_attr: Attr = None
    ln2_scale_attr: Attr = None
    ln2_bias_attr: Attr = None
    nranks: int = 1
    ring_id: int = -1
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self, given["name"])
        checked("activation", given["activation"], "relu", "gelu")
        outer, inner = given["d_model"], given["dim_feedforward"]
        if given["act_dropout_rate"] is None:
            given["act_dropout_rate"] = given["dropout_rate"]
        for k, shape in ((1, [outer, inner]), (2, [inner, outer])):
            weight = self.create_parameter(shape, given[f"linear{k}_weight_attr"])
            bias = self.create_parameter(shape[1:], given[f"linear{k}_bias_attr"], is_bias=True)
            setattr(self, f"_linear{k}_weight", weight)
            setattr(self, f"_linear{k}_bias", bias)
        self._norm = "ln1" if given["normalize_before"] else "ln2"
        _make_norm(self, f"_{self._norm}", outer, given[f"{self._norm}_scale_attr"],
                   given[f"{self._norm}_bias_attr"])  # fmt: skip
        self._options = given

    def forward(self, src: Tensor, cache: None = None) -> Tensor:
        """The output; ``cache`` has no meaning here."""
        options, norm = self._options, self._norm
        parts = {f"{norm}_{what}": getattr(self, f"_{norm}_{what}") for what in ("scale", "bias")}
        weights = (self._linear1_weight, self._linear2_weight)
        biases = (self._linear1_bias, self._linear2_bias)
        return F.fused_feedforward(
            src, *weights, *biases, **parts,
            dropout1_rate=options["act_dropout_rate"], dropout2_rate=options["dropout_rate"],
            activation=options["activation"], ln1_epsilon=options["epsilon"],
            ln2_epsilon=options["epsilon"], pre_layer_norm=options["normalize_before"],
            training=self.training,
        )  # fmt: skip

    def extra_repr(self) -> str:
        names = ("d_model", "dim_feedforward", "dropout_rate", "epsilon", "activation")
        return _shown(self, (*names, "act_dropout_rate", "normalize_before"))


def _make_norm(layer: Any, stem: str, size: int, scale_attr: Any, bias_attr: Any) -> None:
    scale = layer.create_parameter([size], scale_attr, default_initializer=Constant(1.0))
    setattr(layer, f"{stem}_scale", scale)
    setattr(layer, f"{stem}_bias", layer.create_parameter([size], bias_attr, is_bias=True))


def _shown(layer: Any, names: tuple[str, ...]) -> str:
    told = ", ".join(f"{name}={layer._options[name]}" for name in names)
    return f"{told}, dtype={layer._element_type.plain}{layer._called()}"


@FUSED
@from_fields
class FusedMultiHeadAttention(TensorLayer):
    """Attention of a sequence to itself, with projections, dropout, a residual and a normalisation.

    Args:
        embed_dim: elements of the input and of the output.
        num_heads: divides ``embed_dim``.
        attn_dropout_rate: of the weights.
        kdim, vdim: None, or ``embed_dim``.
        need_weights: False.
        qkv_weight_attr, qkv_bias_attr, linear_weight_attr, linear_bias_attr: of the projections.
        pre_ln_scale_attr, pre_ln_bias_attr, ln_scale_attr, ln_bias_attr: of the normalisations.
        transpose_qkv_wb: the weight is [embed_dim, 3 embed_dim].
    """

    embed_dim: int
    num_heads: int
    dropout_rate: float = 0.5
    attn_dropout_rate: float = 0.5
    kdim: int | None = None
    vdim: int | None = None
    normalize_before: bool = False
    need_weights: bool = False
    qkv_weight_attr: Attr = None
    qkv_bias_attr: Attr = None
    linear_weight_attr: Attr = None
    linear_bias_attr: Attr = None
    pre_ln_scale_attr: Attr = None
    pre_ln_bias_attr: Attr = None
    ln_scale_attr: Attr = None
    ln_bias_attr: Attr = None
    epsilon: float = 1e-5
    nranks: int = 1
    ring_id: int = -1
    transpose_qkv_wb: bool = False
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self, given["name"])
        width, heads = given["embed_dim"], given["num_heads"]
        if heads < 1 or width % heads:
            raise ArgumentError(f"expected num_heads to divide embed_dim={width}, got {heads}")
        if given["need_weights"]:
            raise ArgumentError("expected need_weights=False: weights are not given")
        part = width // heads
        shapes: Any = ([3, heads, part, width], [3, heads, part])
        if given["transpose_qkv_wb"]:
            shapes = ([width, 3 * width], [3 * width])
        bias_attrs = (given["qkv_bias_attr"], given["linear_bias_attr"])
        self.qkv_weight: Any = self.create_parameter(shapes[0], given["qkv_weight_attr"])
        self.qkv_bias: Any = self.create_parameter(shapes[1], bias_attrs[0], is_bias=True)
        self.linear_weight: Any = self.create_parameter([width, width], given["linear_weight_attr"])
        self.linear_bias: Any = self.create_parameter([width], bias_attrs[1], is_bias=True)
        self._norm = "pre_ln" if given["normalize_before"] else "ln"
        attrs = (given[f"{self._norm}_{what}_attr"] for what in ("scale", "bias"))
        _make_norm(self, self._norm, width, *attrs)
        self._options = given

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The output; with a cache a pair of it and the next cache.

        Args:
            query: [N, T, embed_dim].
            key, value: the query, or None.
            attn_mask, cache: as of the function.
        """
        options = self._options
        norms = {f"{self._norm}_{w}": getattr(self, f"{self._norm}_{w}") for w in ("scale", "bias")}
        return attention.fused_multi_head_attention(
            query, self.qkv_weight, self.linear_weight, options["normalize_before"], **norms,
            pre_ln_epsilon=options["epsilon"], qkv_bias=self.qkv_bias, linear_bias=self.linear_bias,
            cache_kv=cache, attn_mask=attn_mask, dropout_rate=options["dropout_rate"],
            attn_dropout_rate=options["attn_dropout_rate"], ln_epsilon=options["epsilon"],
            training=self.training, num_heads=options["num_heads"],
            transpose_qkv_wb=options["transpose_qkv_wb"],
        )  # fmt: skip

    def extra_repr(self) -> str:
        names = ("embed_dim", "num_heads", "dropout_rate", "attn_dropout_rate", "epsilon", "kdim")
        return _shown(self, (*names, "vdim", "normalize_before", "need_weights"))


@from_fields
class FusedTransformerEncoderLayer(Layer):
    """Attention of a sequence to itself, and two linear maps, each added to its input.

    Args:
        d_model, nhead, dim_feedforward: as of ``TransformerEncoderLayer``.
        dropout_rate: of what is added.
        activation: relu or gelu.
        attn_dropout_rate, act_dropout_rate: ``dropout_rate`` when None.
        normalize_before: normalise in front, not behind.
        weight_attr, bias_attr: of the linear maps.
    """

    d_model: int
    nhead: int
    dim_feedforward: int
    dropout_rate: float = 0.1
    activation: str = "relu"
    attn_dropout_rate: float | None = None
    act_dropout_rate: float | None = None
    normalize_before: bool = False
    weight_attr: Attr = None
    bias_attr: Attr = None

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        d_model, heads, inner, dropout, activation, of_weights, within = [*given.values()][:7]
        weight, bias, before = given["weight_attr"], given["bias_attr"], given["normalize_before"]
        self.fused_attn: Any = FusedMultiHeadAttention(
            d_model, heads, dropout, dropout if of_weights is None else of_weights,
            normalize_before=before, qkv_weight_attr=weight, qkv_bias_attr=bias,
            linear_weight_attr=weight, linear_bias_attr=bias,
        )  # fmt: skip
        self.ffn: Any = FusedFeedForward(
            d_model, inner, dropout, activation=activation, act_dropout_rate=within,
            normalize_before=before, linear1_weight_attr=weight, linear1_bias_attr=bias,
            linear2_weight_attr=weight, linear2_bias_attr=bias,
        )  # fmt: skip

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, cache: Tensor | None = None
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The encoded sequence; with a cache a pair of it and the next cache.

        Args:
            src: [N, T, d_model].
            src_mask, cache: as of the attention.
        """
        seen = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        if cache is None:
            alone: Tensor = self.ffn(seen)
            return alone
        return self.ffn(seen[0]), seen[1]


@from_fields
class FusedMultiTransformer(Layer):
    """Not there: it decodes on GPUs alone.

    Args:
        embed_dim, num_heads, dim_feedforward, dropout_rate, activation, normalize_before: as of
            ``TransformerEncoderLayer``.
        ln_scale_attrs, ln_bias_attrs: of the parameters.
        qkv_weight_attrs, qkv_bias_attrs: of the parameters.
        linear_weight_attrs, linear_bias_attrs: of the parameters.
        ffn_ln_scale_attrs, ffn_ln_bias_attrs: of the parameters.
        ffn1_weight_attrs, ffn1_bias_attrs, ffn2_weight_attrs, ffn2_bias_attrs: of the parameters.
        epsilon, num_layers, nranks, trans_qkvw, ring_id, name: further options.

    Raises:
        UnsupportedError: always.
    """

    embed_dim: int
    num_heads: int
    dim_feedforward: int
    dropout_rate: float = 0.0
    activation: str = "gelu"
    normalize_before: bool = True
    ln_scale_attrs: Attr = None
    ln_bias_attrs: Attr = None
    qkv_weight_attrs: Attr = None
    qkv_bias_attrs: Attr = None
    linear_weight_attrs: Attr = None
    linear_bias_attrs: Attr = None
    ffn_ln_scale_attrs: Attr = None
    ffn_ln_bias_attrs: Attr = None
    ffn1_weight_attrs: Attr = None
    ffn1_bias_attrs: Attr = None
    ffn2_weight_attrs: Attr = None
    ffn2_bias_attrs: Attr = None
    epsilon: float = 1e-5
    num_layers: int = -1
    nranks: int = 1
    trans_qkvw: bool = True
    ring_id: int = -1
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        raise UnsupportedError(
            "FusedMultiTransformer has kernels for GPUs alone; use nn.TransformerEncoder"
        )


@from_fields
class FusedEcMoe(Layer):
    """Not there: it chooses experts on GPUs alone.

    Args:
        hidden_size, inter_size, num_experts, act_type: of the experts.
        weight_attr, bias_attr: of their parameters.

    Raises:
        UnsupportedError: always.
    """

    hidden_size: int
    inter_size: int
    num_experts: int
    act_type: str
    weight_attr: Attr = None
    bias_attr: Attr = None

    def begin(self, given: dict[str, Any]) -> None:
        raise UnsupportedError(
            "FusedEcMoe has a kernel for GPUs alone; use nn.Linear for each expert"
        )
