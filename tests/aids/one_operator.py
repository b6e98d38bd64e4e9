"""Programs of a single operator."""

import numpy as np

import fluidlite as fluid
from fluidlite.ground.dtypes import Kind
from fluidlite.ground.values import LoDTensor, SelectedRows, bare


class OneOperator:
    """A program of one operator, its variables named after their slots.

    Args:
        type: the operator's.
        inputs: values by slot, in a list where there are several; None for what is absent.
        outputs: how many variables by slot, or the input slot whose variables are written to.
        attrs: its attributes.
        held: whether all variables stay in ``scope``, not fed; rows of tensors always do.
        shape: makes the shape that is declared for a tensor from that of its value.
        program: where it is appended; a new one when None.
    """

    def __init__(self, type, inputs, outputs, attrs=None, *, held=False, shape=list, program=None):
        self.program = fluid.Program() if program is None else program
        self.block = self.program.global_block()
        self.feed, self.scope, self.held, self.shape = {}, fluid.Scope(), held, shape
        self.ragged = False  #: whether a value has sequences
        self.inputs = {
            slot: [self.given(*each) for each in named(slot, present(value))]
            for slot, value in inputs.items()
        }
        self.outputs = {
            slot: self.inputs[count] if isinstance(count, str) else self.written(slot, count)
            for slot, count in outputs.items()
        }
        self.block.append_op(type, self.inputs, self.outputs, attrs)

    def given(self, name, value, shape=None, stop_gradient=False):
        """A variable with a value; of a declared shape when that is given."""
        lod = value.offsets if isinstance(value, LoDTensor) else ()
        self.ragged = self.ragged or bool(lod)
        fed, value = value, bare(value)
        value = value if hasattr(value, "shape") else np.asarray(value)
        rows = isinstance(value, SelectedRows)
        held = self.held or rows
        if shape is None:
            shape = list(value.shape) if rows else self.shape(value.shape)
        variable = self.block.create_var(
            name,
            value.dtype,
            shape,
            lod_level=len(lod),
            type=Kind.SELECTED_ROWS if rows else Kind.LOD_TENSOR,
            persistable=held,
            is_data=not held,
        )
        variable.stop_gradient = stop_gradient
        if held:
            self.put(name, fed if lod else value)
        else:
            self.feed[name] = fed if lod else value
        return variable

    def put(self, name, value):
        """Put a value into the scope."""
        if isinstance(value, SelectedRows):
            self.scope.var(name).value = value
            return
        tensor = self.scope.var(name).get_tensor()
        tensor.set(bare(value), fluid.CPUPlace())
        if isinstance(value, LoDTensor):
            tensor.set_lod(value.lod())

    def written(self, slot, count):
        """New variables for an output slot."""
        return [
            self.block.create_var(
                name + ".out" if self.block.has_var(name) else name, persistable=self.held
            )
            for name, _ in named(slot, range(count))
        ]

    def gradients(self, targets, sources, cotangents=None):
        """Append gradients; None for those that there are not.

        Args:
            targets: slot and position of the outputs to differentiate.
            sources: slot and position of the inputs.
            cotangents: values of the incoming gradients, ones when None.
        """
        targets = [self.outputs[slot][k] for slot, k in targets]
        sources = [self.inputs[slot][k] for slot, k in sources]
        if cotangents is not None:
            cotangents = [
                self.given(f"{target.name}@TG", value, target.shape, stop_gradient=True)
                for target, value in zip(targets, cotangents, strict=True)
            ]
        return list(fluid.gradients(targets, sources, cotangents))

    @property
    def all_outputs(self):
        """The variables of all output slots."""
        return [variable for some in self.outputs.values() for variable in some]

    def run(self, fetched=(), program=None, executor=None):
        """The values of variables after a run.

        Args:
            fetched: the variables.
            program: one with the same variables; this when None.
            executor: which runs; a new one when None.
        """
        names = [variable.name for variable in fetched]
        executor = executor or fluid.Executor()
        ragged = self.ragged or any(variable.lod_level for variable in fetched)
        made = [op.definition for op in self.program.global_block().ops]
        ragged = ragged or any(d.host and slot.ragged for d in made for slot in d.outputs)
        how = dict(scope=self.scope, return_numpy=not ragged)
        found = executor.run(program or self.program, self.feed, names, **how)
        return [arrays(value) for value in found] if ragged else found


def arrays(value):
    """What was fetched as arrays, without sequences."""
    if isinstance(value, list):
        return [arrays(each) for each in value]
    return np.asarray(bare(value))


def present(value):
    """The values of a slot that there are, as a list."""
    several = list(value) if isinstance(value, (list, tuple)) else [value]
    return [one for one in several if one is not None]


def named(slot, values):
    """Pairs of names and values: the slot's name alone, or with numbers where there are several."""
    if len(values) == 1:
        return [(slot, values[0])]
    return [(f"{slot}{k}", value) for k, value in enumerate(values)]
