"""Layers of long short-term memories over sequences of one length, one above the other.

Weights lie in one vector, in cuDNN's order: for each layer, and in it for each direction, the
matrices of the input and then those of the state, [size, width] each, of the gates i, f, of the
candidate g and of the gate o; behind the matrices of all layers the biases in the same order, those
of the input before those of the state.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar, NamedTuple

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.attribute import need_least
from ..opdef.definition import Op, lookup
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, agree, need_ndim, need_shape, same_float, size_of

#: more layers than anybody has weights for
MOST_LAYERS = 2**12


class Part(NamedTuple):
    """Where the weights of one direction of a layer lie: how wide its input is, and the first
    positions of the matrices of the input, those of the state, and the biases.
    """

    width: int
    of_input: int
    of_state: int
    of_bias: int


class LstmLayers(Op, abstract=True):
    """Attributes of layers of memories, and what follows from them.

    hidden_size: the size of a state.
    num_layers: how many layers there are; each reads what the one below hands out.
    is_bidirec: whether each layer goes forth and back, and hands out both states side by side.
    """

    is_bidirec: bool = False
    hidden_size: int = 100
    num_layers: int = 1
    lod: ClassVar[str | None] = None

    @property
    def directions(self) -> int:
        """1 or 2."""
        return 2 if self.is_bidirec else 1

    def parts(self, width: int) -> tuple[Any, ...]:
        """Where the weights of each layer and direction lie, and how many there are.

        Args:
            width: of the input.
        """
        size, at, ranges = self.hidden_size, 0, []
        if self.num_layers > MOST_LAYERS:
            raise AttributeValueError(
                f"expected num_layers of at most {MOST_LAYERS}, got {self.num_layers}"
            )
        for _ in range(self.num_layers):
            for _ in range(self.directions):
                ranges.append((width, at, at + 4 * size * width))
                at += 4 * size * (width + size)
            width = size * self.directions
        placed = [Part(*each, at + 8 * size * k) for k, each in enumerate(ranges)]
        return placed, at + 8 * size * len(ranges)

    def check_layout(self) -> None:
        """Refuse sizes that make no layers."""
        need_least(self, 1, "hidden_size", "num_layers")

    def check(self, Input: Spec, InitH: Spec, InitC: Spec, W: Spec) -> tuple[Spec, ...]:
        """Refuse what does not fit; the specs of Out, last_h and last_c."""
        self.check_layout()
        same_float(Input=Input, InitH=InitH, InitC=InitC, W=W)
        need_ndim(3, Input=Input)
        steps, rows, width = Input.shape
        wanted = (self.num_layers * self.directions, rows, self.hidden_size)
        for name, s in dict(InitH=InitH, InitC=InitC).items():
            need_shape(name, s, wanted, "[layers * directions, batch, hidden_size]")
        if width != -1 and not agree(size_of(W.shape), self.parts(width)[1]):
            raise ShapeError(
                f"expected W of {self.parts(width)[1]} elements for an input {width} wide, got "
                f"shape {list(W.shape)}"
            )
        out = Input.with_shape([steps, rows, self.hidden_size * self.directions])
        last = InitH.with_shape([*wanted[:1], rows, self.hidden_size])
        return out, last, last


class lstm_layers(LstmLayers):
    """Out = the states of the last of several layers of memories, at every step.

    Input: [steps, batch, width].
    InitH, InitC: the first states and cells, [layers * directions, batch, hidden_size].
    W: the weights; their order stands at the top of this file.
    Kept: what each layer hands up is multiplied by, [layers - 1, steps, batch, hidden_size *
        directions]; 1 everywhere where it is absent.
    Out: [steps, batch, hidden_size * directions].
    last_h, last_c: the last states and cells, of the shape of InitH.
    """

    signature = "Input, InitH, InitC, W, Kept?! -> Out, last_h, last_c"

    def infer(self, Input: Spec, InitH: Spec, InitC: Spec, W: Spec) -> Specs:
        return self.check(Input, InitH, InitC, W)

    def expand(
        self, f: Any, Input: Value, InitH: Value, InitC: Value, W: Value, Kept: Value
    ) -> Values:
        steps, rows, width = Input.shape
        size, flat = self.hidden_size, f.reshape(W, shape=[-1])
        parts, _ = self.parts(width)
        states, cells, x = [], [], Input

        def piece(v, k):
            cut = f.slice(v, axes=[0], starts=[k], ends=[k + 1])
            return f.reshape(cut, shape=list(v.shape[1:]))

        def matrix(at, count, width):
            """Weights with the columns of o before those of g, as `lstm_unit` takes them."""
            cut = lambda k: f.slice(
                flat, axes=[0], starts=[at + k * count * width], ends=[at + (k + 1) * count * width]
            )
            ordered = f.concat([cut(0), cut(1), cut(3), cut(2)], axis=0)
            return f.reshape(ordered, shape=[4 * count, width])

        def one_way(x, k, back):
            part = parts[k]
            bias = matrix(part.of_bias, size, 1) + matrix(part.of_bias + 4 * size, size, 1)
            inputs = f.matmul(
                f.reshape(x, shape=[-1, part.width]),
                matrix(part.of_input, size, part.width),
                transpose_Y=True,
            )
            inputs = f.elementwise_add(inputs, f.reshape(bias, shape=[4 * size]), axis=1)
            inputs = f.reshape(inputs, shape=[steps, rows, 4 * size])
            by_state = matrix(part.of_state, size, size)
            h, c, outs = piece(InitH, k), piece(InitC, k), []
            for t in reversed(range(steps)) if back else range(steps):
                c, h = f.lstm_unit(piece(inputs, t) + f.matmul(h, by_state, transpose_Y=True), c)
                outs.append(h)
            states.append(h)
            cells.append(c)
            return f.stack(outs[::-1] if back else outs, axis=0)

        for layer in range(self.num_layers):
            ways = [one_way(x, layer * self.directions + d, d) for d in range(self.directions)]
            x = ways[0] if len(ways) == 1 else f.concat(ways, axis=2)
            if Kept is not None and layer + 1 < self.num_layers:
                x = x * piece(Kept, layer)
        return x, f.stack(states, axis=0), f.stack(cells, axis=0)

    def run_numpy(
        self, xp: Any, Input: Array, InitH: Array, InitC: Array, W: Array, Kept: Array
    ) -> Arrays:
        parts, _ = self.parts(Input.shape[2])
        passes, x = [], Input
        for layer in range(self.num_layers):
            here = [layer * self.directions + d for d in range(self.directions)]
            ways = [
                Passing(xp, x, InitH[k], InitC[k], W, parts[k], bool(d)) for d, k in enumerate(here)
            ]
            passes += ways
            x = xp.concatenate([way.states for way in ways], axis=2)
            if Kept is not None and layer + 1 < self.num_layers:
                x = x * Kept[layer]
        last = [(way.states[way.order[-1]], way.cells[way.order[-1]]) for way in passes]
        return x, *(xp.stack([each[k] for each in last]) for k in range(2))

    def grad_numpy(
        self, xp, Input, InitH, InitC, W, Kept=None, dOut=None, dlast_h=None, dlast_c=None
    ):
        parts, _ = self.parts(Input.shape[2])
        flat, many = W.reshape(-1), self.directions
        layers, x = [], Input
        for layer in range(self.num_layers):
            here = [layer * many + d for d in range(many)]
            layers.append(
                [Passing(xp, x, InitH[k], InitC[k], W, parts[k], k % many == 1) for k in here]
            )
            x = xp.concatenate([way.states for way in layers[-1]], axis=2)
            if Kept is not None and layer + 1 < self.num_layers:
                x = x * Kept[layer]
        dx = xp.zeros(x.shape, x.dtype) if dOut is None else dOut
        dW, dh, dc = xp.zeros_like(flat), xp.zeros_like(InitH), xp.zeros_like(InitC)
        for layer in reversed(range(self.num_layers)):
            if Kept is not None and layer + 1 < self.num_layers:
                dx = dx * Kept[layer]
            below, size = 0, self.hidden_size
            for d, way in enumerate(layers[layer]):
                k = layer * many + d
                ends = [None if v is None else v[k] for v in (dlast_h, dlast_c)]
                found, dh[k], dc[k] = way.back(xp, dx[:, :, d * size : (d + 1) * size], *ends, dW)
                below = below + found
            dx = below
        return dict(Input=dx, InitH=dh, InitC=dc, W=dW.reshape(W.shape))


class Passing:
    """One direction of one layer: what its steps computed, which the way back reads."""

    gates: Any

    def __init__(self, xp: Any, x: Array, h: Array, c: Array, W: Array, part: Any, back: bool):
        steps, rows = x.shape[:2]
        size, flat = h.shape[1], W.reshape(-1)
        self.x = x
        self.first: tuple[Array, Array] = (h, c)
        self.part = part
        self.order: range = range(steps)[::-1] if back else range(steps)
        at = part.of_input
        self.by_input: Array = flat[at : at + 4 * size * part.width].reshape(4 * size, part.width)
        at = part.of_state
        self.by_state: Array = flat[at : at + 4 * size * size].reshape(4 * size, size)
        both = flat[part.of_bias : part.of_bias + 8 * size].reshape(2, 4 * size)
        gates = x.reshape(-1, part.width) @ self.by_input.T + both.sum(0)
        self.gates = gates = gates.reshape(steps, rows, 4 * size)  # i, f, g and o of each step
        self.states: Any = xp.empty((steps, rows, size), x.dtype)
        self.cells: Any = xp.empty((steps, rows, size), x.dtype)
        transposed = xp.ascontiguousarray(self.by_state.T)
        scale = xp.full(4 * size, 0.5, x.dtype)
        scale[2 * size : 3 * size] = 1  # sigmoid(x) = (tanh(x / 2) + 1) / 2, and g is a tanh
        shift = 1 - scale
        for t in self.order:
            step = gates[t]
            step += h @ transposed
            step *= scale
            xp.tanh(step, out=step)
            step *= scale
            step += shift
            i, f, g, o = (step[:, k * size : (k + 1) * size] for k in range(4))
            c = xp.multiply(f, c, out=self.cells[t])
            c += i * g
            h = xp.multiply(o, xp.tanh(c), out=self.states[t])

    def back(self, xp: Any, dout: Array, dh: Any, dc: Any, dW: Array) -> Arrays:
        """Cotangents of the input and of the first state and cell; those of the weights are added.

        Args:
            dout: the cotangent of the states.
            dh, dc: those of the last state and cell, where there are any.
            dW: the cotangent of all weights.
        """
        steps, rows, size = self.states.shape
        dgates = xp.empty_like(self.gates)
        before = xp.empty_like(self.states)  # the state that each step read
        zero = xp.zeros((rows, size), self.x.dtype)
        dh, dc = (zero if v is None else v for v in (dh, dc))
        for n in reversed(range(steps)):
            t = self.order[n]
            h, c = (
                (self.states[self.order[n - 1]], self.cells[self.order[n - 1]]) if n else self.first
            )
            before[t] = h
            i, f, g, o = (self.gates[t][:, k * size : (k + 1) * size] for k in range(4))
            squashed = xp.tanh(self.cells[t])
            dh = dh + dout[t]
            dc = dc + dh * o * (1 - squashed * squashed)
            step = dgates[t]
            step[:, :size] = dc * g * i * (1 - i)
            step[:, size : 2 * size] = dc * c * f * (1 - f)
            step[:, 2 * size : 3 * size] = dc * i * (1 - g * g)
            step[:, 3 * size :] = dh * squashed * o * (1 - o)
            dh, dc = step @ self.by_state, dc * f
        rowwise = dgates.reshape(-1, 4 * size)
        part, width = self.part, self.part.width
        inputs, states = self.x.reshape(-1, width), before.reshape(-1, size)
        dW[part.of_input : part.of_input + 4 * size * width] += (rowwise.T @ inputs).reshape(-1)
        dW[part.of_state : part.of_state + 4 * size * size] += (rowwise.T @ states).reshape(-1)
        both = rowwise.sum(0)
        for at in (part.of_bias, part.of_bias + 4 * size):
            dW[at : at + 4 * size] += both
        return (rowwise @ self.by_input).reshape(self.x.shape), dh, dc


class DropsBetweenLayers:
    """What networks of several layers with dropout between them have in common."""

    layers: ClassVar[type[Op]]  #: the operator of the layers alone
    dropout_prob: float
    is_test: bool
    num_layers: int

    @property
    def drops(self) -> bool:
        """Whether elements are dropped."""
        return self.dropout_prob > 0 and not self.is_test and self.num_layers > 1

    @property
    def layout(self) -> dict[str, Any]:
        """The attributes of the layers."""
        return {name: getattr(self, name) for name in self.layers.attributes}


class cudnn_lstm(DropsBetweenLayers, LstmLayers):
    """Out = the states of the last of several layers of memories, with dropout between the layers.

    (Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997; the order of
    the weights is that of NVIDIA's cuDNN.)

    Input: [steps, batch, input_size].
    InitH, InitC: the first states and cells, [layers * directions, batch, hidden_size].
    W: all weights in one vector; see `lstm_layers`.
    Cache: not read: cuDNN keeps its workspace there.
    Out: [steps, batch, hidden_size * directions].
    last_h, last_c: the last states and cells, of the shape of InitH.
    Kept: what each layer hands up was multiplied by; only where there is dropout.
    max_len: the largest number of steps.
    dropout_prob: how probable it is that an element which a layer hands up becomes 0; what is kept
        is divided by 1 - dropout_prob.
    input_size: the last size of Input.
    is_test: nothing is dropped.
    seed: where it is above 0 it fixes what is dropped, in every run.
    """

    signature = "Input, InitH, InitC, W, Cache?! -> Out, last_h, last_c, Kept?~!"
    fluid: ClassVar[FluidForm] = FluidForm(
        unread=("Cache",), carried=("Cache", "Out"), newer=("Kept",)
    )
    random: ClassVar[bool] = True
    layers: ClassVar[type[Op]] = lstm_layers
    max_len: int = 20
    dropout_prob: float = 0.0
    is_bidirec: bool = False
    input_size: int = 10
    hidden_size: int = 100
    num_layers: int = 1
    is_test: bool = False
    seed: int = -1

    def infer(self, Input: Spec, InitH: Spec, InitC: Spec, W: Spec) -> Specs:
        specs = self.check(Input, InitH, InitC, W)
        if not 0 <= self.dropout_prob < 1:
            raise AttributeValueError(f"expected dropout_prob in [0, 1), got {self.dropout_prob}")
        if not agree(Input.shape[2], self.input_size):
            raise ShapeError(
                f"expected Input {self.input_size} wide, which is input_size, got shape "
                f"{list(Input.shape)}"
            )
        if Input.shape[0] > self.max_len:
            raise ShapeError(
                f"expected at most max_len={self.max_len} steps, got Input of shape "
                f"{list(Input.shape)}"
            )
        if not self.drops:
            return *specs, None
        out = specs[0]
        return *specs, out.with_shape([self.num_layers - 1, *out.shape])

    def expand(self, f: Any, Input: Value, InitH: Value, InitC: Value, W: Value) -> Values:
        kept = self.drawn(f, Input) if self.drops else None
        return *f.lstm_layers(Input, InitH, InitC, W, kept, **self.layout), kept

    def drawn(self, f: Any, Input: Any) -> Any:
        """What each layer hands up is multiplied by."""
        steps, rows, _ = Input.shape
        shape = [self.num_layers - 1, steps, rows, self.hidden_size * self.directions]
        ones = f.fill_constant(shape=shape, dtype=Input.dtype, value=1.0)
        how = dict(dropout_prob=self.dropout_prob, dropout_implementation="upscale_in_train")
        return f.dropout(ones, **how, fix_seed=self.seed > 0, seed=max(self.seed, 0))

    def grad(self, f, Input, InitH, InitC, W, dOut, dlast_h, dlast_c, Kept=None):
        if self.drops and Kept is None:
            raise AttributeValueError(
                "the gradient of dropout between layers needs the output Kept of cudnn_lstm; "
                "build the program with layers.lstm, or set dropout_prob=0 or is_test"
            )
        ins = dict(Input=Input, InitH=InitH, InitC=InitC, W=W, Kept=Kept)
        flows = dict(Out=dOut, last_h=dlast_h, last_c=dlast_c)
        ins |= {f"{name}@GRAD": flow for name, flow in flows.items()}

        @functools.cache
        def all_of_them():
            return f.apply(lookup("lstm_layers_grad")(self.layout), ins)

        return {
            name: (lambda name=name: all_of_them()[f"{name}@GRAD"])
            for name in ("Input", "InitH", "InitC", "W")
        }
