"""Recurrent networks over sequences in one tensor: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import layers
from ...errors import UnsupportedError
from ..building import Appending, TooLarge, need_room
from ..forms import operator
from .shape import reverse_sequence

Step = Callable[[Any, list[Any]], list[Any]]
#: the same of a network: takes that, the parameters of a direction and its activations before
NetworkStep = Callable[..., list[Any]]


@dataclass
class Weights:
    """The parameters of one direction.

    Attributes:
        x: of the input, [size of the input, gates * hidden].
        h: of the state, [hidden, gates * hidden].
        b_x, b_h: biases of both, [gates * hidden], or None.
        peepholes: what gates see of the cell, [hidden] each, or None.
    """

    x: Any
    h: Any
    b_x: Any
    b_h: Any
    peepholes: list[Any] | None


#: activation -> its name in fluid, and what alpha and beta are called there, with their defaults
_ACTIVATIONS: dict[str, tuple[str, dict[str, float], dict[str, float]]] = {
    **{name: (name, {}, {}) for name in ("relu", "tanh", "sigmoid", "softsign", "softplus")},
    "affine": ("scale", {"scale": 1.0}, {"bias": 0.0}),
    "leakyrelu": ("leaky_relu", {"alpha": 0.01}, {}),
    "thresholdedrelu": ("thresholded_relu", {"threshold": 1.0}, {}),
    "scaledtanh": ("stanh", {"scale_b": 1.0}, {"scale_a": 1.0}),
    "hardsigmoid": ("hard_sigmoid", {"slope": 0.2}, {"offset": 0.5}),
    "elu": ("elu", {"alpha": 1.0}, {}),
}


@dataclass(frozen=True)
class RecurrentNetwork:
    """Attributes of all recurrent operators."""

    activation_alpha: Sequence[float] | None = None
    activation_beta: Sequence[float] | None = None
    activations: Sequence[str] | None = None
    clip: float | None = None
    direction: str = "forward"
    hidden_size: int | None = None
    layout: int = 0
    output_sequence: int = 0

    def of(self, f: Any, x: Any, lengths: Any, r: Any) -> Net:
        """How data is taken through time."""
        if not isinstance(f, Appending):
            raise TooLarge("recurrent networks are not computed before a run")
        ways = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
        if self.direction.lower() not in ways:
            raise UnsupportedError(f"the direction {self.direction!r} is not known")
        x = f.transposed(x, [1, 0, 2]) if self.layout else x
        hidden = self.hidden_size or f.known_sizes(r)[2]
        return Net(f, x, lengths, hidden, ways[self.direction.lower()], self)

    def functions(self, f: Any, *default: str) -> list[list[Any]]:
        """The activations of each direction."""
        count = 2 if self.direction.lower() == "bidirectional" else 1
        names = list(self.activations or default * count)
        if len(names) != len(default) * count:
            raise UnsupportedError(f"expected {len(default) * count} activations, got {names}")
        numbers = [list(self.activation_alpha or []), list(self.activation_beta or [])]
        activations = []
        for name in names:
            if name.lower() not in _ACTIVATIONS:
                raise UnsupportedError(f"the activation {name!r} is not known")
            type, *parameters = _ACTIVATIONS[name.lower()]
            attrs: dict[str, float] = {}
            for parameter, given in zip(parameters, numbers):
                attrs.update((key, given.pop(0) if given else n) for key, n in parameter.items())
            activations.append(partial(getattr(f, type), **attrs))
        return [activations[i * len(default) : (i + 1) * len(default)] for i in range(count)]

    def clipped(self, f: Any, x: Any) -> Any:
        """A value within the bounds, if there are any."""
        return f.clip(x, min=-self.clip, max=self.clip) if self.clip else x


@dataclass(frozen=True)
class GRUNetwork(RecurrentNetwork):
    """The same, of networks of gated recurrent units."""

    linear_before_reset: int = 0


@dataclass(frozen=True)
class LSTMNetwork(RecurrentNetwork):
    """The same, of networks of long short-term memories."""

    input_forget: int = 0


@dataclass
class Net:
    """What the operators have in common: the data, and how it is taken through time."""

    f: Any
    x: Any  #: [steps, batch, size]
    lengths: Any
    hidden: int
    directions: list[bool]  #: of each, whether it goes backwards
    network: RecurrentNetwork

    def weights(self, w: Any, r: Any, b: Any, p: Any, at: int) -> Weights:
        """The parameters of a direction."""
        f = self.f
        own = lambda v: f.dropped(f.cut(v, 0, at, at + 1), 0)
        peepholes = None if p is None else _gates(f, own(p), 3, self.hidden, 0)
        x, h = (f.transposed(own(v), [1, 0]) for v in (w, r))
        if b is None:
            return Weights(x, h, None, None, peepholes)
        row = own(b)
        half = f.known_sizes(row)[0] // 2
        return Weights(x, h, f.cut(row, 0, 0, half), f.cut(row, 0, half, 2 * half), peepholes)

    def initial(self, given: Any, at: int) -> Any:
        """The state that a direction begins with."""
        f = self.f
        if given is not None:
            if self.network.layout:
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

    def directed(
        self, weights: list[Weights], initial: list[Any], step: Any, acts: list[Any], one_bias: bool
    ) -> list[Any]:
        """Go through time in each direction.

        Args:
            weights, acts: the parameters of each direction, and its activations.
            initial: what the state begins with, None for zeros.
            step: takes those of a direction, and what :meth:`run` gives.
            one_bias: whether both biases are added to what a step gets.
        """
        results = []
        for at, own in enumerate(weights):
            bias = own.b_x
            if one_bias and bias is not None:
                bias = self.f.elementwise_add(own.b_x, own.b_h)
            inputs = _projected(self.f, self.x, own.x, bias)
            states = [self.initial(v, at) for v in initial]
            results.append(self.run(at, inputs, states, partial(step, own, acts[at])))
        return self.joined(results)

    def joined(self, found: list[tuple[Any, list[Any]]]) -> list[Any]:
        """The results of all directions, as the standard lays them out."""
        f = self.f
        stacked = lambda vs, axis: f.concat([f.added(v, axis) for v in vs], axis=axis)
        whole = stacked([y for y, _ in found], 1)
        whole = f.transposed(whole, [2, 0, 1, 3]) if self.network.layout else whole
        last = [
            stacked([states[i] for _, states in found], 1 if self.network.layout else 0)
            for i in range(len(found[0][1]))
        ]
        return [whole, *last]


def _gates(f: Any, x: Any, count: int, hidden: int, axis: int = 1) -> list[Any]:
    return [f.cut(x, axis, i * hidden, (i + 1) * hidden) for i in range(count)]


def _projected(f: Any, x: Any, weights: Any, bias: Any) -> Any:
    """The products of all steps at once."""
    out = f.matmul(x, weights) if f.ndim(x) == 2 else f.mul(x, weights, x_num_col_dims=2)
    return out if bias is None else f.elementwise_add(out, bias)


def _network(
    type: str,
    inputs: int,
    *functions: str,
    options: Any = RecurrentNetwork(),
    one_bias: bool = True,
) -> Callable[[NetworkStep], NetworkStep]:
    """A decorator: the function is a step of the operator.

    Args:
        type, inputs: of the operator, and how many inputs it takes.
        functions: its activations where a node does not say others.
        options: its attributes.
        one_bias: whether both biases are added to what a step gets.
    """

    def register(step: NetworkStep) -> NetworkStep:
        @operator(type, inputs=inputs)
        def build(f: Any, *ins: Any, network: RecurrentNetwork = options) -> Any:
            x, w, r, b, lengths, *initial = ins
            peepholes = initial.pop() if len(initial) > 2 else None
            net, acts = network.of(f, x, lengths, r), network.functions(f, *functions)
            weights = [net.weights(w, r, b, peepholes, at) for at in range(len(net.directions))]
            return net.directed(weights, initial, partial(step, net), acts, one_bias)

        return step

    return register


@_network("RNN", 6, "Tanh")
def _rnn_step(net: Net, own: Weights, acts: list[Any], now: Any, states: list[Any]) -> list[Any]:
    f, (g,), (h,) = net.f, acts, states
    return [g(net.network.clipped(f, f.elementwise_add(now, f.matmul(h, own.h))))]


@_network("GRU", 6, "Sigmoid", "Tanh", options=GRUNetwork(), one_bias=False)
def _gru_step(net: Net, own: Weights, acts: list[Any], now: Any, states: list[Any]) -> list[Any]:
    f, n, (sigmoid, tanh), (h,) = net.f, net.hidden, acts, states
    options: Any = net.network
    parts = _gates(f, now, 3, n)
    weights = _gates(f, own.h, 3, n)
    bias = [None] * 3 if own.b_h is None else _gates(f, own.b_h, 3, n, 0)

    def recurrent(v: Any, i: int) -> Any:
        out = f.matmul(v, weights[i])
        return out if bias[i] is None else f.elementwise_add(out, bias[i])

    def clipped(x: Any, y: Any) -> Any:
        return net.network.clipped(f, f.elementwise_add(x, y))

    z, r = (sigmoid(clipped(parts[i], recurrent(h, i))) for i in range(2))
    if options.linear_before_reset:
        inner = f.elementwise_mul(r, recurrent(h, 2))
    else:
        inner = recurrent(f.elementwise_mul(r, h), 2)
    new = tanh(clipped(parts[2], inner))
    left = f.scale(z, scale=-1.0, bias=1.0)
    return [f.elementwise_add(f.elementwise_mul(left, new), f.elementwise_mul(z, h))]


@_network("LSTM", 8, "Sigmoid", "Tanh", "Tanh", options=LSTMNetwork())
def _lstm_step(net: Net, own: Weights, acts: list[Any], now: Any, states: list[Any]) -> list[Any]:
    f, (sigmoid, tanh, last), (h, c) = net.f, acts, states
    options: Any = net.network
    gates = f.elementwise_add(now, f.matmul(h, own.h))
    i, o, forget, new = _gates(f, gates, 4, net.hidden)

    def seen(gate: Any, cell: Any, at: int) -> Any:
        if own.peepholes is not None:
            gate = f.elementwise_add(gate, f.elementwise_mul(cell, own.peepholes[at]))
        return sigmoid(net.network.clipped(f, gate))

    i_gate = seen(i, c, 0)
    f_gate = f.scale(i_gate, scale=-1.0, bias=1.0) if options.input_forget else seen(forget, c, 2)
    cell = f.elementwise_add(
        f.elementwise_mul(f_gate, c), f.elementwise_mul(i_gate, tanh(net.network.clipped(f, new)))
    )
    return [f.elementwise_mul(seen(o, cell, 1), last(cell)), cell]
