"""Operators with the inputs and attributes of their samples, and what is known of them."""

import functools
from dataclasses import dataclass, replace

import numpy as np
import pytest

from fluidlite.ground.dtypes import as_dtype
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.opdef.conjugation import conj
from fluidlite.opdef.definition import Op, lookup
from fluidlite.opdef.sequences import lod_of
from fluidlite.opdef.spec import Spec

from gradcheck import evaluator, random_like
from one_operator import OneOperator
from samples.form import Sample, samples_of


@dataclass(frozen=True)
class Case:
    """An operator with the inputs and attributes of one of its samples."""

    op: Op
    sample: Sample

    @functools.cached_property
    def inputs(self):
        """Read-only copies of the sample's arrays by slot, with their sequences."""
        return {
            slot: self.ragged(slot, each(read_only, value))
            for slot, value in self.sample.inputs.items()
        }

    def ragged(self, slot, value, make=LoDTensor):
        """The value of a slot with the sequences that the sample gives it.

        Args:
            slot: its name.
            value: an array, or a list of them.
            make: gives an array sequences.
        """
        lod = self.sample.lods.get(slot)
        if lod is None:
            return value
        if is_list(value):
            return [make(v, one) if one else v for v, one in zip(value, lod, strict=True)]
        return make(value, lod)

    @functools.cached_property
    def outputs(self):
        """What the kernel returns for them."""
        return evaluator().apply(self.op, self.inputs)

    @functools.cached_property
    def variable(self):
        """Slot and position of the input arrays that can be perturbed."""
        return [
            (slot, k)
            for slot, value in self.inputs.items()
            if not self.op.input_slots[slot].constant
            for k, array in enumerate(listed(value))
            if array is not None and is_float(array)
        ]

    @functools.cached_property
    def targets(self):
        """Slot and position of the output arrays to differentiate."""
        names = [slot.name for slot in self.op.outputs if not slot.constant]
        return [
            (slot, k)
            for slot in (self.sample.outputs or names)
            for k, array in enumerate(listed(self.outputs.get(slot)))
            if array is not None and is_float(array)
        ]

    @property
    def differentiated(self):
        """Whether derivatives are checked."""
        return self.op.grad is not None and bool(self.variable) and self.sample.order > 0

    @property
    def values(self):
        """The arrays at ``variable``."""
        return [bare(listed(self.inputs[slot])[k]) for slot, k in self.variable]

    @property
    def results(self):
        """The arrays of all outputs."""
        return [bare(v) for value in self.outputs.values() for v in listed(value) if v is not None]

    @functools.cached_property
    def cotangents(self):
        """Random numbers like the arrays at ``targets``."""
        found = [bare(listed(self.outputs[slot])[k]) for slot, k in self.targets]
        return random_like(np.random.default_rng(0), found)

    def function(self, f, *values):
        """The operator as a function of the values at ``variable``, giving those at ``targets``."""
        outputs = f.apply(self.op, self.inputs_with(values, f))
        return [without_lod(f, listed(outputs[slot])[k]) for slot, k in self.targets]

    def composition(self, f, *values):
        """The same, in operators that are no compositions where that is known."""
        if not self.op.is_composite:
            return self.function(f, *values)
        outputs = self.op.outputs_for(f, self.inputs_with(values, f))
        return [without_lod(f, listed(outputs[slot])[k]) for slot, k in self.targets]

    def inputs_with(self, values, f=None):
        """The inputs with ``values`` at ``variable``.

        Args:
            values: arrays, or what an interpreter made of them.
            f: the interpreter.
        """

        def make(rows, lod):
            like = LoDTensor(np.zeros([lod[-1][-1], 1]), lod)
            return rows if isinstance(rows, LoDTensor) else (f or evaluator()).like_rows(rows, like)

        ins = {slot: list(v) if isinstance(v, list) else v for slot, v in self.inputs.items()}
        for (slot, k), value in zip(self.variable, values, strict=True):
            if slot in self.sample.symmetric:
                value = symmetric(f or evaluator(), value)
            if isinstance(ins[slot], list):
                ins[slot][k] = value
            else:
                ins[slot] = value
        return {slot: self.ragged(slot, value, make) for slot, value in ins.items()}

    def in_single_precision(self):
        """The case with float32 inputs."""
        inputs = {slot: each(single, value) for slot, value in self.sample.inputs.items()}
        return Case(self.op, replace(self.sample, inputs=inputs))

    def program(self, but=(), **how):
        """A program of the operator alone, whose random numbers are those of ``outputs``.

        Args:
            but: output slots that are left out.
            how: of :class:`OneOperator`.
        """
        counts = {s: len([v for v in listed(o) if v is not None]) for s, o in self.outputs.items()}
        counts = {slot: count for slot, count in counts.items() if slot not in but}
        one = OneOperator(self.op.type, self.inputs, counts, self.op.attr_values(), **how)
        one.program.random_seed = 7
        return one

    def gradient_inputs(self, cotangents):
        """The inputs of the gradient operator, by slot.

        Args:
            cotangents: by slot and position of an output.
        """
        ins = {}
        for read in lookup(self.op.grad_type).reads:
            if read.source == "in":
                ins[read.slot] = self.inputs.get(read.of)
            elif read.source == "out":
                ins[read.slot] = self.outputs.get(read.of)
            elif any(slot == read.of for slot, _ in cotangents):
                value = self.outputs[read.of]
                given = [
                    cotangents.get((read.of, k), np.zeros_like(v))
                    for k, v in enumerate(listed(value))
                ]
                ins[read.slot] = given if isinstance(value, list) else given[0]
            elif not read.optional:
                ins[read.slot] = each(np.zeros_like, self.outputs[read.of])
        return ins


def cases_of(definition):
    """The cases of an operator; the error in their place where they cannot be made."""
    try:
        return [Case(definition(sample.attrs), sample) for sample in samples_of(definition.type)]
    except Exception as error:  # fails the tests of this operator, not the collection of all
        return [error]


def parameters(definitions):
    """A parameter for each case of operators."""
    for definition in definitions:
        for k, case in enumerate(cases_of(definition)):
            name = case.sample.name if isinstance(case, Case) else case.__class__.__name__
            yield pytest.param(case, id=f"{definition.type}-{name or k}")


def listed(value):
    """The arrays of a slot."""
    return list(value) if is_list(value) else [value]


def without_lod(f, value):
    """A result without its sequences."""
    return f.bare_rows(value) if lod_of(value) else value


def symmetric(f, x):
    """The Hermitian parts of matrices."""
    n = len(x.shape)
    return (x + conj(f, f.transpose(x, axis=[*range(n - 2), n - 1, n - 2]))) * 0.5


def is_list(value):
    """Whether a slot's value is a list; a Spec is a tuple, but no list of values."""
    return isinstance(value, (list, tuple)) and not isinstance(value, Spec)


def each(change, value):
    """``value`` changed, or the list of its elements changed; what is absent stays so."""
    if is_list(value):
        return [each(change, item) for item in value]
    return None if value is None else change(value)


def is_float(array):
    return bare(array).dtype.kind in "fc"


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def single(array):
    array = np.asarray(array)
    return (
        array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)
        if is_float(array)
        else array
    )


def spec_of(array):
    lod = array.offsets if isinstance(array, LoDTensor) else ()
    return Spec(bare(array).shape, as_dtype(bare(array).dtype), lod_level=len(lod))
