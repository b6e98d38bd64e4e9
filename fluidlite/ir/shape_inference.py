"""What operators give: shapes and element types as inferred, and levels of sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import FluidError, SlotError
from ..ground.dtypes import Kind
from ..opdef.definition import Op, first_slot
from ..opdef.sequences import has_no_sequences
from ..opdef.spec import SizeNames, Spec
from .declared import inferred_otherwise
from .operator import EMPTY, Operator, located
from .size_names import names_of_results
from .variable import Parameter, Variable


def declare_outputs(
    op: Operator,
    instance: Op,
    find: Callable[[str], Variable],
    declare: Callable[[Variable, Spec], object] | None = None,
) -> None:
    """Declare the shapes and element types of what an operator writes, as far as they follow from
    those of what it reads.

    Args:
        op: the operator, which need not be in its block yet.
        instance: its definition and attributes.
        find: gives a variable by its name.
        declare: declares of a variable what was inferred; :func:`declare_result` unless given.

    Raises:
        FluidError: the inputs do not fit the operator or each other; or there is no such variable.
    """
    named: dict[str, SizeNames] = {}
    specs = _specs_of_inputs(op, type(instance), find, named)
    written = {
        slot: [None if n == EMPTY else find(n) for n in names]
        for slot, names in op.outputs.items()
        if slot in instance.output_slots
    }
    if specs is None or (instance.is_control and not instance.infers):
        return
    try:
        results = results_of(op, instance, specs)
    except FluidError as error:
        results = _of_what_may_be(op, instance, specs, find, error)
    names = _names_of_results(op, instance, specs, named) if named else {}
    declared: list[tuple[Variable | None, Spec | None]] = []
    for slot, variables in written.items():
        result = results.get(slot)
        if not isinstance(result, list):
            result = [result] * len(variables)
        elif len(variables) > len(result):
            many = f"expected {len(result)} variables in {slot}, got {len(variables)}"
            raise located(SlotError(many), op, [])
        declared += zip(variables, result)
    declare = declare or declare_result
    for variable, spec in declared:
        if variable is not None and spec is not None:
            declare(variable, spec)
    for slot, listed in names.items():
        for variable, given in zip(written.get(slot, ()), listed):
            if variable is not None and len(given) == variable.ndim:
                variable.size_names = given


def _names_of_results(
    op: Operator, instance: Op, specs: Mapping[str, Any], named: dict[str, SizeNames]
) -> dict[str, list[SizeNames]]:
    """Names of sizes of what an operator writes, by slot; none where it drives blocks."""
    if instance.is_control:
        return {}
    return names_of_results(op, lambda tried: results_of(op, instance, tried), specs, named)


def _specs_of_inputs(
    op: Operator, definition: type[Op], find: Callable[[str], Variable], named: dict[str, SizeNames]
) -> dict[str, Any] | None:
    """The specs of what an operator reads, by slot; None where one is not known.  Puts the names of
    sizes of the variables that have some into ``named``.
    """
    specs: dict[str, Any] = {}
    known = True
    for slot, names in op.inputs.items():
        if slot not in definition.input_slots:  # of a file: nothing here reads it
            continue
        if definition.input_slots[slot].many:
            read = [None if n == EMPTY else find(n) for n in names]
            named.update((v.name, v.size_names) for v in read if v is not None and v.size_names)
            specs[slot] = [None if v is None else v.spec for v in read]
            known = known and None not in specs[slot]
        elif slot not in definition.fluid.outside:
            (name,) = names
            variable = None if name == EMPTY else find(name)
            specs[slot] = variable.spec if variable is not None else None
            if variable is not None and variable.size_names:
                named[name] = variable.size_names
            known = known and specs[slot] is not None
    return specs if known else None


def _of_what_may_be(
    op: Operator,
    instance: Op,
    specs: Mapping[str, Any],
    find: Callable[[str], Variable],
    error: FluidError,
) -> dict[str, Any]:
    """Specs by output slot where the shape rule refuses what its inputs were declared as: those of
    what they may stand for.
    """
    inferred = inferred_otherwise(op, instance, specs, error)
    if inferred is None:
        pairs = [(name, find(name).spec) for name in op.input_arg_names if name != EMPTY]
        raise located(error, op, pairs) from None
    return with_levels(inferred, instance, specs)


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
        known, is_key = forms.get(key), True
    except TypeError:  # an attribute of a kind of its own
        known, is_key = None, False
    if known is None:
        known = with_levels(instance.infer_outputs(specs), instance, specs)
        if is_key and not (instance.is_control or instance.sees_outputs):
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


def declare_shape(variable: Variable, spec: Spec) -> None:
    """Give a variable, be it a parameter, the shape and the levels that were inferred."""
    variable.redeclare(shape=spec.shape)
    variable.lod_level = spec.lod_level


def declare_type(variable: Variable, spec: Spec) -> None:
    """Give a variable, be it a parameter, the element type that was inferred."""
    variable.redeclare(dtype=spec.dtype)


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
