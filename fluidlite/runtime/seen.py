"""What a plan has found out about operators, for those that are like them.

A long program has many operators of one type, with equal attributes, on values of the same shapes.
Their shape rule is asked once, and one kernel is prepared for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..dtypes import DType
from ..opdef.definition import Op
from ..opdef.interpreter import kernel_of
from ..opdef.prepared import Prepared, preparation_of
from ..opdef.spec import Spec

#: the kernel that was prepared, and what it makes: the slot, a spec or a list of them, and whether
#: the slot may be absent
Known = tuple["Prepared | None", list[tuple[str, Any, bool]]]


class Way(NamedTuple):
    """How operators of a type become kernels."""

    function: Any  #: None for compositions
    reads: tuple[str, ...]
    takes_rng: bool
    runs: bool  #: whether there is a kernel that a plan can call
    is_composite: bool
    as_one: bool  #: whether a prepared kernel may compute a composition as a whole


def _way_of(op: Op) -> Way:
    function, reads, takes_rng = kernel_of(op, "numpy")
    runs = function is not None and not op.updates and not any(slot.ragged for slot in op.inputs)
    many = any(slot.many for slot in op.outputs)
    as_one = op.is_composite and preparation_of(op.type) is not None and not many
    if function is None:
        reads = op.run_reads.get("expand", ())
    return Way(function, reads, takes_rng, runs, op.is_composite, as_one)


class Seen:
    """What is known of operators on values, which have a ``spec``."""

    def __init__(self) -> None:
        self._ways: dict[type[Op], Way] = {}
        self._known: dict[Any, Known] = {}

    def way(self, op: Op) -> Way:
        """How operators of a type become kernels."""
        found = self._ways.get(type(op))
        if found is None:
            found = self._ways[type(op)] = _way_of(op)
        return found

    def primitive(self, op: Op, ins: Mapping[str, Any], way: Way) -> Known:
        """What is known of an operator that has a kernel.

        Args:
            op: the operator.
            ins: values by input slot.
            way: of the operator.
        """
        key = _key_of(op, ins)
        found = self._known.get(key)
        if found is None:
            specs = {slot: _spec_of(value) for slot, value in ins.items()}
            made = [
                (slot, spec, op.output_slots[slot].optional)
                for slot, spec in op.infer_outputs(specs).items()
                if spec is not None
            ]
            found = op.prepared([specs.get(slot) for slot in way.reads]), made
            self._known[key] = found
        return found

    def whole(self, op: Op, ins: Mapping[str, Any], way: Way) -> Known:
        """What is known of the kernel that computes a composition as a whole; no kernel where there
        is none.  Arguments as of :meth:`primitive`.
        """
        key = _key_of(op, ins)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _prepared_as_one(op, ins, way)
        return found


#: types of attributes that are the same where they are equal, as 0.0 and -0.0 are not
_EXACT = frozenset({bool, int, str, DType})


def exact(attributes: Mapping[str, Any]) -> Any:
    """Something hashable that is equal where attributes are the same."""
    items = tuple(attributes.items())
    return items if _EXACT.issuperset(map(type, attributes.values())) else repr(items)


def _key_of(op: Op, ins: Mapping[str, Any]) -> Any:
    """What is equal for operators of one type and attributes on values of the same shapes."""
    given = op.__dict__
    key: list[Any] = [type(op)]
    if given:
        key.append(exact(given))
    for slot, value in ins.items():
        key.append(slot)
        key.append(tuple(map(_spec_of, value)) if type(value) is list else _spec_of(value))
    return tuple(key)


def _prepared_as_one(op: Op, ins: Mapping[str, Any], way: Way) -> Known:
    given = {name: _spec_of(value) for name, value in ins.items()}
    specs = [given.get(name) for name in way.reads]
    prepared = op.prepared(specs)
    if prepared is None:
        return None, []
    found = op.infer_outputs(given)
    made = []
    for slot in op.outputs:
        spec = found.get(slot.name)
        if spec is None and prepared.like is not None:
            spec = specs[prepared.like]
        if not isinstance(spec, Spec):
            return None, []
        made.append((slot.name, spec, False))
    return prepared, made


def _spec_of(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec_of(each) for each in value]
    return None if value is None else value.spec
