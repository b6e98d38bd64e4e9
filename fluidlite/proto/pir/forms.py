"""What operations of Paddle 3 are here: a line for each whose names differ.

``name: type | operands -> results | attributes``, without a type where it is the name.  Operands
and results are slots, in the order in which the operation has them:

    Slot        a tensor, or none
    Slot*       a list of tensors
    =attr       numbers that the program holds become the attribute
    Slot=attr   the same where they are known, else the slot is given the tensor
    _           left out

    Slot@Other  a result that has the name of what was given to the other slot

Attributes are ``ours=theirs``, or ``ours:number``, or ``-theirs`` where it means nothing, or
``+theirs`` where there is no operator for it but when that is on.  What no line says is as the
definition of an operator of that name has it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

_LINES = """
add: elementwise_add
subtract: elementwise_sub
multiply: elementwise_mul
divide: elementwise_div
floor_divide: elementwise_floordiv
remainder: elementwise_mod
maximum: elementwise_max
minimum: elementwise_min
fmax: elementwise_fmax
fmin: elementwise_fmin
heaviside: elementwise_heaviside
add_n: sum | X* -> Out
addmm: | Input X Y -> Out | Alpha=alpha Beta=beta
affine_grid: | Theta OutputShape=output_shape -> Output
all: reduce_all
amax: reduce_amax
amin: reduce_amin
any: reduce_any
allclose: | Input Other Rtol=rtol Atol=atol -> Out
isclose: | Input Other Rtol=rtol Atol=atol -> Out
array_length: lod_array_length
array_read: read_from_array | X I -> Out
array_to_tensor: tensor_array_to_tensor
argmax: arg_max | X =axis -> Out
argmin: arg_min | X =axis -> Out
argsort: | X -> Out Indices | -stable
batch_norm: | X Mean Variance Scale Bias -> Y MeanOut@Mean VarianceOut@Variance | %s
bilinear: bilinear_tensor_product
bincount: | X Weights =minlength -> Out
cholesky_solve: | X Y -> Out
cast: | X -> Out | -dtype
clip: | X Min=min Max=max -> Out
concat: | X* AxisTensor=axis -> Out
conv2d_transpose: | Input Filter =output_size -> Output
depthwise_conv2d_transpose: | Input Filter =output_size -> Output
conv2d: | Input Filter -> Output
conv3d: | Input Filter -> Output
conv3d_transpose: | Input Filter -> Output
depthwise_conv2d: | Input Filter -> Output
crop: crop_tensor | X Shape=shape Offsets=offsets -> Out
cross: | X Y -> Out | dim=axis
cross_entropy_with_softmax: softmax_with_cross_entropy | Logits Label -> Softmax Loss | +use_softmax
cummax: | x -> out indices
cummin: | x -> out indices
cumsum: | X =axis -> Out
det: determinant
diag: diag_v2
dropout: | X Seed =dropout_prob -> Out Mask | dropout_implementation=mode
eigvalsh: | X -> Eigenvalues Eigenvectors | UPLO=uplo
einsum: | Operands* -> Out _ _
embedding: lookup_table_v2 | Ids W -> Out | is_sparse=sparse
expand: expand_v2 | X Shape=shape -> Out
expand_as: expand_as_v2 | X Y -> Out
eye: | =num_rows =num_columns -> Out
flatten: flatten_contiguous_range | X -> Out
frobenius_norm: frobenius_norm
full_like: fill_any_like | X =value -> Out
full_with_tensor: fill_constant | ValueTensor=value ShapeTensor=shape -> Out
gather: | X Index Axis=axis -> Out
grid_sample: grid_sampler
group_norm: | X Scale Bias -> Y Mean Variance | %s
hardshrink: hard_shrink
hardsigmoid: hard_sigmoid
hardswish: hard_swish
hardtanh: brelu
histogram: | X Weight -> Out
huber_loss: | X Y -> Out Residual
index_add: | X Index AddValue -> Out
index_select: | X Index -> Out | dim=axis
isfinite: isfinite_v2
isinf: isinf_v2
isnan: isnan_v2
kldiv_loss: | X Target -> Loss
kthvalue: | X -> Out Indices
leaky_relu: | X -> Out | alpha=negative_slope
lerp: | X Y Weight -> Out
lstsq: | X Y =rcond -> Solution Residuals Rank SingularValues
lu: | X -> Out Pivots Infos | pivots=pivot
masked_select: | X Mask -> Y
matmul: matmul_v2 | X Y -> Out | trans_x=transpose_x trans_y=transpose_y
max: reduce_max
max_pool2d_with_index: | X -> Out Mask | ksize=kernel_size
max_pool3d_with_index: | X -> Out Mask | ksize=kernel_size
mean: reduce_mean
mean_all: mean
min: reduce_min
mish: | X -> Out | threshold=lambda
mode: | X -> Out Indices
multiplex: | X* Ids -> Out
mv: | X Vec -> Out
nms: | Boxes -> KeepBoxesIdxs | iou_threshold=threshold
nonzero: where_index
norm: | X -> Out Norm
numel: size
one_hot: one_hot_v2 | X depth_tensor=depth -> Out
pad: | X =pad_value -> Out
pad3d: | X Paddings=paddings -> Out | value=pad_value
pool2d: | X =ksize -> Out
pool3d: | X -> Out | ksize=kernel_size
pow: | X -> Out | factor=y
prod: reduce_prod
put_along_axis: | Input Index Value -> Result | Axis=axis Reduce=reduce Include_self=include_self
repeat_interleave: | X -> Out | Repeats=repeats dim=axis -output_size
reshape: reshape2 | X Shape=shape -> Out
rnn: | Input PreState* WeightList* SequenceLength _ -> Out DropoutState State* Reserve
roi_align: | X ROIs RoisNum -> Out
roi_pool: | X ROIs RoisNum -> Out Argmax
roll: | X ShiftsTensor=shifts -> Out
scale: | X ScaleTensor=scale -> Out
scatter: | X Ids Updates -> Out
searchsorted: | SortedSequence Values -> Out
sequence_mask: | X MaxLenTensor=maxlen -> Y
shape: shape
sigmoid_cross_entropy_with_logits: | X Label pos_weight -> Out
slice: | Input StartsTensor=starts EndsTensor=ends -> Out
slogdet: slogdeterminant
softshrink: | X -> Out | lambda=threshold
split: | X SectionsTensorList=sections AxisTensor=axis -> Out*
split_with_num: split | X AxisTensor=axis -> Out*
squeeze: squeeze2 | X =axes -> Out
stack: | X* -> Y
strided_slice: | Input StartsTensor=starts EndsTensor=ends StridesTensor=strides -> Out
sum: reduce_sum
svd: | X -> U S VH
take_along_axis: | Input Index -> Result | Axis=axis
yolo_box: | X ImgSize -> Boxes Scores | -iou_aware_factor
tile: | X RepeatTimes=repeat_times -> Out
topk: top_k_v2 | X K=k -> Out Indices
transpose: transpose2 | X -> Out | axis=perm
tril: tril_triu | X -> Out | lower:1
triu: tril_triu | X -> Out | lower:0
unbind: | X -> Out*
unfold: | X -> Y
unique: | X -> Out Indices Index Counts
unpool: | X Indices =output_size -> Out | paddings=padding unpooling_type:max
unsqueeze: unsqueeze2 | X AxesTensor=axes -> Out
unstack: | X -> Y*
warpctc: | Logits Label LogitsLength LabelLength -> Loss WarpCTCGrad
"""


class OperationForm(NamedTuple):
    """One line."""

    type: str
    #: None where they are those of the definition, in its order
    operands: tuple[str, ...] | None
    results: tuple[str, ...] | None
    renamed: dict[str, str]  #: theirs -> ours
    fixed: dict[str, object]
    ignored: frozenset[str]
    meant: frozenset[str]  #: attributes that have to be on


_LAYOUT = "data_layout=data_format"
_RESIZED = f"| X OutSize SizeTensor* Scale -> Out | {_LAYOUT}"


def _form(line: str) -> tuple[str, OperationForm]:
    name, _, rest = line.partition(": ")
    type, slots, attributes = ([part.strip() for part in rest.split("|")] + ["", ""])[:3]
    operands, _, results = slots.partition("->")
    renamed: dict[str, str] = {}
    fixed: dict[str, object] = {}
    ignored, meant = set(), set()
    for word in attributes.split():
        if word[0] == "-":
            ignored.add(word[1:])
        elif word[0] == "+":
            meant.add(word[1:])
        elif "=" in word:
            ours, theirs = word.split("=")
            renamed[theirs] = ours
        else:
            ours, value = word.split(":")
            fixed[ours] = int(value) if value.isdigit() else value
    known = bool(slots)
    return name, OperationForm(
        type or name,
        tuple(operands.split()) if known else None,
        tuple(results.split()) if known else None,
        renamed,
        fixed,
        frozenset(ignored),
        frozenset(meant),
    )


@cache
def forms() -> dict[str, OperationForm]:
    """By the names of operations."""
    ways = ("linear", "bilinear", "trilinear", "bicubic", "nearest")
    resized = [f"{way}_interp: {way}_interp_v2 {_RESIZED}" for way in ways]
    lines = [line.replace("%s", _LAYOUT) for line in _LINES.strip().splitlines()]
    return dict(_form(line) for line in lines + resized)


def form_of(name: str) -> OperationForm:
    """The form of an operation: its line, or that of an operator of its name."""
    plain = name.removesuffix("_")  # what writes over its operand
    return forms().get(plain) or OperationForm(plain, None, None, {}, {}, frozenset(), frozenset())
