"""What operators give: shapes and element types as inferred, and levels of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dtypes import Kind
from ..opdef.definition import Op, first_slot
from ..opdef.sequences import has_no_sequences
from ..opdef.spec import Spec
from .variable import Parameter, Variable

if TYPE_CHECKING:
    from .operator import Operator


#: kept for each definition; the programs of most models have fewer forms of one operator
FORMS_KEPT = 256


def results_of(op: Operator, instance: Op, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Specs by output slot with the LoD levels of the inputs that they share, lists of them for
    list slots.  What was inferred for equal attributes and inputs is not inferred again.

    Args:
        op: the operator.
        instance: its definition and attributes.
        specs: of the inputs, by slot.

    Raises:
        FluidError: the inputs do not fit the operator or each other.
    """
    forms = type(instance).forms
    key = (
        *op.attrs.items(),
        *[
            (slot, spec if spec.__class__ is not list else tuple(spec))
            for slot, spec in specs.items()
        ],
    )
    try:
        known = forms.get(key)
    except TypeError:  # an attribute of a kind of its own
        known, forms = None, {}
    if known is None:
        known = with_levels(instance.infer_outputs(specs), instance, specs)
        if not (instance.is_control or instance.sees_outputs):
            if len(forms) >= FORMS_KEPT:
                forms.clear()
            forms[key] = known
    return known


def with_levels(
    inferred: Mapping[str, Any], instance: Op, specs: Mapping[str, Any]
) -> dict[str, Any]:
    """What was inferred, with the LoD level of the input that each output shares it with.

    Args:
        inferred: specs by output slot.
        instance: the operator.
        specs: of the inputs, by slot.
    """
    return {
        slot: [one and _with_levels(one, instance, slot, specs) for one in given]
        if isinstance(given, list)
        else given and _with_levels(given, instance, slot, specs)
        for slot, given in inferred.items()
    }


def declare_result(variable: Variable, spec: Spec) -> None:
    """Give an output what was inferred.

    Args:
        variable: the output; a parameter stays as the user declared it.
        spec: what was inferred.
    """
    if isinstance(variable, Parameter):
        return
    variable.take_spec(spec)
    if spec.kind is not variable.kind and spec.kind is not Kind.LOD_TENSOR:
        variable.kind = spec.kind


def _with_levels(spec: Spec, instance: Op, slot: str, specs: Mapping[str, Any]) -> Spec:
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
