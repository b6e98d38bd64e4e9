"""Long short-term memories over sequences of several lengths, with and without a projection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.attribute import need_least
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated_as
from ..opdef.sequences import lod_of, offsets_of
from ..opdef.spec import Spec, agree, known, need_ndim, need_shape, same_float
from .gates import activated, need_activations
from .lstm_steps import LSTMSteps, MemoryValues
from .time_order import need_states, time_order


class Memory(Op, abstract=True):
    """What operators of long short-term memories share.

    Input: a row for each word, what the input adds to the candidate and the gates: [n, 4 size], the
        candidate, then the gates of input, forgetting and output.
    H0, C0: the states before the first word, a row for each sequence.
    Bias: [1, 4 size]; with peepholes [1, 7 size], the last three for the weights of the cell
        in the three gates.
    is_reverse: whether a sequence begins at its end.
    """

    use_peepholes: bool = True
    is_reverse: bool = False

    def checked(
        self, size: int, Input: Spec, H0: Spec | None, C0: Any, Weight: Spec, Bias: Spec
    ) -> int:
        """Raise what the shapes have against each other.

        Args:
            size: the number of columns of the state that is fed back.
        """
        need_ndim(2, Input=Input, Weight=Weight)
        cell = -1 if Weight.shape[1] == -1 else Weight.shape[1] // 4
        if cell != -1 and (Weight.shape[1] % 4 or not agree(Weight.shape[0], size)):
            raise ShapeError(
                f"expected Weight [{size if size != -1 else 'size'}, 4 size], got "
                f"{list(Weight.shape)}"
            )
        if not agree(Input.shape[1], Weight.shape[1]):
            raise ShapeError(
                f"expected Input with {Weight.shape[1]} columns for Weight {list(Weight.shape)}, "
                f"got {list(Input.shape)}"
            )
        if (H0 is None) != (C0 is None):
            raise ShapeError(
                f"expected both of H0 and C0, or none, got {'C0' if H0 is None else 'H0'} only"
            )
        need_shape("H0", H0, (-1, size), "a row for each sequence")
        need_shape("C0", C0, (-1, cell), "a row for each sequence")
        wide = (7 if self.use_peepholes else 4) * cell if cell != -1 else -1
        if not (Bias.ndim == 2 and agree(Bias.shape[0], 1) and agree(Bias.shape[1], wide)):
            peep = "with" if self.use_peepholes else "without"
            raise ShapeError(f"expected Bias [1, {wide}] {peep} peepholes, got {list(Bias.shape)}")
        return cell

    def composed(self, f, Input, H0, C0, Weight, Bias, ProjWeight=None):
        """All steps as a composition: by name, what each step made."""
        offsets = offsets_of(Input, "Input")
        need_states(len(offsets) - 1, H0=H0, C0=C0)
        order = time_order(offsets, self.is_reverse)
        d = Weight.shape[1] // 4
        cut = lambda v, k, n=1: f.slice(v, axes=[1], starts=[k * d], ends=[(k + n) * d])
        flat = lambda v: f.reshape(v, shape=[-1])
        rows = lambda v, a, b: f.slice(v, axes=[0], starts=[a], ends=[b])
        x = f.elementwise_add(f.bare_rows(Input), flat(cut(Bias, 0, 4)), axis=1)
        x = f.take_rows(x, order.rows)
        peep = [flat(cut(Bias, 4 + k)) for k in range(3)] if self.use_peepholes else None
        looked = lambda v, c, k: v if peep is None else v + f.elementwise_mul(c, peep[k], axis=1)
        h = c = None
        if H0 is not None:
            h, c = (f.take_rows(v, order.order[: order.first]) for v in (H0, C0))
        gates, cells, pre, hidden, out = [], [], [], [], []
        for a, b in order.steps:
            g = rows(x, a, b)
            if h is not None:
                if h.shape[0] != b - a:
                    h, c = rows(h, 0, b - a), rows(c, 0, b - a)
                g = g + f.matmul(h, Weight)
            v, i, r, o = (cut(g, k) for k in range(4))
            if c is not None:
                i, r = looked(i, c, 0), looked(r, c, 1)
            v = activated(f, self.candidate_activation, v)
            i, r = (activated(f, self.gate_activation, gate) for gate in (i, r))
            c = v * i if c is None else v * i + c * r
            if self.clips("cell_clip"):
                c = f.clip(c, min=-self.cell_clip, max=self.cell_clip)
            o = activated(f, self.gate_activation, looked(o, c, 2))
            a_c = activated(f, self.cell_activation, c)
            h = o * a_c
            gates.append(f.concat([v, i, r, o], axis=1))
            cells.append(c)
            pre.append(a_c)
            hidden.append(h)
            if ProjWeight is not None:
                h = activated(f, self.proj_activation, f.matmul(h, ProjWeight))
                if self.clips("proj_clip"):
                    h = f.clip(h, min=-self.proj_clip, max=self.proj_clip)
            out.append(h)

        def joined(values, ordered):
            v = f.concat(values, axis=0)
            return f.like_rows(f.take_rows(v, order.back), Input) if ordered else v

        return {
            "out": lambda: joined(out, True),
            "Cell": lambda: joined(cells, True),
            "BatchGate": lambda: joined(gates, False),
            "BatchCellPreAct": lambda: joined(pre, False),
            "BatchHidden": lambda: joined(hidden, False),
        }

    def clips(self, name: str) -> bool:
        """Whether what the attribute bounds has a bound."""
        return getattr(self, name, 0.0) > 0.0

    def steps(
        self, Input: Any, H0: Array, C0: Array, Weight: Array, Bias: Array, ProjWeight: Array = None
    ) -> Any:
        """The fast kernel: all steps on arrays."""
        offsets = offsets_of(Input, "Input")
        need_states(len(offsets) - 1, H0=H0, C0=C0)
        order = time_order(offsets, self.is_reverse)
        return LSTMSteps(self, order, H0, C0, Weight, Bias, ProjWeight).forward(Input.data)


class lstm(Memory):
    """Hidden = o * cell_activation(Cell), Cell = i * v + f * (the Cell before): a long short-term
    memory, step by step over sequences.

    The candidate is v = candidate_activation(Input_v + Hidden_before Weight_v + Bias_v), the gates
    are i = gate_activation(Input_i + Hidden_before Weight_i + Bias_i + peephole_i * Cell_before), f
    likewise, and o with the new Cell in its peephole.

    (Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997; peepholes:
    Gers and Schmidhuber, Recurrent nets that time and count, IJCNN 2000.)

    Input: a row for each word, what the input adds to the candidate and the gates: [n, 4 size], the
        candidate, then the gates of input, forgetting and output.
    H0, C0: the states before the first word, [number of sequences, size].
    Weight: [size, 4 size].
    Bias: [1, 4 size]; with peepholes [1, 7 size].
    BatchGate, BatchCellPreAct: candidate and gates, and cell_activation(Cell), by steps, the
        longest sequence first.
    use_peepholes: whether gates look at the cell.
    is_reverse: whether a sequence begins at its end.
    """

    signature = "Input[], H0?, C0?, Weight, Bias -> Hidden[], Cell[], BatchGate~, BatchCellPreAct~"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    gate_activation: str = "sigmoid"
    cell_activation: str = "tanh"
    candidate_activation: str = "tanh"
    lod: ClassVar[str | None] = None

    def infer(self, Input: Spec, H0: Spec | None, C0: Spec, Weight: Spec, Bias: Spec) -> Specs:
        same_float(Input=Input, H0=H0, C0=C0, Weight=Weight, Bias=Bias)
        need_activations(self, "gate_activation", "cell_activation", "candidate_activation")
        size = self.checked(Weight.shape[0] if Weight.ndim else -1, Input, H0, C0, Weight, Bias)
        if size != -1 and not agree(Weight.shape[0], size):
            raise ShapeError(f"expected Weight [size, 4 size], got {list(Weight.shape)}")
        size = known(Weight.shape[0], size)
        out = Input.with_shape([Input.shape[0], size])
        bare = out._replace(lod_level=0)
        gates = bare.with_shape([Input.shape[0], 4 * size if size != -1 else -1])
        return out, out, gates, bare

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        lod = lod_of(ins["Input"])
        return {"Hidden": lod, "Cell": lod}

    def expand(
        self, f: Any, Input: Value, H0: Value, C0: Value, Weight: Value, Bias: Value
    ) -> Values:
        made = self.composed(f, Input, H0, C0, Weight, Bias)
        return {"Hidden": made["out"], **{k: made[k] for k in _OUTPUTS[:3]}}

    def run_numpy(
        self, xp: Any, Input: Array, H0: Array, C0: Array, Weight: Array, Bias: Array
    ) -> Arrays:
        made = self.steps(Input, H0, C0, Weight, Bias)
        out, cell = (like_sequences(made, v, Input) for v in (made.out, made.cells))
        return out, cell, made.gates, made.activated

    def grad_numpy(
        self,
        xp,
        Input,
        H0,
        C0,
        Weight,
        Bias,
        Hidden,
        Cell,
        BatchGate,
        BatchCellPreAct,
        dHidden,
        dCell=None,
        dBatchGate=None,
        dBatchCellPreAct=None,
    ):
        order = time_order(offsets_of(Input, "Input"), self.is_reverse)
        steps = LSTMSteps(self, order, H0, C0, Weight, Bias, None)
        made = MemoryValues(BatchGate, BatchCellPreAct, Cell, Hidden, None)
        return steps.backward(
            made, MemoryValues(dBatchGate, dBatchCellPreAct, dCell, dHidden, None)
        )

    grad = differentiated_as(grad_numpy)


def like_sequences(made: Any, values: Array, Input: Any) -> Any:
    """Rows by steps as the sequences that they were computed from."""
    return LoDTensor(made.ordered(values), Input.offsets)


_OUTPUTS = ("Cell", "BatchGate", "BatchCellPreAct", "BatchHidden")


class lstmp(Memory):
    """Projection = proj_activation(hidden ProjWeight): a long short-term memory whose state is
    projected before it is fed back; all else is as of ``lstm``.

    (Sak, Senior and Beaufays, Long short-term memory recurrent neural network architectures for
    large scale acoustic modeling, Interspeech 2014.)

    Input: a row for each word, what the input adds to the candidate and the gates: [n, 4 size].
    H0: the projected state before the first word, [number of sequences, projected size].
    C0: the cell there, [number of sequences, size].
    Weight: [projected size, 4 size].
    ProjWeight: [size, projected size].
    Bias: [1, 4 size]; with peepholes [1, 7 size].
    BatchGate, BatchCellPreAct, BatchHidden: candidate and gates, cell_activation(Cell), and the
        state before the projection, by steps, the longest sequence first.
    use_peepholes: whether gates look at the cell.
    gate_activation, candidate_activation: as of ``lstm``.
    cell_clip, proj_clip: bounds of the cell and of the projection; 0 for none.
    """

    signature = (
        "Input[], H0?, C0?, Weight, ProjWeight, Bias -> Projection[], Cell[], BatchGate~, "
        "BatchCellPreAct~, BatchHidden~"
    )
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    cell_clip: float = 0.0
    proj_clip: float = 0.0
    gate_activation: str = "sigmoid"
    cell_activation: str = "tanh"
    candidate_activation: str = "tanh"
    proj_activation: str = "tanh"
    lod: ClassVar[str | None] = None

    def infer(
        self, Input: Spec, H0: Spec, C0: Spec, Weight: Spec, ProjWeight: Spec, Bias: Spec
    ) -> Specs:
        same_float(Input=Input, H0=H0, C0=C0, Weight=Weight, ProjWeight=ProjWeight, Bias=Bias)
        need_activations(
            self, "gate_activation", "cell_activation", "candidate_activation", "proj_activation"
        )
        need_least(self, 0, "cell_clip", "proj_clip")
        need_ndim(2, ProjWeight=ProjWeight)
        size, projected = ProjWeight.shape
        cell = self.checked(projected, Input, H0, C0, Weight, Bias)
        if not agree(cell, size):
            raise ShapeError(
                f"expected ProjWeight [{cell}, projected size] for Weight {list(Weight.shape)}, "
                f"got {list(ProjWeight.shape)}"
            )
        size, rows = known(size, cell), Input.shape[0]
        bare = Input._replace(lod_level=0)
        return (
            Input.with_shape([rows, projected]),
            Input.with_shape([rows, size]),
            bare.with_shape([rows, 4 * size if size != -1 else -1]),
            bare.with_shape([rows, size]),
            bare.with_shape([rows, size]),
        )

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        lod = lod_of(ins["Input"])
        return {"Projection": lod, "Cell": lod}

    def expand(self, f, Input, H0, C0, Weight, ProjWeight, Bias):
        made = self.composed(f, Input, H0, C0, Weight, Bias, ProjWeight)
        return {"Projection": made["out"], **{k: made[k] for k in _OUTPUTS}}

    def run_numpy(self, xp, Input, H0, C0, Weight, ProjWeight, Bias):
        made = self.steps(Input, H0, C0, Weight, Bias, ProjWeight)
        out, cell = (like_sequences(made, v, Input) for v in (made.out, made.cells))
        return out, cell, made.gates, made.activated, made.hidden

    def grad_numpy(
        self,
        xp,
        H0,
        C0,
        Weight,
        ProjWeight,
        Bias,
        Projection,
        Cell,
        BatchGate,
        BatchCellPreAct,
        BatchHidden,
        dProjection,
        dCell=None,
        dBatchGate=None,
        dBatchCellPreAct=None,
        dBatchHidden=None,
        Input=None,
    ):
        order = time_order(offsets_of(Projection, "Projection"), self.is_reverse)
        steps = LSTMSteps(self, order, H0, C0, Weight, Bias, ProjWeight)
        made = MemoryValues(BatchGate, BatchCellPreAct, Cell, Projection, BatchHidden)
        flows = MemoryValues(dBatchGate, dBatchCellPreAct, dCell, dProjection, dBatchHidden)
        found = steps.backward(made, flows)
        # fluid's gradient operator has no Input to take the sequences from
        return dict(found, Input=LoDTensor(found["Input"], Projection.offsets))

    grad = differentiated_as(grad_numpy)
