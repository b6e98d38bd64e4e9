"""Steps: operators bound to the names that they read, write and let go of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FluidError, NotInitializedError, OpError, ShapeError, SlotError
from ..ground.dtypes import Kind, as_dtype
from ..ground.values import (
    LoDTensor,
    LoDTensorArray,
    SelectedRows,
    bare,
    is_device_array,
    zeros_like,
)
from ..ir.operator import EMPTY, Operator, OpRole, located
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.interpreter import Eval
from ..opdef.sequences import lengths_text
from ..opdef.spec import Spec, size_of
from .direct import DirectCall, DirectForm
from .shared_lod import Lods, has_rows, shared_lod

if TYPE_CHECKING:
    from ..ir.operator_arguments import Names
    from ..opdef.definition import Op
    from .plan import BlockPlan

Environment = dict[str, Any]


def is_empty_array(op: Operator, name: str) -> bool:
    """Whether a variable is an array whose length an operator asks, before it is written."""
    if op.type != "lod_array_length" and not op.instance().is_control:
        return False
    variable = op.block.find_var_recursive(name)
    return (
        variable is not None
        and variable.kind is Kind.LOD_TENSOR_ARRAY
        and not variable.persistable
        and not variable.is_data
    )


class StepForm:
    """What steps have in common whose operators are of one type, with the same slots.

    Args:
        op: one of these operators.
        instance: its definition and attributes.
    """

    def __init__(self, op: Operator, instance: Op) -> None:
        takes, gives, fluid = instance.input_slots, instance.output_slots, instance.fluid
        # A file's operator may have slots that its definition lacks: it runs without them.
        #: slots that are read, and whether they are list slots
        self.inputs: list[tuple[str, bool]] = [
            (slot, takes[slot].many)
            for slot in op.inputs
            if slot in takes and slot not in fluid.unread
        ]
        #: the same of slots that are written
        self.outputs: list[tuple[str, bool]] = [
            (slot, gives[slot].many)
            for slot in op.outputs
            if slot in gives and slot not in fluid.idle
        ]
        self.updates: list[str] = [slot for slot in fluid.updates if op.outputs.get(slot)]
        self.want: frozenset[str] = frozenset(op.outputs)
        self.direct: DirectForm = DirectForm(op, instance)

    @classmethod
    def of(cls, op: Operator, instance: Op, known: dict[Any, StepForm]) -> StepForm:
        """The form of a step; one of those that are known, if it is among them."""
        inputs, outputs = op.inputs, op.outputs
        if () in inputs.values() or () in outputs.values():
            return cls(op, instance)
        key = type(instance), *inputs, None, *outputs
        form = known.get(key)
        if form is None:
            form = known[key] = cls(op, instance)
        return form


class Step:
    """One operator, bound to the names it reads and writes.

    Args:
        op: the operator.
        touched: the names that it reads, and those that it writes.
        free: names that nothing reads any more after it.
        body: the steps of the block that it drives, where it does.
        forms: those of other steps, which it shares; its own is added.
    """

    __slots__ = (
        "body",
        "direct",
        "form",
        "free",
        "instance",
        "loss",
        "names_read",
        "names_written",
        "op",
        "reads",
        "warns_of_input",
        "writes",
    )
    instance: Op
    reads: Sequence[str]
    writes: Sequence[str]

    def __init__(
        self,
        op: Operator,
        touched: tuple[Sequence[str], Sequence[str]],
        free: Sequence[str],
        body: BlockPlan | None = None,
        forms: dict[Any, StepForm] | None = None,
    ) -> None:
        self.op: Operator = op
        self.reads, self.writes = touched
        self.instance = instance = op.instance()
        self.form = form = StepForm.of(op, instance, {} if forms is None else forms)
        inputs, outputs = op.inputs, op.outputs
        #: names by slot, in the order of the form's
        self.names_read: list[Names] = [inputs[slot] for slot, _ in form.inputs]
        self.names_written: list[Names] = [outputs[slot] for slot, _ in form.outputs]
        self.free: Sequence[str] = free
        self.body: BlockPlan | None = body
        #: the loss whose gradient the operator begins
        self.loss: str | None = loss_seeded_by(op)
        takes_any = not (self.loss or instance.is_control or op.is_unsettled)
        #: whether the operator has to be asked what is doubtful; once it has said so, no more
        self.warns_of_input: bool = isinstance(instance, WarnsOfInput)
        self.direct: DirectCall | None = (
            DirectCall.of(op, instance, form.direct)
            if takes_any and not self.warns_of_input
            else None
        )

    @property
    def inputs(self) -> Iterator[tuple[str, Names, bool]]:
        """The slots that are read, with their names, and whether they are list slots."""
        for (slot, many), names in zip(self.form.inputs, self.names_read, strict=True):
            yield slot, names, many

    @property
    def updates(self) -> list[tuple[str, str]]:
        """The slots of what is updated where it lies, with its name."""
        slots = self.form.updates
        return [(slot, self.op.outputs[slot][0]) for slot in slots] if slots else []

    @property
    def want(self) -> frozenset[str]:
        """The output slots that are written."""
        return self.form.want

    def run(self, f: Eval, env: Environment, checked: bool = False) -> None:
        """Compute the outputs into the environment.

        Args:
            f: computes.
            env: values by name.
            checked: whether to ask the shape rule first; kernels take what it would refuse.

        Raises:
            FluidError: the kernel failed; says the operator, the shapes and the user's line.
        """
        direct = None if checked or type(f) is not Eval else self.direct  # others look on
        if direct is not None and direct.run(f.xp, env):
            return
        if self.loss is not None:
            self._check_loss(env)
        ins: dict[str, Any] = {}
        lods: Lods = {}
        for slot, names, many in self.inputs:
            try:
                values = [None if n == EMPTY else env[n] for n in names]
            except KeyError:
                values = [None if n == EMPTY else self.value_of(n, env, slot) for n in names]
            if LoDTensor in map(type, values):
                lods[slot] = [v.offsets if type(v) is LoDTensor else () for v in values]
                if not self.instance.input_slots[slot].ragged:
                    values = [bare(v) for v in values]
            ins[slot] = values if many else values[0]
        for slot, name in self.updates:
            ins[slot] = env.get(name)
        try:
            if checked or self.op.is_unsettled:
                refusal = self._refusal({slot: spec_of(value) for slot, value in ins.items()})
                if refusal is not None:
                    raise refusal
            outs = f.apply(self.instance, ins, self.form.want)
            output_lods = self.instance.lods(ins)
            if self.warns_of_input:
                self._warn(ins)
        except Exception as error:
            raise self._explained(error, ins) from error
        for slot, index, name, value in self.named(outs, ins, zeros_like):
            if value is None:
                continue  # the mask of a dropout that drops nothing
            if (output_lods or lods) and type(value) is not LoDTensor:
                if output_lods is not None:
                    lod = output_lods.get(slot, ())
                else:
                    lod = shared_lod(self.instance, slot, index, ins, lods)
                if lod and has_rows(value, lod):
                    value = LoDTensor(value, lod)
            env[name] = value

    def named(
        self, outs: Mapping[str, Any], ins: Mapping[str, Any], zeros: Callable[[Any], Any]
    ) -> Iterator[tuple[str, int, str, Any]]:
        """What the operator writes: slot, place in it, name and value, None for what is hidden and
        was not made; ``zeros`` makes what a gradient operator leaves out as nothing flows there.
        """
        for (slot, many), names in zip(self.form.outputs, self.names_written, strict=True):
            output = outs.get(slot)
            for i, name in enumerate(names):
                if name == EMPTY:
                    continue
                if many and output is not None and i >= len(output):
                    message = f"expected {len(output)} variables in {slot}, got {len(names)}"
                    raise self._explained(SlotError(message), ins)
                value = (output[i] if output is not None else None) if many else output
                if value is None and not self.instance.output_slots[slot].hidden:
                    like = self.zeros_like(slot, i, ins)
                    if like is None:
                        raise OpError(
                            f"{self.op.type} computed nothing for its output {slot}\n  {self.op}"
                        )
                    value = zeros(like)
                yield slot, i, name, value

    def let_go(self, env: Environment) -> None:
        """Drop what nothing reads any more."""
        for name in self.free:
            env.pop(name, None)

    def value_of(self, name: str, env: Environment, slot: str = "") -> Any:
        """A value that is read; an array of tensors that nothing has written to is empty.

        Args:
            name: of the variable.
            env: values by name.
            slot: where the operator takes it; None comes back for what the forward operator had no
                need to make: the mask of a dropout that drops nothing.

        Raises:
            NotInitializedError: nothing has written it.
        """
        if name in env:
            return env[name]
        if is_empty_array(self.op, name):
            return LoDTensorArray()
        if slot in getattr(self.instance, "byproducts", ()):
            return None
        raise self.not_written(name)

    def not_written(self, name: str) -> FluidError:
        """The error that a variable is read which nothing has written."""
        variable = self.op.block.find_var_recursive(name)
        return located(
            NotInitializedError(
                f"variable {name!r} is read, and nothing has written it in this run: the branch or "
                f"loop that does was not taken"
            ),
            self.op,
            [(name, None if variable is None else variable.spec)],
        )

    def _check_loss(self, env: Environment) -> None:
        """Refuse a loss of several elements: a seed of one would get its gradient wrong."""
        spec = spec_of(env.get(self.loss or ""))
        if self.loss and spec is not None and size_of(spec.shape) != 1:
            raise located(
                ShapeError(
                    f"expected a loss of one element, {self.loss!r} has shape {list(spec.shape)} "
                    f"in this run; "
                    "reduce it first: layers.mean or layers.reduce_sum"
                ),
                self.op,
                [(self.loss, spec)],
            )

    def zeros_like(self, slot: str, index: int, ins: Mapping[str, Any]) -> Any:
        """The value whose form a gradient has that is left out; None for other outputs."""
        slots = {out: into for into, out in getattr(self.instance, "grad_slots", {}).items()}
        like = ins.get(slots.get(slot, ""))
        return like[index] if isinstance(like, list) else like

    def _refusal(self, specs: Mapping[str, Any]) -> FluidError | None:
        """What the shape rule has against the inputs; the kernel tells where it meets what it did
        not expect, as in place of an array of tensors, which has no spec.
        """
        if any(
            specs.get(slot.name, slot) is None for slot in self.instance.inputs if not slot.optional
        ):
            return None
        try:
            self.instance.infer_outputs(specs)
        except FluidError as error:
            return error
        except Exception:
            pass
        return None

    def _explained(self, error: Exception, ins: Mapping[str, Any]) -> FluidError:
        """The failure of a kernel with the operator, the shapes it was given and the user's line.

        The shape rule is asked first: it knows better what is wrong than the array library.
        """
        specs = {slot: spec_of(value) for slot, value in ins.items()}
        if not isinstance(error, FluidError):
            own = OpError(str(error) or type(error).__name__)
            error = self._refusal(specs) or own
        return located(error, self.op, self._named(specs))

    def _named(self, specs: dict[str, Any]) -> list[tuple[str, Any]]:
        """Variables and their specs, from specs by slot."""
        pairs: list[tuple[str, Any]] = []
        for slot, names, _ in self.inputs:
            found = specs[slot] if isinstance(specs[slot], list) else [specs[slot]]
            pairs += list(zip(names, found, strict=True))
        return pairs

    def _warn(self, ins: dict[str, Any]) -> None:
        """Say what is doubtful about the inputs."""
        if not isinstance(self.instance, WarnsOfInput):
            return
        for doubt in self.instance.input_warnings(ins):
            self.warns_of_input = False
            named = self._named({slot: spec_of(value) for slot, value in ins.items()})
            warnings.warn(str(located(FluidError(doubt), self.op, named)), UserWarning, 2)


_SEEDING = int(OpRole.BACKWARD | OpRole.LOSS)


def loss_seeded_by(op: Operator) -> str | None:
    """The loss whose gradient an operator begins; None for other operators."""
    if op.role != _SEEDING:
        return None
    return op.first_output.partition("@GRAD")[0]


class RaggedSpec(Spec):
    """The spec of a value whose rows form sequences; as text it has their lengths."""

    lod: Any

    def __new__(cls, value: LoDTensor) -> RaggedSpec:
        dtype = as_dtype(value.data.dtype)
        made = super().__new__(cls, value.data.shape, dtype, lod_level=len(value.offsets))
        made.lod = value.offsets
        return made

    def __str__(self) -> str:
        return f"{super().__str__()} with sequences of lengths {lengths_text(self.lod)}"


def spec_of(value: Any) -> Any:
    """Shape and element type of a value; a list of them for a list; None for other things."""
    if isinstance(value, list):
        return [spec_of(v) for v in value]
    if isinstance(value, LoDTensor):
        return RaggedSpec(value)
    if isinstance(value, SelectedRows):
        return Spec(value.shape, as_dtype(value.dtype), Kind.SELECTED_ROWS)
    is_array = isinstance(value, np.ndarray) or is_device_array(value)
    return Spec(value.shape, as_dtype(value.dtype)) if is_array else None
