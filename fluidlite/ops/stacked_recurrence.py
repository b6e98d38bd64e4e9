"""Layers of recurrent cells over sequences, one above the other."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Rules, Specs, Value, Values
from ..opdef.attribute import need_choice, need_least
from ..opdef.definition import Op, lookup
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, agree, need_ndim, need_shape, same_float, spec
from .lstm_layers import DropsBetweenLayers
from .recurrent_layer import GATES

#: mode -> that of :class:`recurrent_layer`
MODES = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "tanh", "RNN_RELU": "relu"}


class StackedRecurrence(Op, abstract=True):
    """Attributes of layers of cells, and what follows from them.

    Input: [steps, batch, input_size].
    PreState: the first states, and of an LSTM the first cells, [layers * directions, batch,
        hidden_size].
    WeightList: for each layer, and in it for each direction, the weights of the input and those of
        the state, [gates * hidden_size, width]; behind all of them the biases in the same order.
    SequenceLength: how many steps each row has, [batch]; behind them Out is 0.
    Out: the states of the last layer, [steps, batch, hidden_size * directions].
    State: the last states, and cells, of the shape of PreState.
    mode: LSTM, GRU, RNN_TANH or RNN_RELU.
    is_bidirec: whether each layer goes forth and back, and hands out both states side by side.
    input_size, hidden_size: how wide Input and a state are.
    num_layers: how many layers there are; each reads what the one below hands out.
    """

    lod: ClassVar[str | None] = None
    is_bidirec: bool = False
    input_size: int = 10
    hidden_size: int = 100
    num_layers: int = 1
    mode: str = "RNN_TANH"

    @property
    def directions(self) -> int:
        """1 or 2."""
        return 2 if self.is_bidirec else 1

    @property
    def count(self) -> int:
        """How many cells there are."""
        return self.directions * self.num_layers

    def width(
        self,
        Input: Any,
        PreState: Any,
        WeightList: Any = None,
        SequenceLength: Any = None,
        **more: Any,
    ) -> int:
        return len(PreState)

    def check(
        self, Input: Spec, PreState: list[Spec], WeightList: list[Spec], SequenceLength: Spec | None
    ) -> Specs:
        """Refuse what does not fit; the specs of Out and State."""
        need_choice(self, "mode", *MODES)
        need_least(self, 1, "hidden_size", "num_layers")
        listed = {f"PreState[{i}]": each for i, each in enumerate(PreState)}
        weights = {f"WeightList[{i}]": each for i, each in enumerate(WeightList)}
        same_float(Input=Input, **listed, **weights)
        need_ndim(3, Input=Input)
        steps, rows, width = Input.shape
        if not agree(width, self.input_size):
            raise ShapeError(f"expected Input {self.input_size} wide, got {list(Input.shape)}")
        if len(PreState) != 1 + (self.mode == "LSTM"):
            raise ShapeError(f"expected one PreState, of an LSTM two, got {len(PreState)}")
        if len(WeightList) != 4 * self.count:
            raise ShapeError(
                f"expected {4 * self.count} in WeightList, four for each of {self.count} cells, "
                f"got {len(WeightList)}"
            )
        for name, state in listed.items():
            wanted = (self.count, rows, self.hidden_size)
            need_shape(name, state, wanted, "[layers * directions, batch, hidden_size]")
        height = GATES[MODES[self.mode]] * self.hidden_size
        for number, (name, weight) in enumerate(weights.items()):
            need_shape(name, weight, self.weight_shape(number, height), "a weight of its layer")
        if SequenceLength is not None:
            need_shape("SequenceLength", SequenceLength, (rows,), "[batch]")
        out = Input.with_shape([steps, rows, self.hidden_size * self.directions])
        return out, list(PreState)

    def weight_shape(self, number: int, height: int) -> tuple[int, ...]:
        """The shape of one of WeightList."""
        if number >= 2 * self.count:
            return (height,)
        of_input, lowest = number % 2 == 0, number < 2 * self.directions
        below = self.input_size if lowest else self.hidden_size * self.directions
        return (height, below if of_input else self.hidden_size)


class recurrent_layers(StackedRecurrence):
    """Out = the states of the last of several layers of cells, at every step.

    Kept: what each layer hands up is multiplied by, [layers - 1, steps, batch, hidden_size *
        directions]; 1 everywhere where it is absent.
    """

    signature = "Input, PreState*, WeightList*, SequenceLength?!, Kept?! -> Out, State*"

    def infer(
        self, Input: Spec, PreState: list[Spec], WeightList: list[Spec], SequenceLength: Spec | None
    ) -> Specs:
        return self.check(Input, PreState, WeightList, SequenceLength)

    def expand(self, f, Input, PreState, WeightList, SequenceLength, Kept) -> Values:
        def piece(v: Any, k: int) -> Any:
            cut = f.slice(v, axes=[0], starts=[k], ends=[k + 1])
            return f.squeeze(cut, axes=[0])

        x, last = Input, []
        for layer in range(self.num_layers):
            ways = []
            for direction in range(self.directions):
                k = layer * self.directions + direction
                h, *c = (piece(state, k) for state in PreState)
                weights, biases = 2 * k, 2 * (self.count + k)
                out, *states = f.recurrent_layer(
                    x,
                    h,
                    c[0] if c else None,
                    *WeightList[weights : weights + 2],
                    *WeightList[biases : biases + 2],
                    SequenceLength,
                    mode=MODES[self.mode],
                    is_reverse=direction == 1,
                )
                ways.append(out)
                last.append(states[: len(PreState)])
            x = ways[0] if len(ways) == 1 else f.concat(ways, axis=2)
            if Kept is not None and layer + 1 < self.num_layers:
                x = x * piece(Kept, layer)
        return x, [f.stack([each[i] for each in last], axis=0) for i in range(len(PreState))]


class rnn(DropsBetweenLayers, StackedRecurrence):
    """Out = the states of the last of several layers of cells, with dropout between the layers.

    The cells are those of ``recurrent_layer``.

    DropoutState: which elements each layer hands up were kept, uint8 of shape [layers - 1, steps,
        batch, hidden_size * directions]; no element where nothing is dropped.
    Reserve: nothing.
    dropout_prob: how probable it is that an element which a layer hands up becomes 0; what is kept
        is divided by 1 - dropout_prob.
    seed: where it is not 0 it fixes what is dropped, in every run.
    is_test: nothing is dropped.
    """

    signature = (
        "Input, PreState*, WeightList*, SequenceLength?! -> "
        "Out, DropoutState?!~, State*, Reserve?!~"
    )
    fluid: ClassVar[FluidForm] = FluidForm(carried=("Out", "Reserve"))
    random: ClassVar[bool] = True
    layers: ClassVar[type[Op]] = recurrent_layers
    dropout_prob: float = 0.0
    seed: int = 0
    is_test: bool = False

    def infer(
        self, Input: Spec, PreState: list[Spec], WeightList: list[Spec], SequenceLength: Spec | None
    ) -> Specs:
        if not 0 <= self.dropout_prob <= 1:
            raise AttributeValueError(f"expected dropout_prob in [0, 1], got {self.dropout_prob}")
        out, states = self.check(Input, PreState, WeightList, SequenceLength)
        kept = [self.num_layers - 1, *out.shape] if self.drops else [0]
        return out, spec(kept, DType.UINT8), states, None

    def expand(
        self, f: Any, Input: Value, PreState: Values, WeightList: Values, SequenceLength: Value
    ) -> Values:
        if not self.drops:
            drawn = f.fill_constant(shape=[0], dtype=DType.UINT8, value=0.0)
        else:
            steps, rows, _ = Input.shape
            shape = [self.num_layers - 1, steps, rows, self.hidden_size * self.directions]
            ones = f.fill_constant(shape=shape, dtype=Input.dtype, value=1.0)
            how = dict(dropout_prob=self.dropout_prob, fix_seed=self.seed != 0, seed=self.seed)
            drawn = f.cast(f.dropout(ones, **how), in_dtype=Input.dtype, out_dtype=DType.UINT8)
        factors = self.factors(f, drawn, Input)
        ins = Input, PreState, WeightList, SequenceLength, factors
        out, states = f.recurrent_layers(*ins, **self.layout)
        return out, drawn, states, None

    def factors(self, f: Any, drawn: Value, Input: Value) -> Value | None:
        """What each layer hands up is multiplied by; None for 1."""
        if not self.drops:
            return None
        share = 1 - self.dropout_prob
        kept = f.cast(drawn, in_dtype=DType.UINT8, out_dtype=Input.dtype)
        return kept * (1 / share if share else 0.0)

    def grad(
        self, f, Input, PreState, WeightList, SequenceLength, DropoutState, dOut=None, dState=None
    ) -> Rules:
        if self.drops and DropoutState is None:
            raise AttributeValueError(
                "the gradient of dropout between layers needs the output DropoutState of rnn"
            )
        ins = dict(Input=Input, PreState=PreState, WeightList=WeightList)
        ins |= dict(SequenceLength=SequenceLength, Kept=self.factors(f, DropoutState, Input))
        ins |= {"Out@GRAD": dOut, "State@GRAD": dState}

        @functools.cache
        def all_of_them() -> Any:
            return f.apply(lookup("recurrent_layers_grad")(self.layout), ins)

        def of(name: str) -> Any:
            return all_of_them()[f"{name}@GRAD"]

        return {name: functools.partial(of, name) for name in ("Input", "PreState", "WeightList")}
