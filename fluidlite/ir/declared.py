"""Variables that are fed, and may hold something else than they were declared to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import DTypeError, FluidError, ShapeError
from ..ground.callsite import CallSite, warn
from ..ground.dtypes import DType
from ..opdef.definition import Op

if TYPE_CHECKING:
    from .block import Block
    from .operator import Operator
    from .variable import Variable


#: operators whose results have the elements that they are given
CARRYING = {
    *("assign", "concat", "crop", "expand", "flatten", "flatten2", "gather", "pad", "reshape"),
    *("reshape2", "reverse", "slice", "split", "squeeze", "squeeze2", "stack", "strided_slice"),
    *("transpose", "transpose2", "unsqueeze", "unsqueeze2", "unstack"),
}
#: operators whose operands must have one element type, which fluid asks of what they are given
OF_ONE_TYPE = {
    *("elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div"),
    *("elementwise_max", "elementwise_min", "elementwise_pow", "elementwise_mod", "equal"),
    *("not_equal", "less_than", "less_equal", "greater_than", "greater_equal", "stack"),
    "sigmoid_cross_entropy_with_logits",
}
#: what a variable has that is like one of another program
TAKEN_OVER = ("lod_level", "persistable", "stop_gradient", "is_data", "need_check_feed")
_LISTS = (list, tuple)
LABELLED = {"accuracy", "cross_entropy", "cross_entropy2", "softmax_with_cross_entropy"}


def may_hold_integers(variable: Variable | None) -> bool:
    """Whether a variable that is declared to hold floats may hold integers: nothing checks what is
    fed to it, and it has the element type that is declared where none is said; or its elements are
    those of such a one.
    """
    seen = set()
    while variable is not None and variable.name not in seen:
        seen.add(variable.name)
        if not variable.has_dtype or variable.dtype is not DType.FP32:
            return False
        if variable.is_data:
            return not variable.need_check_feed
        name, block = variable.name, variable.block
        writer = next((op for op in reversed(block.ops) if name in op.output_arg_names), None)
        if writer is None or writer.type not in CARRYING:
            return False
        variable = block.find_var_recursive(writer.input_arg_names[0])
    return False


def warn_of_integers(variable: Variable, reader: str, site: CallSite | None = None) -> None:
    """Say that integers have to be fed to a variable.

    Args:
        variable: is declared to hold floats.
        reader: what needs the integers.
        site: where the user put it; where fluidlite is called when None.
    """
    warn(
        f"{reader} needs integers of {variable.name!r}, which is declared as {variable.dtype}; "
        f"feed it integers, and declare them: dtype='int64'",
        site,
    )


def inferred_of_integers(
    op: Operator, instance: Op, specs: Mapping[str, Any], error: FluidError
) -> tuple[dict[str, Any], list[Variable]] | None:
    """What an operator infers when a slot holds integers that are fed to variables declared as
    floats, and which these are; None where that does not help.

    Args:
        op: the operator.
        instance: its definition with its attributes.
        specs: what is declared, by input slot.
        error: what the operator says of that.
    """
    if not isinstance(error, DTypeError):
        return None
    for slot, names in op.inputs.items():
        variables = [op.block.find_var_recursive(name) for name in names]
        doubtful = [v for v in variables if v is not None and may_hold_integers(v)]
        if not doubtful:
            continue
        slot_spec = specs[slot]
        if isinstance(slot_spec, list):
            changed: Any = [
                spec.with_dtype(DType.INT64) if any(v is d for d in doubtful) else spec
                for spec, v in zip(slot_spec, variables)
            ]
        else:
            changed = slot_spec.with_dtype(DType.INT64)
        try:
            return instance.infer_outputs({**specs, slot: changed}), doubtful
        except FluidError:
            continue
    return None


def inferred_for_now(
    op: Operator, instance: Op, specs: Mapping[str, Any], error: FluidError
) -> dict[str, Any] | None:
    """What an operator would infer of other inputs, where fluid says only in a run that it does not
    take those that it is given; None for other operators.  Arguments as of
    :func:`inferred_of_integers`.
    """
    kind = ShapeError if isinstance(error, ShapeError) else DTypeError
    changed = _LATER.get((op.type, kind)) if isinstance(error, kind) else None
    if changed is None:
        return None
    try:
        return instance.infer_outputs({**specs, **changed(instance, specs)})
    except FluidError:
        return None


def _squeezed(instance: Any, specs: Mapping[str, Any]) -> dict[str, Any]:
    given = specs["X"]
    axes = [axis % given.ndim for axis in instance.axes if -given.ndim <= axis < given.ndim]
    sizes = [1 if i in axes else size for i, size in enumerate(given.shape)]
    return {"X": given.with_shape(sizes)}


def _of_one_type(instance: Any, specs: Mapping[str, Any]) -> dict[str, Any]:
    listed = [
        each for slot in specs.values() for each in (slot if isinstance(slot, list) else [slot])
    ]
    dtype = next((s.dtype for s in listed if s.dtype is not DType.BOOL), DType.FP32)
    return {
        slot: [s.with_dtype(dtype) for s in each]
        if isinstance(each, list)
        else each.with_dtype(dtype)
        for slot, each in specs.items()
    }


def _of_integers(*slots: str) -> Callable[[Any, Mapping[str, Any]], dict[str, Any]]:
    return lambda instance, specs: {slot: specs[slot].with_dtype(DType.INT64) for slot in slots}


def _with_priors(instance: Any, specs: Mapping[str, Any]) -> dict[str, Any]:
    """As many prior boxes as there are boxes to decode."""
    if specs["TargetBox"].ndim < 2:
        return {}
    count = specs["TargetBox"].shape[1 - instance.axis]
    priors = [slot for slot in ("PriorBox", "PriorBoxVar") if specs.get(slot) is not None]
    return {slot: specs[slot].with_shape([count, 4]) for slot in priors}


def _with_anchors(instance: Any, specs: Mapping[str, Any]) -> dict[str, Any]:
    """An anchor for each score, and its variances."""
    if specs["Scores"].ndim != 4:
        return {}
    _, anchors, height, width = specs["Scores"].shape
    shape = [height, width, anchors, 4]
    return {slot: specs[slot].with_shape(shape) for slot in ("Anchors", "Variances")}


def _scored_by_class(instance: Any, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Scores [images, classes, boxes], and boxes of four numbers."""
    boxes, scores = specs["BBoxes"], specs["Scores"]
    classes = scores.shape[1] if scores.ndim == 3 else -1
    return {"BBoxes": boxes.with_shape([-1, -1, 4]), "Scores": scores.with_shape([-1, classes, -1])}


