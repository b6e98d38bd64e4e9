"""Operators as paddle 2 has them, where programs are printed in its words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .operator import Operator

#: attributes that paddle 2 has not, or of few operators
_UNKNOWN = frozenset(
    """
    Scale_in Scale_in_eltwise Scale_weights custom_neg_classes dims exhaustive_search fix_seed
    fuse_activation fuse_alpha fuse_beta fuse_brelu fuse_brelu_threshold fuse_relu
    fuse_relu_before_depthwise_conv fuse_residual_connection fuse_with_relu fused_reshape_Out
    fused_transpose_Out is_distributed scale_out scale_x scale_y workspace_size_MB x_data_format
    y_data_format use_mkldnn use_cudnn use_quantizer mkldnn_data_type op_callstack
    """.split()  # noqa: SIM905
)
#: an operator; attributes that it has not (-), that it has besides, inputs likewise (> and <)
_ROWS = """
adadelta multi_precision=False <LearningRate <MasterParam
adagrad multi_precision=False <MasterParam
adam multi_precision=False use_global_beta_pow=False <MasterParam <SkipUpdate <EpsilonTensor
adamax multi_precision=False <MasterParam
arg_max flatten=False
arg_min flatten=False
assign_value fp64_values=[]
cast use_mkldnn=False
conditional_block -skip_eager_deletion_vars
conv2d -Scale_out -force_fp32_output -is_test >Bias >ResidualData
conv2d_transpose -is_test output_padding=[]
conv3d -force_fp32_output -is_test >ResidualData
conv3d_transpose output_padding=[]
cumsum flatten=False
depthwise_conv2d -Scale_out -force_fp32_output -is_test >Bias >ResidualData
depthwise_conv2d_transpose -is_test output_padding=[]
dropout -seed
fill_constant place_type=-1
flip axis=None
gather -overwrite axis=0 <Axis
grid_sampler align_corners=True mode=bilinear padding_mode=zeros
lamb always_adapt=False multi_precision=False <MasterParam <SkipUpdate
linspace dtype=None
lookup_table_v2 -epmap -height_sections -is_sparse -remote_prefetch -table_names -trainer_id
momentum multi_precision=False regularization_coeff=0.0 regularization_method=
momentum rescale_grad=1.0 <MasterParam
mul -force_fp32_output
p_norm asvector=False
pool2d -is_test use_cudnn=False
pool3d use_cudnn=False
prelu data_format=NCHW
print print_tensor_layout=True
randperm -seed
reduce_all <AxisTensor <AxisTensorList
reduce_any <AxisTensor <AxisTensorList
relu6 -threshold
reshape2 mkldnn_data_type=float32 use_mkldnn=False use_quantizer=False
rmsprop multi_precision=False <MasterParam
roll axis=[] <ShiftsTensor
sgd multi_precision=False <MasterParam
sigmoid_cross_entropy_with_logits <pos_weight
softmax -data_format -is_test
softmax_with_cross_entropy use_softmax=True
softplus beta=1.0 threshold=20.0
split mkldnn_data_type=float32 use_mkldnn=False
sum mkldnn_data_type=float32 use_mkldnn=False
swish -beta
transpose2 -data_format
while -skip_eager_deletion_vars
"""
#: operators of other names: those, and their attributes by the names here
_RENAMED = {
    "matmul": ("matmul_v2", {"transpose_X": "trans_x", "transpose_Y": "trans_y"}),
    "maximum": ("elementwise_max", {"axis": "axis"}),
    "minimum": ("elementwise_min", {"axis": "axis"}),
}
#: operators of paddle 2's formulas, which it has under the plain names
_AS_PADDLE_2 = frozenset(["adadelta_v2", "adam_v2", "lamb_v2"])


class _Row(NamedTuple):
    lacks: frozenset[str]
    has: dict[str, Any]  #: attribute -> its default
    inputs: tuple[str, ...]
    no_inputs: frozenset[str]


@cache
def _rows() -> dict[str, _Row]:
    told: dict[str, list[str]] = {}
    for line in _ROWS.strip().splitlines():
        name, *more = line.split()
        told.setdefault(name, []).extend(more)
    known = {}
    for name, words in told.items():
        pairs = (word.split("=", 1) for word in words if "=" in word)
        known[name] = _Row(
            frozenset(word[1:] for word in words if word[0] == "-"),
            {attribute: _read(value) for attribute, value in pairs},
            tuple(word[1:] for word in words if word[0] == "<"),
            frozenset(word[1:] for word in words if word[0] == ">"),
        )
    return known


def _read(text: str) -> Any:
    return (
        text
        if not text or (text.isalpha() and text not in ("None", "True", "False"))
        else (ast.literal_eval(text) if not text.endswith("32") else text)
    )


def type_in_paddle2(op: Operator) -> str:
    """The type of an operator in paddle 2."""
    if op.type in _AS_PADDLE_2:
        return op.type.removesuffix("_v2")
    return _RENAMED[op.type][0] if op.type in _RENAMED else op.type


def _row(op: Operator) -> _Row | None:
    known = op.type.removesuffix("_v2") if op.type in _AS_PADDLE_2 else op.type
    return _rows().get(known.removesuffix("_grad"))


def inputs_in_paddle2(op: Operator) -> dict[str, Any]:
    """The inputs of an operator by slot, those that are not given among them."""
    row, definition = _row(op), op.definition
    slots: dict[str, Any] = {}
    if definition is not None and not op.type.endswith("_grad") and not _is_bare(op):
        slots = {slot.name: () for slot in definition.inputs if slot.optional}
        slots |= dict.fromkeys(row.inputs if row else (), ())
        slots = {slot: held for slot, held in slots.items() if not row or slot not in row.no_inputs}
    return slots | dict(op.inputs)


def _is_bare(op: Operator) -> bool:
    """Whether an operator was made without any word of inputs."""
    made = op.first_output
    stem = {"fill_constant": "fill_constant_", "gaussian_random": "gaussian_"}.get(op.type, "")
    return not made.startswith(stem)


def attributes_in_paddle2(op: Operator) -> Iterator[tuple[str, Any, str]]:
    """The attributes of an operator by name: name, value and wire type."""
    known = {name: (op.attr(name), op.attr_wire(name)) for name in _kept(op)}
    row = _row(op)
    for name, value in (row.has if row else {}).items():
        known.setdefault(name, (value, _wire(value)))
    if op.type in _RENAMED:
        names = {name: name for name in op.attr_names if name.startswith("op_")}
        names |= _RENAMED[op.type][1]
        known = {names[name]: held for name, held in known.items() if name in names}
    if op.type.startswith("reduce_") and op.attr("reduce_all"):
        known["dim"] = ([], "INTS")
        known["reduce_all"] = (op.type != "reduce_sum", "BOOLEAN")
    known["with_quant_attr"] = (False, "BOOLEAN")
    for name in sorted(known):
        yield (name, *known[name])


def _kept(op: Operator) -> Iterator[str]:
    row = _row(op)
    definition = op.definition
    own = definition.attributes if definition is not None else {}
    for name in op.attr_names:
        is_local = name in own and own[name].local
        if is_local or (row and name in row.lacks):
            continue
        if name not in _UNKNOWN or (row and name in row.has):
            yield name


def _wire(value: Any) -> str:
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, list):
        return "INTS"
    return {int: "INT", float: "FLOAT", str: "STRING"}.get(type(value), "STRING")
