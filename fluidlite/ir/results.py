"""Declaring what operators give: shapes and element types as inferred, and levels of sequences."""

from __future__ import annotations

from typing import Any

from ..dtypes import Kind
from ..opdef.definition import Op, first_slot
from ..opdef.sequences import has_no_sequences
from ..opdef.spec import Spec
from .variable import Parameter, Variable


def declare_result(
    variable: Variable, spec: Spec, instance: Op, slot: str, specs: dict[str, Any]
) -> None:
    """Give an output what was inferred, with the LoD level of the input that the operator shares it
    with.

    Args:
        variable: the output; a parameter stays as the user declared it.
        spec: what was inferred.
        instance: the operator.
        slot: of the output.
        specs: of the inputs, by slot.
    """
    if isinstance(variable, Parameter):
        return
    variable.take_spec(_with_levels(spec, instance, slot, specs))
    if spec.kind is not variable.kind and spec.kind is not Kind.LOD_TENSOR:
        variable.kind = spec.kind


def _with_levels(spec: Spec, instance: Op, slot: str, specs: dict[str, Any]) -> Spec:
    """A spec with the levels of sequences that the value will have."""
    if instance.says_lod:
        if instance.lod is None or spec.lod_level:
            return spec
    elif instance.lod is None or has_no_sequences(instance.output_slots[slot]):
        return spec._replace(lod_level=0) if spec.lod_level else spec
    shared = first_slot(instance, specs) if instance.lod in ("first", "joined") else instance.lod
    source = specs.get(shared)
    if isinstance(source, list):
        source = source[0] if source else None
    if source is None or not (spec.lod_level or source.lod_level):
        return spec
    shares = instance.says_lod or instance.lod == "joined" or not _has_other_rows(spec, source)
    return spec._replace(lod_level=(spec.lod_level or source.lod_level) if shares else 0)


def _has_other_rows(spec: Spec, source: Spec) -> bool:
    """Whether a result is known to have another number of rows than what it would share with; not
    where it has none, since it stands for a form then (XShape).
    """
    rows = [each.shape[0] if each.shape else -1 for each in (spec, source)]
    return min(rows) > 0 and rows[0] != rows[1]
