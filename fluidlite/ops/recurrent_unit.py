"""Units of recurrent nets: one step from the previous state to the next one."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ..errors import AttributeValueError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_ndim, need_shape, same_float

#: what fluid's numbers of activations mean
ACTIVATIONS = ("identity", "sigmoid", "tanh", "relu")


def activated(xp: Any, number: int, x: Array) -> Array:
    """The activation of that number, of an array."""
    name = ACTIVATIONS[number]
    if name == "sigmoid":
        return 0.5 * (xp.tanh(0.5 * x) + 1)
    if name == "tanh":
        return xp.tanh(x)
    return xp.maximum(x, 0) if name == "relu" else x


def pulled_back(f: Any, number: Any, out: Any, dout: Any) -> Any:
    """The cotangent of what was activated, from the result and its cotangent."""
    name = ACTIVATIONS[number]
    if name == "sigmoid":
        return dout * out * (1.0 - out)
    if name == "tanh":
        return dout * (1.0 - f.square(out))
    return dout * f.sign(out) if name == "relu" else dout


class gru_unit(Op):
    """Hidden = (1 - u) * HiddenPrev + u * c, one step of a gated recurrent unit.

    The gates are u = gate_activation(Input_u + HiddenPrev W_u + Bias_u) and r likewise; the
    candidate is c = activation(Input_c + ResetHiddenPrev W_c + Bias_c).

    (Cho et al., Learning phrase representations using RNN encoder-decoder, EMNLP 2014.)

    Input: [n, 3 size]: for u, r and c.
    HiddenPrev: [n, size].
    Weight: [size, 3 size]; its memory holds [W_u W_r], of shape [size, 2 size], and behind it W_c,
        of shape [size, size].
    Bias: [1, 3 size].
    Gate: u, r and c.
    ResetHiddenPrev: r * HiddenPrev.
    activation, gate_activation: 0 for none, 1 for sigmoid, 2 for tanh, 3 for relu.
    origin_mode: whether Hidden = u * HiddenPrev + (1 - u) * c, as in the article.
    """

    signature = "Input, HiddenPrev, Weight, Bias? -> Gate~, ResetHiddenPrev~, Hidden"
    lod: ClassVar[str | None] = None
    activation: int = 2
    gate_activation: int = 1
    origin_mode: bool = False

    def infer(self, Input: Spec, HiddenPrev: Spec, Weight: Spec, Bias: Spec | None) -> Specs:
        same_float(Input=Input, HiddenPrev=HiddenPrev, Weight=Weight, Bias=Bias)
        for name in ("activation", "gate_activation"):
            if not 0 <= getattr(self, name) < len(ACTIVATIONS):
                raise AttributeValueError(
                    f"expected {name} 0 (none), 1 (sigmoid), 2 (tanh) or 3 (relu), got "
                    f"{getattr(self, name)}"
                )
        need_ndim(2, Input=Input, HiddenPrev=HiddenPrev)
        rows, size = HiddenPrev.shape
        whole = 3 * size if size != -1 else -1
        wanted = dict(Input=(rows, whole), Weight=(size, whole), Bias=(1, whole))
        for name, s in dict(Input=Input, Weight=Weight, Bias=Bias).items():
            need_shape(name, s, wanted[name], "for HiddenPrev", HiddenPrev)
        return Input, HiddenPrev, HiddenPrev

    def run(self, xp: Any, Input: Array, HiddenPrev: Array, Weight: Array, Bias: Array) -> Arrays:
        size = HiddenPrev.shape[1]
        x = Input if Bias is None else Input + Bias
        flat = xp.reshape(Weight, (-1,))
        for_gates = xp.reshape(flat[: 2 * size * size], (size, 2 * size))
        for_candidate = xp.reshape(flat[2 * size * size :], (size, size))
        gates = x[:, : 2 * size] + HiddenPrev @ for_gates
        gates = activated(xp, self.gate_activation, gates)
        u, r = gates[:, :size], gates[:, size:]
        reset = r * HiddenPrev
        c = activated(xp, self.activation, x[:, 2 * size :] + reset @ for_candidate)
        old, new = (HiddenPrev, c) if not self.origin_mode else (c, HiddenPrev)
        return xp.concatenate([gates, c], axis=1), reset, old + u * (new - old)

    def grad(
        self,
        f,
        Input,
        HiddenPrev,
        Weight,
        Bias,
        Gate,
        ResetHiddenPrev,
        dHidden,
        dGate=None,
        dResetHiddenPrev=None,
    ):
        size = HiddenPrev.shape[1]
        columns = lambda v, k, n=1: f.slice(v, axes=[1], starts=[k * size], ends=[(k + n) * size])
        flat = lambda v: f.reshape(v, shape=[-1])

        @functools.cache
        def gate(k):
            return columns(Gate, k)

        @functools.cache
        def part(first, shape):
            """A matrix of the weights, from where it begins in the memory."""
            last = first + shape[0] * shape[1]
            cut = f.slice(flat(Weight), axes=[0], starts=[first], ends=[last])
            return f.reshape(cut, shape=list(shape))

        def plus(v, given, k):
            return v if given is None else v + columns(given, k)

        @functools.cache
        def candidate():
            """The cotangent of what the candidate is the activation of."""
            u = gate(0)
            dc = plus(dHidden * ((1.0 - u) if self.origin_mode else u), dGate, 2)
            return pulled_back(f, self.activation, gate(2), dc)

        @functools.cache
        def reset():
            """The cotangent of ResetHiddenPrev."""
            for_candidate = part(2 * size * size, (size, size))
            found = f.matmul(candidate(), for_candidate, transpose_Y=True)
            return found if dResetHiddenPrev is None else found + dResetHiddenPrev

        @functools.cache
        def gates():
            """The cotangent of what the gates are the activation of."""
            apart = gate(2) - HiddenPrev
            du = plus(dHidden * (-apart if self.origin_mode else apart), dGate, 0)
            dr = plus(reset() * HiddenPrev, dGate, 1)
            both = f.concat([du, dr], axis=1)
            return pulled_back(f, self.gate_activation, columns(Gate, 0, 2), both)

        @functools.cache
        def whole():
            return f.concat([gates(), candidate()], axis=1)

        def dhidden():
            u = gate(0)
            for_gates = part(0, (size, 2 * size))
            kept = dHidden * (u if self.origin_mode else (1.0 - u))
            return kept + reset() * gate(1) + f.matmul(gates(), for_gates, transpose_Y=True)

        def dweight():
            first = f.matmul(HiddenPrev, gates(), transpose_X=True)
            second = f.matmul(ResetHiddenPrev, candidate(), transpose_X=True)
            joined = f.concat([flat(first), flat(second)], axis=0)
            return f.reshape(joined, shape=list(Weight.shape))

        return dict(
            Input=whole,
            HiddenPrev=dhidden,
            Weight=dweight,
            Bias=lambda: f.reduce_sum(whole(), dim=[0], keep_dim=True),
        )


class lstm_unit(Op):
    """C = sigmoid(f + forget_bias) * C_prev + sigmoid(i) * tanh(g), H = sigmoid(o) * tanh(C).

    X holds i, f, o and g side by side: one step of a long short-term memory, whose input and state
    have been multiplied by the weights already.

    (Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997; Gers et al.,
    Learning to forget, Neural Computation 12(10), 2000.)

    X: [n, 4 size].
    C_prev: [n, size].
    forget_bias: added to f.
    """

    signature = "X, C_prev -> C, H"
    lod: ClassVar[str | None] = None
    forget_bias: float = 0.0

    def infer(self, X: Spec, C_prev: Spec) -> Specs:
        same_float(X=X, C_prev=C_prev)
        need_ndim(2, X=X, C_prev=C_prev)
        rows, size = C_prev.shape
        wanted = (rows, 4 * size if size != -1 else -1)
        need_shape("X", X, wanted, "for C_prev", C_prev)
        return C_prev, C_prev

    def run(self, xp: Any, X: Array, C_prev: Array) -> Arrays:
        size = C_prev.shape[1]
        half = X[:, : 3 * size] * 0.5
        if self.forget_bias:
            middle = (slice(None), slice(size, 2 * size))
            half = xp.add_at(half, middle, 0.5 * self.forget_bias)
        gates = xp.tanh(half)  # sigmoid(x) = (tanh(x / 2) + 1) / 2
        gates += 1
        gates *= 0.5
        i, f, o = gates[:, :size], gates[:, size : 2 * size], gates[:, 2 * size :]
        C = f * C_prev + i * xp.tanh(X[:, 3 * size :])
        return C, o * xp.tanh(C)

    def grad(self, f: Any, X: Value, C_prev: Value, C: Value, dC: Value, dH: Value) -> Rules:
        size = C_prev.shape[1]
        columns = lambda v, k, n=1: f.slice(v, axes=[1], starts=[k * size], ends=[(k + n) * size])

        @functools.cache
        def gate(k):
            x = columns(X, k)
            return f.sigmoid(f.scale(x, bias=self.forget_bias) if k == 1 else x)

        @functools.cache
        def candidate():
            return f.tanh(columns(X, 3))

        @functools.cache
        def squashed():
            return f.tanh(C)

        @functools.cache
        def cell():
            """The cotangent of C, with what comes by H."""
            return dH * gate(2) * (1.0 - f.square(squashed())) + dC

        def dx():
            slope = lambda k: gate(k) * (1.0 - gate(k))
            parts = [cell() * candidate() * slope(0), cell() * C_prev * slope(1)]
            parts.append(dH * squashed() * slope(2))
            parts.append(cell() * gate(0) * (1.0 - f.square(candidate())))
            return f.concat(parts, axis=1)

        return dict(X=dx, C_prev=lambda: cell() * gate(1))
