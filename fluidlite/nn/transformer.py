"""Attention, and the layers of transformers."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from ..eager.composite import composite
from ..errors import ArgumentError
from ..functions.arithmetic import add, matmul, multiply
from ..functions.creation import to_tensor
from ..functions.shaping import concat, reshape, transpose
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..param_attr import Attr
from . import functional as F
from .containers import LayerList
from .dense import Dropout, Linear
from .functional.attention import added_mask
from .layer import Layer, TensorLayer
from .norm import LayerNorm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor

MASK = "as of :class:`MultiHeadAttention`."
#: what transformers are called with
CALLS = Family(
    {
        "src": "[N, T, d_model].",
        "tgt": "[N, T, d_model].",
        "memory": "[N, S, d_model]: what an encoder gave.",
        **dict.fromkeys(["src_mask", "tgt_mask", "memory_mask"], MASK),
        "cache": "of :meth:`gen_cache`.",
    }
)
LAYERS = Family(
    {
        "d_model": "elements of a position.",
        "nhead": "heads of attention.",
        "num_encoder_layers": "how many layers the encoder has.",
        "num_decoder_layers": "how many layers the decoder has.",
        "dim_feedforward": "elements between the two linear layers.",
        "dropout": "in training.",
        "activation": "relu or gelu.",
        "attn_dropout": "of attention; ``dropout`` when None.",
        "act_dropout": "behind the activation; ``dropout`` when None.",
        "normalize_before": "normalise what goes into each part, not what comes out.",
        "weight_attr": "of the linear layers.",
        "bias_attr": "of the linear layers; False for none.",
        "custom_encoder": "used in place of the one that would be made.",
        "custom_decoder": "used in place of the one that would be made.",
        "encoder_layer": "the first; the others are made like it.",
        "decoder_layer": "the first; the others are made like it.",
        "num_layers": "how many.",
        "norm": "of the result; None for none.",
    }
)


class Cache(NamedTuple):
    """Keys and values of earlier steps, to which calls add theirs: [N, heads, S, D] each."""

    k: Tensor
    v: Tensor


class StaticCache(NamedTuple):
    """Keys and values that calls use in place of their own: [N, heads, S, D] each."""

    k: Tensor
    v: Tensor


#: within the class that has the names, too
Growing: TypeAlias = Cache
Fixed: TypeAlias = StaticCache
#: of a layer of a decoder: of the sequence, and of what an encoder gave
Caches = tuple[Cache, StaticCache]


@from_fields
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

    Cache = Cache
    StaticCache = StaticCache

    embed_dim: int
    num_heads: int
    dropout: float = 0.0
    kdim: int | None = None
    vdim: int | None = None
    need_weights: bool = False
    weight_attr: Attr = None
    bias_attr: Attr = None

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        embed_dim, num_heads, self.dropout, kdim, vdim, self.need_weights, *attrs = given.values()
        if embed_dim < 1:
            raise ArgumentError(f"expected embed_dim above 0, got {embed_dim}")
        if num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(
                f"expected num_heads to divide embed_dim={embed_dim}, got {num_heads}"
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.head_dim: int = embed_dim // num_heads
        self.q_proj: Linear = Linear(embed_dim, embed_dim, *attrs)
        self.k_proj: Linear = Linear(kdim or embed_dim, embed_dim, *attrs)
        self.v_proj: Linear = Linear(vdim or embed_dim, embed_dim, *attrs)
        self.out_proj: Linear = Linear(embed_dim, embed_dim, *attrs)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Growing | Fixed | None = None,
    ) -> Tensor | tuple[Tensor | Growing | Fixed, ...]:
        """What the queries find; with a cache a pair of it and the next cache.

        Args:
            query: [N, T, embed_dim].
            key: [N, S, kdim]; the query when None.
            value: [N, S, vdim]; the key when None.
            attn_mask: for [N, heads, T, S]: false where a key may not be seen; or numbers that are
                added to the scores.
            cache: of :meth:`gen_cache`: what is seen besides the keys, or in their place.
        """
        key = query if key is None else key
        value = key if value is None else value
        if isinstance(cache, StaticCache):
            keys, values = cache.k, cache.v
        else:
            keys, values = self.compute_kv(key, value)
            if cache is not None:
                keys, values = concat([cache.k, keys], 2), concat([cache.v, values], 2)
                cache = Cache(keys, values)
        weights = None
        if self.dropout or self.need_weights:
            weights = _weights(self.q_proj(query), keys, attn_mask, self.num_heads)
            if self.dropout:
                weights = F.dropout(weights, self.dropout, training=self.training)
            sums = _weighted(weights, values)
        else:
            sums = _attended(self.q_proj(query), keys, values, attn_mask, self.num_heads)
        result = self.out_proj(sums)
        given: list[Any] = [result, *[weights] * self.need_weights, *[cache] * (cache is not None)]
        return tuple(given) if len(given) > 1 else result

    @overload
    def gen_cache(
        self, key: Tensor, value: Tensor | None = None, type: type[Growing] | None = None
    ) -> Growing: ...
    @overload
    def gen_cache(self, key: Tensor, value: Tensor | None, type: type[Fixed]) -> Fixed: ...
    def gen_cache(
        self,
        key: Tensor,
        value: Tensor | None = None,
        type: type[Growing] | type[Fixed] | None = Cache,
    ) -> Growing | Fixed:
        """What calls keep for those after them.

        Args:
            key: [N, S, kdim].
            value: [N, S, vdim]; with ``StaticCache`` the key when None.
            type: ``MultiHeadAttention.Cache``: calls add their keys and values; it begins without
                any, or with ``key`` and ``value`` as the heads have them, [N, heads, S, D].
                ``MultiHeadAttention.StaticCache``: these keys and values are used in all calls.

        >>> attention, x = fluid.nn.MultiHeadAttention(8, 2), fluid.ones([2, 1, 8])
        >>> cache = attention.gen_cache(x)
        >>> out, cache = attention(x, cache=cache)
        >>> out, cache = attention(x, cache=cache)
        >>> cache.k.shape
        [2, 2, 2, 4]
        """
        if type is StaticCache:
            value = key if value is None else value
            return StaticCache(*self.compute_kv(key, value))
        if type not in (None, Cache):
            raise ArgumentError(
                f"expected type to be MultiHeadAttention.Cache or .StaticCache, got {type!r}"
            )
        if value is not None:
            return Cache(key, value)
        nothing = self._heads(self.k_proj(key))[:, :, :0]
        return Cache(nothing, nothing)

    def compute_kv(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values as the heads have them, [N, heads, S, D] each.

        Args:
            key: [N, S, kdim].
            value: [N, S, vdim].
        """
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def _heads(self, x: Any) -> Any:
        return _split(x, self.num_heads)