#: operators whose inputs fluid looks at in a run only, and what of them is refused -> inputs that
#: they would take
_LATER: dict[tuple[str, type[FluidError]], Callable[[Any, Mapping[str, Any]], dict[str, Any]]] = {
    **{(type, ShapeError): _squeezed for type in ("squeeze", "squeeze2")},
    **{(type, DTypeError): _of_one_type for type in OF_ONE_TYPE},
    **{(type, DTypeError): _of_integers("Label") for type in LABELLED},
    ("generate_mask_labels", DTypeError): _of_integers("GtClasses", "IsCrowd", "LabelsInt32"),
    ("box_coder", ShapeError): _with_priors,
    ("generate_proposals", ShapeError): _with_anchors,
    ("matrix_nms", ShapeError): _scored_by_class,
    ("locality_aware_nms", ShapeError): _scored_by_class,
}


def inferred_otherwise(
    op: Operator, instance: Op, specs: Mapping[str, Any], error: FluidError
) -> dict[str, Any] | None:
    """What an operator infers of inputs that it does not take as they are declared, with a warning
    of what they have to be; None where it never takes them.  Arguments as of
    :func:`inferred_of_integers`.
    """
    again = inferred_of_integers(op, instance, specs, error)
    if again is not None:
        for fed in again[1]:
            warn_of_integers(fed, op.type, op.callsite)
        return again[0]
    later = inferred_for_now(op, instance, specs, error)
    if later is not None:
        op.is_unsettled = True
        warn(f"{op.type}: {error}; it will not run with what is declared", op.callsite)
    return later


def warn_of_namesakes(
    block: Block, inputs: Mapping[str, Any] | None, site: CallSite | None
) -> None:
    """Say which variables are of another program, while another one of that name is here.

    Nothing is said of what is meant to be one variable (:func:`is_the_same`).

    Args:
        block: of the operator.
        inputs: by slot.
        site: the user's line.
    """
    for values in inputs.values() if inputs else ():
        for other in values if values.__class__ in _LISTS else (values,):
            home = getattr(other, "block", block)
            if home is not block and home.program is not block.program:
                _warn_of_namesake(block, other, site)


def _warn_of_namesake(block: Block, other: Variable, site: CallSite | None) -> None:
    here = block.find_var_recursive(other.name)
    if here is not None and not is_the_same(here, other):
        warn(
            f"{other.name!r} is a variable of another program, {described(other)}; here it means "
            f"this program's variable of that name, {described(here)}; build both in one program, "
            f"or feed the value of the other one",
            site,
        )


def is_the_same(here: Variable, other: Variable) -> bool:
    """Whether variables of two programs, which have one name, are meant to be one: parameters,
    which the scope has by name; what is fed; what the same line made.
    """
    if here.persistable and other.persistable:
        return True
    if here.is_data and other.is_data:
        return here.spec == other.spec
    mine, theirs = here.op, other.op
    if mine is None or theirs is None:
        return mine is theirs
    sites = mine.callsite, theirs.callsite
    return mine.type == theirs.type and (None in sites or sites[0] == sites[1])


def described(variable: Variable) -> str:
    """What a variable holds, and which line made it."""
    spec, maker = variable.spec or "of unknown shape", variable.op
    if maker is None or maker.callsite is None:
        return f"{spec}"
    return f"{spec} made at {maker.callsite}"


def taken_over(
    block: Block, name: str, given: Iterable[Mapping[str, Any] | None], site: CallSite | None
) -> Variable:
    """A variable that is like one of another program, which an operator is given.

    Args:
        block: the operator's; nothing there has the name.
        name: of the variable.
        given: inputs and outputs by slot.
        site: the user's line.

    Raises:
        UnknownVariableError: the operator is given the name alone.
    """
    for values in (each for slots in given for each in (slots or {}).values()):
        for other in values if isinstance(values, (list, tuple)) else (values,):
            if getattr(other, "block", None) is not None and other.name == name:
                warn(
                    f"{name!r} is a variable of another program; here it is another one of that "
                    f"name, which has to be fed or to be in the scope",
                    site,
                )
                how = {key: getattr(other, key) for key in TAKEN_OVER}
                if other.has_dtype and other.has_shape:
                    how.update(shape=other.shape, dtype=other.dtype)
                return block.program.global_block().create_var(name, **how)
    return block.var_recursive(name)
