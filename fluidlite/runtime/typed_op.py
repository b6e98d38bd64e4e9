"""What like instructions share: an operator with the shapes and element types of its operands.

A long program has many operators of one type, with equal attributes, on values of the same shapes.
Their shape rule is asked once, and one kernel is prepared for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ..ground.dtypes import DType
from ..opdef.definition import Op
from ..opdef.interpreter import kernel_of
from ..opdef.prepared import Prepared, preparation_of
from ..opdef.spec import Spec
from .value import CountingSpec, RuntimeSize

#: of each result: its slot, a spec or a list of them, and whether the slot may be absent
Results = list[tuple[str, Any, bool]]


class Calling(NamedTuple):
    """How the kernels of a type of operator are called."""

    function: Any  #: the operator's own kernel; None for a composition
    slots: tuple[str, ...]  #: what it takes
    draws: bool  #: whether it takes random numbers
    runs: bool  #: whether a plan can call it
    is_composite: bool
    fuses: bool  #: whether a prepared kernel may compute the composition as a whole


@dataclass(eq=False)
class TypedOp:
    """An operator for operands of given shapes."""

    op: Op  #: with its attributes
    calling: Calling
    specs: list[Any]  #: of the operands
    results: Results

    @cached_property
    def kernel(self) -> Prepared | None:
        """NumPy's kernel for these shapes; None where there is only the operator's own."""
        found: Prepared | None = self.op.prepared(self.specs)
        return found

    @cached_property
    def is_static(self) -> bool:
        """Whether all sizes of the operands are known before the graph runs."""
        return all(map(_is_static, self.specs))

    def results_for(self, ins: Mapping[str, Any]) -> Results:
        """The results for values by input slot, with as many rows as one of them counts."""
        slot = self.op.counted_by
        spec = None if slot is None else ins[slot].spec
        if not isinstance(spec, CountingSpec) or spec.last < -1:
            return self.results
        count = spec.last + 1
        return [
            (slot, result.with_dim(0, count) if result.shape[0] == -1 else result, optional)
            for slot, result, optional in self.results
        ]


class TypedOps:
    """The typed_ops of one graph."""

    def __init__(self) -> None:
        self._callings: dict[type[Op], Calling] = {}
        self._known: dict[Any, TypedOp | None] = {}

    def calling(self, op: Op) -> Calling:
        """How the kernels of an operator are called."""
        found = self._callings.get(type(op))
        if found is None:
            found = self._callings[type(op)] = _calling_of(op)
        return found

    def of(self, op: Op, ins: Mapping[str, Any], calling: Calling) -> TypedOp:
        """What an operator that has a kernel is for values by input slot, which have a ``spec``."""
        key = _key_of(op, ins)
        typed = self._known.get(key)
        if typed is None:
            specs = {slot: _spec_of(value) for slot, value in ins.items()}
            results = [
                (slot, spec, op.output_slots[slot].optional)
                for slot, spec in op.infer_outputs(specs).items()
                if spec is not None
            ]
            typed = TypedOp(op, calling, [specs.get(s) for s in calling.slots], results)
            self._known[key] = typed
        return typed

    def fused(self, op: Op, ins: Mapping[str, Any], calling: Calling) -> TypedOp | None:
        """The same of a composition that one prepared kernel computes as a whole; None if there is
        none.
        """
        key = _key_of(op, ins)
        if key not in self._known:
            self._known[key] = _fused(op, ins, calling)
        return self._known[key]


def _calling_of(op: Op) -> Calling:
    function, slots, draws = kernel_of(op, "numpy")
    if op.is_composite and not op.whole:
        function = None
    is_ragged = any(slot.ragged for slot in op.inputs) and not op.reads_shapes
    runs = function is not None and not op.fluid.updates and not is_ragged
    many = any(slot.many for slot in op.outputs)
    fuses = op.is_composite and preparation_of(op.type) is not None and not many
    if function is None:
        slots = op.run_reads.get("expand", ())
    return Calling(function, slots, draws, runs, op.is_composite, fuses)


#: types of attributes that are the same where they are equal, as 0.0 and -0.0 are not
_EXACT = frozenset({bool, int, str, DType})


def _key_of(op: Op, ins: Mapping[str, Any]) -> Any:
    """What is equal for operators of one type and attributes on values of the same shapes."""
    attrs = op.__dict__
    key: list[Any] = [type(op)]
    if attrs:
        items = tuple(attrs.items())
        key.append(items if _EXACT.issuperset(map(type, attrs.values())) else repr(items))
    for slot, value in ins.items():
        key.append(slot)
        key.append(tuple(map(_spec_of, value)) if type(value) is list else _spec_of(value))
    return tuple(key)


def _fused(op: Op, ins: Mapping[str, Any], calling: Calling) -> TypedOp | None:
    specs_by_slot = {name: _spec_of(value) for name, value in ins.items()}
    specs = [specs_by_slot.get(name) for name in calling.slots]
    typed = TypedOp(op, calling, specs, [])
    kernel = typed.kernel
    if kernel is None:
        return None
    found = op.infer_outputs(specs_by_slot)
    for slot in op.outputs:
        spec = found.get(slot.name)
        if spec is None and kernel.like is not None:
            spec = specs[kernel.like]
        if not isinstance(spec, Spec):
            return None
        typed.results.append((slot.name, spec, False))
    return typed


def _spec_of(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec_of(each) for each in value]
    return None if value is None else value.spec


def _is_static(spec: Any) -> bool:
    if isinstance(spec, list):
        return all(map(_is_static, spec))
    return spec is None or RuntimeSize not in map(type, spec.shape)
