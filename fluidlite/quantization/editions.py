"""What versions of the passes differ in: operators, dimensions of slices, names and marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.operator import Operator

Slots = tuple[str, ...]
CONVOLUTIONS = ("conv2d", "depthwise_conv2d")
_READ, _WRITTEN = ("Filter", "Input", "X", "Y"), ("Output", "Out", "Y")


@dataclass(frozen=True)
class Edition:
    """How one version writes programs.

    Attributes:
        reads: an operator -> the slots that are rounded.
        notes: an operator -> the slots whose scales are noted.
        products: operators with a weight.
        others: operators without one whose inputs can be rounded.
        slices: those whose weights may have a scale for each slice -> the dimension of slices.
        scale: what follows the name of a rounded variable in that of its scale.
        is_later: whether it is that of paddle 2.6, whose scales all stay in the scope, and whose
            operators name the dimension of slices.
    """

    reads: Mapping[str, Slots]
    notes: Mapping[str, Slots]
    products: Slots
    others: Slots
    slices: Mapping[str, int]
    scale: str
    is_later: bool

    def read_by(self, op: Operator) -> list[str]:
        """The variables of an operator that are rounded: no sizes, no statistics."""
        slots = sorted(set(self.reads.get(op.type, _READ)) & op.inputs.keys())
        return list(dict.fromkeys(name for slot in slots for name in op.inputs.get(slot, ())))

    def written_by(self, op: Operator) -> list[str]:
        """The results of an operator: no statistics."""
        slots = self.notes.get(op.type, _WRITTEN)
        return [name for slot in slots for name in op.outputs.get(slot, ())]


ACTIVATIONS = ("relu", "relu6", "leaky_relu", "tanh", "swish")
_PRODUCTS_1_8 = (*CONVOLUTIONS, "mul", "matmul")
_OTHERS_1_8 = (
    *("pool2d", "elementwise_add", "concat", "softmax", "argmax", "transpose", "equal", "gather"),
    *("greater_equal", "greater_than", "less_equal", "less_than", "mean", "not_equal", "reshape"),
    *("reshape2", "bilinear_interp", "nearest_interp", "trilinear_interp", "slice", "squeeze"),
    *("elementwise_sub", "mul", "matmul", *ACTIVATIONS),
)
_NOTED_1_8 = (
    *(*_PRODUCTS_1_8, "relu", "leaky_relu", "relu6", "sigmoid", "tanh", "prelu"),
    *("swish", "softmax", "batch_norm", "elementwise_add", "pool2d", "reshape2", "transpose2"),
    *("concat", "elementwise_mul", "scale"),
)
FLUID_1_8 = Edition(
    reads={**dict.fromkeys(_OTHERS_1_8, _READ), "batch_norm": ("X",)},
    notes=dict.fromkeys(_NOTED_1_8, _WRITTEN),
    products=_PRODUCTS_1_8,
    others=_OTHERS_1_8,
    slices=dict.fromkeys(CONVOLUTIONS, 0),
    scale=".scale",
    is_later=False,
)

#: the slots that are read and written -> operators of paddle 2.6
_FORMS = {
    "Input Filter -> Output": "conv2d depthwise_conv2d conv2d_transpose",
    "X Y -> Out": "mul matmul matmul_v2 elementwise_add equal greater_equal greater_than "
    "less_equal less_than not_equal elementwise_sub elementwise_mul elementwise_pow logical_and",
    "X -> Out": "pool2d concat softmax argmax transpose gather mean reshape reshape2 transpose2 "
    "nearest_interp trilinear_interp squeeze relu relu6 leaky_relu tanh swish dropout sigmoid "
    "hard_swish hard_sigmoid pad2d pad3d flatten flatten2 unsqueeze2 flatten_contiguous_range "
    "split squeeze2 nearest_interp_v2 bilinear_interp bilinear_interp_v2 arg_max abs assign cast "
    "clip crop cumsum expand_v2 fill_any_like gelu p_norm pow reduce_mean logical_not meshgrid "
    "tile reduce_sum square softplus shuffle_channel reduce_max scale",
    "Input -> Out": "slice fill_constant_batch_size_like strided_slice",
    "X -> Y": "batch_norm layer_norm instance_norm stack",
    "X Alpha -> Out": "prelu",
    "Input Weight -> Hidden": "gru lstm",
    "PriorBox -> OutputBox": "box_coder",
    " -> Out": "fill_constant",
    "W Ids -> Out": "lookup_table lookup_table_v2",
    "X -> Norm": "norm",
    "X -> Out Indices": "top_k_v2",
    "X ROIs -> Out": "roi_align",
    "Condition X Y -> Out": "where",
    "X Grid -> Output": "grid_sampler",
    "X -> Y Mean Variance": "group_norm",
}
_SLOTS = {
    type: [side.split() for side in form.split("->")]
    for form, types in _FORMS.items()
    for type in types.split()
}
_PRODUCTS_2_6 = (*CONVOLUTIONS, "conv2d_transpose", "mul", "matmul", "matmul_v2")
#: an operator of paddle 2.6 -> its slots that are rounded, and those whose scales are noted
SUPPORTED = {type: _SLOTS[type] for type in dict.fromkeys([*_PRODUCTS_2_6, *_SLOTS])}
PADDLE_2_6 = Edition(
    reads={type: tuple(slots[0]) for type, slots in SUPPORTED.items()},
    notes={type: tuple(slots[1]) for type, slots in SUPPORTED.items()},
    products=_PRODUCTS_2_6,
    others=tuple(type for type in SUPPORTED if type not in _PRODUCTS_2_6[:3]),
    slices={type: 0 if type in CONVOLUTIONS else 1 for type in _PRODUCTS_2_6},
    scale="@scale",
    is_later=True,
)
