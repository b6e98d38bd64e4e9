"""Which operators are linear, and which have a symmetric Jacobian: a tangent passes them cheaply.

The tables say what a definition does not; what follows from definitions is not in them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..opdef.definition import Op
from ..opdef.gradient import DerivedGrad

#: slots in which operators are linear together, while the other inputs stay as they are -> types;
#: one that is there twice is linear in either slot
_LINEAR_IN: dict[tuple[str, ...], str] = {
    ("X",): """
        array_filled array_to_lod_tensor array_without assign bmm c_allgather c_allreduce_sum
        c_reducescatter c_sync_calc_stream c_sync_comm_stream concat cross cumsum dot
        elementwise_div elementwise_mul expand expand_as flatten flatten2 flip gather gather_nd
        index_sample index_select kron lod_tensor_to_array matmul mean meshgrid mul multiplex
        partial_concat partial_sum pixel_shuffle place_diagonal read_from_array reduce_mean
        reduce_sum reorder_lod_tensor_by_rank reshape reshape2 reverse rnn_memory_helper roll
        segment_spread segment_sum select_input select_output shrink_rnn_memory shuffle_channel
        space_to_depth split squeeze squeeze2 stack sum take_along take_diagonal take_elements
        take_item take_rows tensor_array_to_tensor tensor_to_array transpose transpose2 tril_triu
        unbind unfold unsqueeze unsqueeze2 unstack weighted_dot weighted_put weighted_take
        write_to_array
    """,
    ("Y",): "bmm cross dot elementwise_mul kron matmul mul weighted_dot",
    ("X", "Y"): "elementwise_add elementwise_sub minus where",
    ("Input",): """
        conv2d conv2d_adjoint_filter conv2d_transpose conv3d conv3d_adjoint_filter
        conv3d_transpose depthwise_conv2d depthwise_conv2d_transpose slice strided_slice trace
    """,
    ("Filter",): """
        conv2d conv2d_adjoint_input conv2d_transpose conv3d conv3d_adjoint_input conv3d_transpose
        depthwise_conv2d depthwise_conv2d_transpose
    """,
    ("G",): """
        conv2d_adjoint_filter conv2d_adjoint_input conv3d_adjoint_filter conv3d_adjoint_input
        strided_slice_adjoint unfold_adjoint
    """,
    ("W",): "lookup_table lookup_table_v2",
    ("X", "Value"): "put_along",
    ("Updates",): "add_along add_rows gather_adjoint lookup_table_adjoint",
}  # fmt: skip
_GROUPS: dict[str, list[tuple[str, ...]]] = {}
for _slots, _types in _LINEAR_IN.items():
    for _type in _types.split():
        _GROUPS.setdefault(_type, []).append(_slots)

#: inputs that are added to the result, which makes an operator affine
_ADDED = ("Bias", "ResidualData")
#: operators with one input that has a symmetric Jacobian, beside those of single elements
_SYMMETRIC = frozenset({"clip", "dropout", "increment", "pow", "softmax"})


def linear_groups(definition: type[Op]) -> list[tuple[str, ...]]:
    """The groups of slots in which an operator is linear; a gradient operator is so in what flows
    to it.

    Args:
        definition: of the operator.
    """
    if not issubclass(definition, DerivedGrad):
        return _GROUPS.get(definition.type, [])
    return [tuple(read.slot for read in definition.reads if read.source == "cotangent")]


def inert_slots(definition: type[Op]) -> frozenset[str]:
    """The inputs of which an operator reads only the form, so that no tangent comes from them: the
    gradient of a linear operator does not depend on where it is taken.

    Args:
        definition: of the operator.
    """
    if not issubclass(definition, DerivedGrad):
        return frozenset()
    forward = definition.derived_from
    groups = linear_groups(forward)
    flowing = {slot.name for slot in forward.inputs if not slot.constant}
    if len(groups) != 1 or flowing - inert_slots(forward) - set(groups[0]):
        return frozenset()
    return frozenset(read.slot for read in definition.reads if read.source != "cotangent")


def is_linear_in(op: Op, ins: Mapping[str, Any], active: Collection[str]) -> bool:
    """Whether an operator is applied to tangents as it is to values.

    Args:
        op: the operator.
        ins: values by input slot.
        active: the slots that hold tangents; the others stay as they are, but those that are linear
            together with them: these hold nothing.
    """
    if any(ins.get(slot) is not None for slot in _ADDED if slot in op.input_slots):
        return False
    given = {slot for slot, value in ins.items() if value is not None}
    return any(given.intersection(group) == set(active) for group in linear_groups(type(op)))


def has_symmetric_jacobian(op: Op) -> bool:
    """Whether the gradient operator, given a tangent for the cotangent, gives the result's tangent.

    Args:
        op: the operator.
    """
    return op.by_element or op.type in _SYMMETRIC
