"""Recurrent networks over sequences in one tensor: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import layers
from ...errors import UnsupportedError
from ..building import Appending, TooLarge, need_room
from ..forms import operator
from .shape import reverse_sequence

Step = Callable[[Any, list[Any]], list[Any]]


@dataclass
class Weights:
    """The parameters of one direction.

    Attributes:
        x: of the input, [size of the input, gates * hidden].
        h: of the state, [hidden, gates * hidden].
        b_x, b_h: biases of both, [gates * hidden], or None.
    """

    x: Any
    h: Any
    b_x: Any
    b_h: Any


def _activation(f: Any, name: str, alpha: float | None, beta: float | None) -> Any:
    """An activation by the name that ONNX gives it."""
    a = {} if alpha is None else {"alpha": alpha}
    plain = dict(
        Relu="relu", Tanh="tanh", Sigmoid="sigmoid", Softsign="softsign", Softplus="softplus"
    )
    lower = {name.lower(): v for name, v in plain.items()}
    if name.lower() in lower:
        return getattr(f, lower[name.lower()])
    if name.lower() == "affine":
        return lambda x: f.scale(x, scale=1.0 if alpha is None else alpha, bias=beta or 0.0)
    if name.lower() == "leakyrelu":
        return lambda x: f.leaky_relu(x, alpha=a.get("alpha", 0.01))
    if name.lower() == "thresholdedrelu":
        return lambda x: f.thresholded_relu(x, threshold=a.get("alpha", 1.0))
    if name.lower() == "scaledtanh":
        attrs = dict(scale_a=1.0 if beta is None else beta, scale_b=1.0 if alpha is None else alpha)
        return lambda x: f.stanh(x, **attrs)
    if name.lower() == "hardsigmoid":
        attrs = dict(slope=a.get("alpha", 0.2), offset=0.5 if beta is None else beta)
        return lambda x: f.hard_sigmoid(x, **attrs)
    if name.lower() == "elu":
        return lambda x: f.elu(x, **a)
    raise UnsupportedError(f"the activation {name!r} is not known")


_WITH_ALPHA = {"affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu"}
_WITH_BETA = {"affine", "scaledtanh", "hardsigmoid"}


def _activations(
    f: Any, names: Any, default: list[str], directions: int, alphas: Any, betas: Any
) -> list[list[Any]]:
    """The activations of each direction."""
    names = list(names or default * directions)
    if len(names) != len(default) * directions:
        raise UnsupportedError(f"expected {len(default) * directions} activations, got {names}")
    alphas, betas = list(alphas or []), list(betas or [])
    found = []
    for name in names:
        low = name.lower()
        alpha = alphas.pop(0) if low in _WITH_ALPHA and alphas else None
        beta = betas.pop(0) if low in _WITH_BETA and betas else None
        found.append(_activation(f, name, alpha, beta))
    return [found[i * len(default) : (i + 1) * len(default)] for i in range(directions)]


@dataclass
class Net:
    """What the operators have in common: the data, and how it is taken through time."""

    f: Any
    x: Any  #: [steps, batch, size]
    lengths: Any
    hidden: int
    directions: list[bool]  #: of each, whether it goes backwards
    layout: int

    def weights(self, w: Any, r: Any, b: Any, at: int) -> Weights:
        """The parameters of a direction."""
        f = self.f
        one = lambda v: f.transposed(f.dropped(f.cut(v, 0, at, at + 1), 0), [1, 0])
        x, h = one(w), one(r)
        if b is None:
            return Weights(x, h, None, None)
        row = f.dropped(f.cut(b, 0, at, at + 1), 0)
        half = f.known_sizes(row)[0] // 2
        return Weights(x, h, f.cut(row, 0, 0, half), f.cut(row, 0, half, 2 * half))

    def initial(self, given: Any, at: int) -> Any:
        """The state that a direction begins with."""
        f = self.f
        if given is not None:
            if self.layout:
                given = f.transposed(given, [1, 0, 2])
            return f.dropped(f.cut(given, 0, at, at + 1), 0)
        if f.sizes(self.x)[1] != -1:
            need_room(f.sizes(self.x)[1], self.hidden)
            return np.zeros((f.sizes(self.x)[1], self.hidden), f.type_of(self.x))
        first = f.dropped(f.cut(self.x, 0, 0, 1), 0)
        zero = f.scale(f.summed(first, [1]), scale=0.0)
        return f.expand(zero, expand_times=[1, self.hidden])

    def run(self, at: int, inputs: Any, states: list[Any], step: Step) -> tuple[Any, list[Any]]:
        """Go through time.

        Args:
            at: the direction.
            inputs: what a step gets, [steps, batch, ...].
            states: what the state begins with.
            step: takes what it gets and the states before; gives the states behind.

        Returns:
            the first state behind each step, and the states behind the last one.
        """
        f = self.f
        inputs = self._turned(inputs, at)
        mask = self._mask()
        rnn = layers.StaticRNN()
        with rnn.step():
            now = rnn.step_input(f.variable(inputs))
            inside = None if mask is None else rnn.step_input(f.variable(mask))
            before = [rnn.memory(init=f.variable(s)) for s in states]
            after = step(now, list(before))
            shown = after[0]
            if inside is not None:
                shown = f.elementwise_mul(after[0], inside)
                left = f.scale(inside, scale=-1.0, bias=1.0)
                after = [
                    f.elementwise_add(f.elementwise_mul(new, inside), f.elementwise_mul(old, left))
                    for new, old in zip(after, before)
                ]
            for old, new in zip(before, after):
                rnn.update_memory(old, new)
            rnn.output(shown, *after)
        found = rnn()
        last = [f.dropped(f.slice(v, axes=[0], starts=[-1], ends=[2**30]), 0) for v in found[1:]]
        return self._turned(found[0], at), last

    def _turned(self, x: Any, at: int) -> Any:
        if not self.directions[at]:
            return x
        if self.lengths is None:
            return self.f.reverse(x, axis=[0])
        return reverse_sequence(self.f, x, self.lengths, batch_axis=1, time_axis=0)

    def _mask(self) -> Any:
        """1 for the steps of each sequence, 0 behind them."""
        f = self.f
        if self.lengths is None:
            return None
        time = f.counted(self.x, 0, 3, 0)
        ends = f.reshaped(f.to(self.lengths, "int64"), [1, -1, 1])
        return f.to(f.less_than(time, ends), f.type_of(self.x))

    def joined(self, found: list[tuple[Any, list[Any]]]) -> list[Any]:
        """The results of all directions, as the standard lays them out."""
        f = self.f
        stacked = lambda vs, axis: f.concat([f.added(v, axis) for v in vs], axis=axis)
        whole = stacked([y for y, _ in found], 1)
        whole = f.transposed(whole, [2, 0, 1, 3]) if self.layout else whole
        last = [
            stacked([states[i] for _, states in found], 1 if self.layout else 0)
            for i in range(len(found[0][1]))
        ]
        return [whole, *last]


def _net(
    f: Any, x: Any, lengths: Any, hidden_size: Any, r: Any, direction: str, layout: int
) -> Net:
    if not isinstance(f, Appending):
        raise TooLarge("recurrent networks are not computed before a run")
    ways = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
    if direction.lower() not in ways:
        raise UnsupportedError(f"the direction {direction!r} is not known")
    x = f.transposed(x, [1, 0, 2]) if layout else x
    hidden = hidden_size or f.known_sizes(r)[2]
    return Net(f, x, lengths, hidden, ways[direction.lower()], layout)


def _gates(f: Any, x: Any, count: int, hidden: int) -> list[Any]:
    return [f.cut(x, 1, i * hidden, (i + 1) * hidden) for i in range(count)]


def _clipped(f: Any, x: Any, clip: float | None) -> Any:
    return x if not clip else f.clip(x, min=-clip, max=clip)


def _projected(f: Any, x: Any, weights: Any, bias: Any) -> Any:
    """The products of all steps at once."""
    out = f.matmul(x, weights) if f.ndim(x) == 2 else f.mul(x, weights, x_num_col_dims=2)
    return out if bias is None else f.elementwise_add(out, bias)


@operator("RNN")
def rnn(
    f: Any,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    initial_h: Any = None,
    *,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    output_sequence: int = 0,
) -> Any:
    net = _net(f, x, lengths, hidden_size, r, direction, layout)
    acts = _activations(
        f, activations, ["Tanh"], len(net.directions), activation_alpha, activation_beta
    )
    found = []
    for at in range(len(net.directions)):
        own, (g,) = net.weights(w, r, b, at), acts[at]
        bias = None if b is None else f.elementwise_add(own.b_x, own.b_h)

        def step(now: Any, states: list[Any], own: Any = own, g: Any = g) -> list[Any]:
            return [g(_clipped(f, f.elementwise_add(now, f.matmul(states[0], own.h)), clip))]

        states = [net.initial(initial_h, at)]
        found.append(net.run(at, _projected(f, net.x, own.x, bias), states, step))
    return net.joined(found)


@operator("GRU")
def gru(
    f: Any,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    initial_h: Any = None,
    *,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
    output_sequence: int = 0,
) -> Any:
    net = _net(f, x, lengths, hidden_size, r, direction, layout)
    names = ["Sigmoid", "Tanh"]
    acts = _activations(
        f, activations, names, len(net.directions), activation_alpha, activation_beta
    )
    found = []
    for at in range(len(net.directions)):
        own = net.weights(w, r, b, at)

        def step(now: Any, states: list[Any], own: Weights = own, at: int = at) -> list[Any]:
            return [
                _gru_step(f, now, states[0], own, acts[at], net.hidden, clip, linear_before_reset)
            ]

        states = [net.initial(initial_h, at)]
        found.append(net.run(at, _projected(f, net.x, own.x, own.b_x), states, step))
    return net.joined(found)


def _gru_step(
    f: Any, now: Any, h: Any, own: Weights, acts: list[Any], n: int, clip: Any, linear: int
) -> Any:
    sigmoid, tanh = acts
    parts = _gates(f, now, 3, n)
    weights = _gates(f, own.h, 3, n)
    bias = (
        [None] * 3 if own.b_h is None else [f.cut(own.b_h, 0, i * n, i * n + n) for i in range(3)]
    )

    def recurrent(v: Any, i: int) -> Any:
        out = f.matmul(v, weights[i])
        return out if bias[i] is None else f.elementwise_add(out, bias[i])

    z = sigmoid(_clipped(f, f.elementwise_add(parts[0], recurrent(h, 0)), clip))
    r = sigmoid(_clipped(f, f.elementwise_add(parts[1], recurrent(h, 1)), clip))
    if linear:
        inner = f.elementwise_mul(r, recurrent(h, 2))
    else:
        inner = recurrent(f.elementwise_mul(r, h), 2)
    new = tanh(_clipped(f, f.elementwise_add(parts[2], inner), clip))
    left = f.scale(z, scale=-1.0, bias=1.0)
    return f.elementwise_add(f.elementwise_mul(left, new), f.elementwise_mul(z, h))


@operator("LSTM")
def lstm(
    f: Any,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    p: Any = None,
    *,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    activations: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
    output_sequence: int = 0,
) -> Any:
    net = _net(f, x, lengths, hidden_size, r, direction, layout)
    names = ["Sigmoid", "Tanh", "Tanh"]
    acts = _activations(
        f, activations, names, len(net.directions), activation_alpha, activation_beta
    )
    n, found = net.hidden, []
    for at in range(len(net.directions)):
        own = net.weights(w, r, b, at)
        bias = None if b is None else f.elementwise_add(own.b_x, own.b_h)
        peeps = None
        if p is not None:
            row = f.dropped(f.cut(p, 0, at, at + 1), 0)
            peeps = [f.cut(row, 0, i * n, (i + 1) * n) for i in range(3)]

        def step(
            now: Any, states: list[Any], own: Any = own, peeps: Any = peeps, at: int = at
        ) -> list[Any]:
            gates = f.elementwise_add(now, f.matmul(states[0], own.h))
            return _lstm_step(
                f, _gates(f, gates, 4, n), states[1], peeps, acts[at], clip, input_forget
            )

        states = [net.initial(initial_h, at), net.initial(initial_c, at)]
        found.append(net.run(at, _projected(f, net.x, own.x, bias), states, step))
    return net.joined(found)


def _lstm_step(
    f: Any, gates: list[Any], c: Any, peeps: Any, acts: list[Any], clip: Any, coupled: int
) -> list[Any]:
    sigmoid, tanh, last = acts
    i, o, forget, new = gates

    def seen(gate: Any, cell: Any, at: int) -> Any:
        if peeps is not None:
            gate = f.elementwise_add(gate, f.elementwise_mul(cell, peeps[at]))
        return sigmoid(_clipped(f, gate, clip))

    i_gate = seen(i, c, 0)
    f_gate = f.scale(i_gate, scale=-1.0, bias=1.0) if coupled else seen(forget, c, 2)
    cell = f.elementwise_add(
        f.elementwise_mul(f_gate, c),
        f.elementwise_mul(i_gate, tanh(_clipped(f, new, clip))),
    )
    return [f.elementwise_mul(seen(o, cell, 1), last(cell)), cell]