@composite
def _split(x: Any, heads: int) -> Any:
    """[N, T, heads x D] as [N, heads, T, D]."""
    return transpose(reshape(x, [0, 0, heads, +x.array.shape[-1] // heads]), [0, 2, 1, 3])


@composite
def _weights(query: Any, keys: Any, mask: Any, heads: int) -> Any:
    """How much each query takes of each key: [N, heads, T, S]."""
    scale = 1 / sqrt(+keys.array.shape[-1])
    scores = matmul(_split(multiply(query, scale), heads), keys, transpose_y=True)
    if mask is not None:
        scores = add(scores, added_mask(mask, scores.array.dtype))
    return F.softmax(scores)


@composite
def _weighted(weights: Any, values: Any) -> Any:
    """The sums of values by weights, the heads side by side: [N, T, heads x D]."""
    sums = transpose(matmul(weights, values), [0, 2, 1, 3])
    return reshape(sums, [0, 0, sums.array.shape[2] * sums.array.shape[3]])


@composite
def _attended(query: Any, keys: Any, values: Any, mask: Any, heads: int) -> Any:
    """What the queries find: [N, T, heads x D]."""
    return _weighted(_weights(query, keys, mask, heads), values)


class _Block(TensorLayer):
    """What layers of encoders and decoders have in common."""

    _norms = 2
    self_attn: MultiHeadAttention
    cross_attn: MultiHeadAttention

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
        weight_attr: Attr = None,
        bias_attr: Attr = None,
    ) -> None:
        super().__init__()
        if not callable(getattr(F, activation, None)):
            raise ArgumentError(f"nn.functional has no activation {activation!r}")
        #: how to make another one
        self.config: tuple[Any, ...] = (
            *(d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout),
            *(normalize_before, weight_attr, bias_attr),
        )
        self.normalize_before = normalize_before
        self.activation: Any = getattr(F, activation)
        of_attention = dropout if attn_dropout is None else attn_dropout
        pairs = zip(self._by_part(weight_attr), self._by_part(bias_attr))
        *attentions, attrs = ({"weight_attr": w, "bias_attr": b} for w, b in pairs)
        for name, attr in zip(("self_attn", "cross_attn"), attentions):
            setattr(self, name, MultiHeadAttention(d_model, nhead, of_attention, **attr))
        self.linear1: Linear = Linear(d_model, dim_feedforward, **attrs)
        self.dropout: Dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2: Linear = Linear(dim_feedforward, d_model, **attrs)
        parts = range(1, self._norms + 1)
        for k in parts:
            setattr(self, f"norm{k}", LayerNorm(d_model))
        for k in parts:
            setattr(self, f"dropout{k}", Dropout(dropout))

    def _by_part(self, attr: Any) -> list[Any]:
        """What is said of the attentions, and of the linear layers."""
        if not isinstance(attr, (list, tuple)):
            return [attr] * self._norms
        listed = list(attr)
        if len(listed) == 3 and self._norms == 2:
            return [listed[0], listed[2]]
        if len(listed) == 2 and self._norms == 3:
            return [listed[0], *listed]
        if len(listed) != self._norms:
            raise ArgumentError(f"expected {self._norms} attributes, or one, got {len(listed)}")
        return listed

    def _part(self, k: int, x: Any, function: Any) -> Any:
        """The input and what a function of it adds, normalised before or behind."""
        norm, drop = getattr(self, f"norm{k}"), getattr(self, f"dropout{k}")
        if self.normalize_before:
            return x + drop(function(norm(x)))
        return norm(x + drop(function(x)))

    def _fed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


@LAYERS
class TransformerEncoderLayer(_Block):
    """Attention of a sequence to itself, and two linear layers, each added to its input.

    >>> fluid.nn.TransformerEncoderLayer(8, 2, 16)(fluid.ones([2, 5, 8])).shape
    [2, 5, 8]
    """

    @CALLS
    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor | tuple[Tensor, Cache]:
        """The encoded sequence, [N, T, d_model]; with a cache a pair of it and the next cache."""
        kept = _Kept()
        seen = self._part(1, src, lambda x: kept(self.self_attn(x, x, x, src_mask, cache), cache))
        out = self._part(2, seen, self._fed)
        return out if cache is None else (out, kept.caches[0])

    def gen_cache(self, src: Tensor) -> Cache:
        """A cache for a sequence that is given step by step."""
        return self.self_attn.gen_cache(src)


@LAYERS
class TransformerDecoderLayer(_Block):
    """Attention to itself, attention to what an encoder gave, and two linear layers.

    >>> memory = fluid.ones([2, 7, 8])
    >>> fluid.nn.TransformerDecoderLayer(8, 2, 16)(fluid.ones([2, 5, 8]), memory).shape
    [2, 5, 8]
    """

    _norms = 3

    @CALLS
    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Caches | None = None,
    ) -> Tensor | tuple[Tensor, Caches]:
        """The decoded sequence, [N, T, d_model]; with a cache a pair of it and the next cache."""
        own, other = (None, None) if cache is None else cache
        collector = _Kept()
        seen = self._part(1, tgt, lambda x: collector(self.self_attn(x, x, x, tgt_mask, own), own))
        seen = self._part(
            2,
            seen,
            lambda x: collector(self.cross_attn(x, memory, memory, memory_mask, other), other),
        )
        out = self._part(3, seen, self._fed)
        return out if cache is None else (out, tuple(collector.caches))

    def gen_cache(self, memory: Tensor) -> Caches:
        """Caches for a sequence that is given step by step: of it, and of what an encoder gave."""
        there = self.cross_attn.gen_cache(memory, memory, StaticCache)
        return self.self_attn.gen_cache(memory), there


class _Kept:
    """The caches of attentions that were called, in their order."""

    def __init__(self) -> None:
        self.caches: list[Any] = []

    def __call__(self, found: Any, cache: Any) -> Any:
        """The result of an attention that was called with a cache, or with None."""
        if cache is None:
            return found
        self.caches.append(found[-1])
        return found[0]


class _Stack(TensorLayer):
    """Layers like one, each with parameters of its own."""

    def __init__(self, layer: _Block, num_layers: int, norm: Layer | None) -> None:
        super().__init__()
        others = (type(layer)(*layer.config) for _ in range(num_layers - 1))
        self.layers: LayerList = LayerList([layer, *others])
        self.num_layers = num_layers
        self.norm = norm

    def _through(self, x: Any, others: tuple[Any, ...], cache: Any) -> Any:
        """What the last layer gives, normalised where there is a ``norm``."""
        after = []
        for k, layer in enumerate(self.layers):
            if cache is None:
                x = layer(x, *others)
            else:
                x, kept = layer(x, *others, cache=cache[k])
                after.append(kept)
        x = x if self.norm is None else self.norm(x)
        return x if cache is None else (x, after)


@LAYERS
class TransformerEncoder(_Stack):
    """Encoder layers on each other.

    >>> layer = fluid.nn.TransformerEncoderLayer(8, 2, 16)
    >>> fluid.nn.TransformerEncoder(layer, 2)(fluid.ones([2, 5, 8])).shape
    [2, 5, 8]
    """

    def __init__(self, encoder_layer: _Block, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    @CALLS
    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, cache: Sequence[Cache] | None = None
    ) -> Tensor | tuple[Tensor, list[Cache]]:
        """The encoded sequence, normalised where there is a ``norm``; with caches, one for each
        layer, a pair of it and the next ones.
        """
        return self._through(src, (src_mask,), cache)

    def gen_cache(self, src: Tensor) -> list[Any]:
        """A cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


@LAYERS
class TransformerDecoder(_Stack):
    """Decoder layers on each other.

    >>> decoder = fluid.nn.TransformerDecoder(fluid.nn.TransformerDecoderLayer(8, 2, 16), 2)
    >>> decoder(fluid.ones([2, 5, 8]), fluid.ones([2, 7, 8])).shape
    [2, 5, 8]
    """

    def __init__(self, decoder_layer: _Block, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    @CALLS
    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Sequence[Caches] | None = None,
    ) -> Tensor | tuple[Tensor, list[Caches]]:
        """The decoded sequence, normalised where there is a ``norm``; with caches, one for each
        layer, a pair of it and the next ones.
        """
        return self._through(tgt, (memory, tgt_mask, memory_mask), cache)

    @CALLS
    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> list[Any]:
        """Caches for each layer.

        Args:
            do_zip: give the first caches of all layers, and the second ones.
        """
        found = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*found)) if do_zip else found


@LAYERS
@from_fields
class Transformer(Layer):
    """An encoder of sequences, and a decoder that makes others of what it gave.

    >>> net = fluid.nn.Transformer(8, 2, 1, 1, 16)
    >>> net(fluid.ones([2, 5, 8]), fluid.ones([2, 3, 8])).shape
    [2, 3, 8]
    """

    d_model: int = 512
    nhead: int = 8
    num_encoder_layers: int = 6
    num_decoder_layers: int = 6
    dim_feedforward: int = 2048
    dropout: float = 0.1
    activation: str = "relu"
    attn_dropout: float | None = None
    act_dropout: float | None = None
    normalize_before: bool = False
    weight_attr: Attr = None
    bias_attr: Attr = None
    custom_encoder: Layer | None = None
    custom_decoder: Layer | None = None

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        d_model, nhead, num_encoder_layers, num_decoder_layers, *more = given.values()
        *of_layers, custom_encoder, custom_decoder = more
        options = (d_model, nhead, *of_layers)
        self.d_model = d_model
        self.nhead = nhead
        self.encoder: Any | TransformerEncoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(d_model)
        )
        self.decoder: Any | TransformerDecoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(d_model)
        )

    @CALLS
    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """The decoded sequence, [N, T, d_model].

        Args:
            src: what the encoder reads, [N, S, d_model].
            tgt: what the decoder reads, [N, T, d_model].
        """
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """A mask under which no position sees those behind it: numbers that are added to scores.

        Args:
            length: of the sequence.
        """
        return to_tensor(np.triu(np.full([length, length], -np.inf, "float32"), 1))
