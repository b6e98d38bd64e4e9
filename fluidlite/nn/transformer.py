"""Attention, and the layers of transformers."""

from __future__ import annotations

from math import sqrt
from typing import Any

from ..errors import ArgumentError
from . import functional as F
from .containers import LayerList
from .dense import Dropout, Linear
from .layer import Layer, TensorLayer, checked
from .norm import LayerNorm

_MASKED = -1e9  #: what is added to the score of what may not be seen


class MultiHeadAttention(Layer):
    """Values weighted by how well keys fit queries, in several heads.

    Vaswani et al., Attention is all you need, NIPS 2017.

    Args:
        embed_dim: elements of a query, and of a result.
        num_heads: divides ``embed_dim``.
        dropout: of the weights, in training.
        kdim, vdim: elements of a key and of a value; ``embed_dim`` when None.
        need_weights: give a pair, the result and the weights.
        weight_attr, bias_attr: of the four projections.

    Raises:
        ArgumentError: heads do not divide the elements.

    >>> x = fluid.ones([2, 5, 8])
    >>> fluid.nn.MultiHeadAttention(8, 2)(x, x, x).shape
    [2, 5, 8]
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(
                f"expected num_heads to divide embed_dim={embed_dim}, got {num_heads}"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout, self.need_weights = dropout, need_weights
        attrs = (weight_attr, bias_attr)
        self.q_proj = Linear(embed_dim, embed_dim, *attrs)
        self.k_proj = Linear(kdim or embed_dim, embed_dim, *attrs)
        self.v_proj = Linear(vdim or embed_dim, embed_dim, *attrs)
        self.out_proj = Linear(embed_dim, embed_dim, *attrs)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None) -> Any:
        """What the queries find.

        Args:
            query: [N, T, embed_dim].
            key: [N, S, kdim]; the query when None.
            value: [N, S, vdim]; the key when None.
            attn_mask: for [N, heads, T, S]: false where a key may not be seen; or numbers that are
                added to the scores.
        """
        key = query if key is None else key
        value = key if value is None else value
        scores = self._heads(self.q_proj(query) * (1 / sqrt(self.head_dim))).matmul(
            self._heads(self.k_proj(key)), transpose_y=True
        )
        if attn_mask is not None:
            scores = scores + _added(attn_mask, scores)
        weights = F.softmax(scores)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training)
        found = weights.matmul(self._heads(self.v_proj(value))).transpose([0, 2, 1, 3])
        result = self.out_proj(found.reshape([0, 0, self.embed_dim]))
        return (result, weights) if self.need_weights else result

    def _heads(self, x: Any) -> Any:
        """[N, T, heads x D] as [N, heads, T, D]."""
        return x.reshape([0, 0, self.num_heads, self.head_dim]).transpose([0, 2, 1, 3])

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}"


def _added(mask: Any, scores: Any) -> Any:
    """A mask as what is added to scores."""
    kind = str(scores.dtype.dtype)
    if mask.dtype.dtype.kind == "f":
        return mask
    return (mask.cast(kind) - 1.0) * -_MASKED


class _Block(TensorLayer):
    """What layers of encoders and decoders have in common.

    Args:
        d_model: elements of a position.
        nhead: heads of attention.
        dim_feedforward: elements between the two linear layers.
        dropout: in training.
        activation: relu or gelu.
        attn_dropout, act_dropout: of attention, and behind the activation; ``dropout`` when None.
        normalize_before: normalise what goes into each part, not what comes out.
        weight_attr, bias_attr: of the linear layers.
        layer_norm_eps: added to variances.
    """

    _norms = 2

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        super().__init__()
        checked("activation", activation, "relu", "gelu")
        #: how to make another one
        self.config: tuple[Any, ...] = (
            *(d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout),
            *(normalize_before, weight_attr, bias_attr, layer_norm_eps),
        )
        self.normalize_before, self._activation = normalize_before, getattr(F, activation)
        of_attention = dropout if attn_dropout is None else attn_dropout
        attrs = (weight_attr, bias_attr)
        attention: dict[str, Any] = {"weight_attr": weight_attr, "bias_attr": bias_attr}
        self.self_attn = MultiHeadAttention(d_model, nhead, of_attention, **attention)
        if self._norms == 3:
            self.cross_attn = MultiHeadAttention(d_model, nhead, of_attention, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, *attrs)
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, *attrs)
        for k in range(1, self._norms + 1):
            setattr(self, f"norm{k}", LayerNorm(d_model, layer_norm_eps))
            setattr(self, f"dropout{k}", Dropout(dropout))

    def _part(self, k: int, x: Any, function: Any) -> Any:
        """The input and what a function of it adds, normalised before or behind."""
        norm, drop = getattr(self, f"norm{k}"), getattr(self, f"dropout{k}")
        if self.normalize_before:
            return x + drop(function(norm(x)))
        return norm(x + drop(function(x)))

    def _fed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self._activation(self.linear1(x))))

    def extra_repr(self) -> str:
        return ", ".join(map(str, self.config[:3]))


class TransformerEncoderLayer(_Block):
    """Attention of a sequence to itself, and two linear layers, each added to its input.

    >>> fluid.nn.TransformerEncoderLayer(8, 2, 16)(fluid.ones([2, 5, 8])).shape
    [2, 5, 8]
    """

    def forward(self, src: Any, src_mask: Any = None) -> Any:
        """The encoded sequence, [N, T, d_model]; the mask as of :class:`MultiHeadAttention`."""
        seen = self._part(1, src, lambda x: self.self_attn(x, x, x, src_mask))
        return self._part(2, seen, self._fed)


class TransformerDecoderLayer(_Block):
    """Attention to itself, attention to what an encoder gave, and two linear layers.

    >>> memory = fluid.ones([2, 7, 8])
    >>> fluid.nn.TransformerDecoderLayer(8, 2, 16)(fluid.ones([2, 5, 8]), memory).shape
    [2, 5, 8]
    """

    _norms = 3

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None) -> Any:
        """The decoded sequence, [N, T, d_model]; masks as of :class:`MultiHeadAttention`."""
        seen = self._part(1, tgt, lambda x: self.self_attn(x, x, x, tgt_mask))
        seen = self._part(2, seen, lambda x: self.cross_attn(x, memory, memory, memory_mask))
        return self._part(3, seen, self._fed)


class _Stack(TensorLayer):
    """Layers like one, each with parameters of its own."""

    def __init__(self, layer: _Block, num_layers: int, norm: Any) -> None:
        super().__init__()
        others = (type(layer)(*layer.config) for _ in range(num_layers - 1))
        self.layers = LayerList([layer, *others])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, x: Any, *others: Any, **named: Any) -> Any:
        """What the last layer gives, normalised where there is a ``norm``."""
        for layer in self.layers:
            x = layer(x, *others, **named)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Encoder layers on each other.

    Args:
        encoder_layer: the first; the others are made like it.
        num_layers: how many.
        norm: of the result; None for none.

    >>> layer = fluid.nn.TransformerEncoderLayer(8, 2, 16)
    >>> fluid.nn.TransformerEncoder(layer, 2)(fluid.ones([2, 5, 8])).shape
    [2, 5, 8]
    """

    def __init__(self, encoder_layer: _Block, num_layers: int, norm: Any = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)


class TransformerDecoder(_Stack):
    """Decoder layers on each other.

    Args:
        decoder_layer: the first; the others are made like it.
        num_layers: how many.
        norm: of the result; None for none.

    >>> decoder = fluid.nn.TransformerDecoder(fluid.nn.TransformerDecoderLayer(8, 2, 16), 2)
    >>> decoder(fluid.ones([2, 5, 8]), fluid.ones([2, 7, 8])).shape
    [2, 5, 8]
    """

    def __init__(self, decoder_layer: _Block, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)
