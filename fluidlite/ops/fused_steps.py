"""An operator with what stands before and behind it, as passes of Paddle 2 write programs for
inference: oneDNN's, and those of GPUs.
"""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Specs, Value, Values
from ..opdef.attribute import REQUIRED, attr, need_choice
from ..opdef.definition import Op, lookup
from ..opdef.spec import Spec, need_float, need_ndim, resolved, same_float
from .fused import fused_elemwise_activation

#: names of activations behind another operator -> operators here, and what alpha and beta are there
ACTIVATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "": ("", ()),
    "identity": ("", ()),
    "linear": ("", ()),
    "relu": ("relu", ()),
    "relu6": ("relu6", ("threshold",)),
    "leaky_relu": ("leaky_relu", ("alpha",)),
    "sigmoid": ("sigmoid", ()),
    "tanh": ("tanh", ()),
    "gelu": ("gelu", ()),
    "gelu_erf": ("gelu", ()),
    "gelu_tanh": ("gelu", ()),
    "swish": ("swish", ("beta",)),
    "hard_swish": ("hard_swish", ()),
    "hard_sigmoid": ("hard_sigmoid", ("slope", "offset")),
    "mish": ("mish", ()),
    "abs": ("abs", ()),
    "sqrt": ("sqrt", ()),
    "exp": ("exp", ()),
    "clip": ("clip", ("min", "max")),
}


def result(type: str, attrs: dict[str, Any], slot: str = "Out", **ins: Spec) -> Spec:
    """The spec of what another operator gives."""
    out: Spec = lookup(type)(attrs).infer_outputs(ins)[slot]
    return out


class Activated(Op, abstract=True):
    """An operator with an activation behind it.

    fuse_activation: its name; "" for none.
    """

    lod: ClassVar[str | None] = None

    def activated(self, f: Any, x: Value, name: str, *constants: float) -> Value:
        """The activation of a value."""
        type, options = ACTIVATIONS[name]
        attrs: dict[str, Any] = dict(zip(options, constants))
        if name == "gelu_tanh":
            attrs["approximate"] = True
        return getattr(f, type)(x, **attrs) if type else x

    def need_activation(self, name: str) -> None:
        """Check that there is such an activation."""
        need_choice(self, name, *ACTIVATIONS)


class FusedElementwise(Activated, abstract=True):
    """An operator on pairs of elements, and an activation.

    axis: the dimension of the operand with more dimensions at which the other one starts; with -1
        their last dimensions meet.
    fuse_alpha, fuse_beta: constants of the activation.
    fused_output_scale: a factor behind it.
    fused_unsqueeze2_axes: new dimensions of size 1 behind that.
    scale_x, scale_y, scale_out: of numbers of 8 bits: 1.
    """

    signature = "X, Y -> Out"
    axis: int = -1
    fuse_activation: str = ""
    fuse_alpha: float = 0.0
    fuse_beta: float = 0.0
    fused_output_scale: float = 1.0
    fused_unsqueeze2_axes: list[int] = ()
    scale_x: float = attr(1.0, inert=True)
    scale_y: float = attr(1.0, inert=True)
    scale_out: float = attr(1.0, inert=True)

    @property
    def pair(self) -> str:
        """The operator on pairs."""
        return self.type.removeprefix("fused_")

    def infer(self, X: Spec, Y: Spec) -> Specs:
        self.need_activation("fuse_activation")
        out = result(self.pair, dict(axis=self.axis), X=X, Y=Y)
        return out.with_shape(self.wide(out.shape))

    def wide(self, shape: Any) -> Any:
        """A shape with the new dimensions."""
        sizes = list(shape)
        for axis in self.fused_unsqueeze2_axes:
            sizes.insert(axis if axis >= 0 else len(sizes) + 1 + axis, 1)
        return sizes

    def expand(self, f: Any, X: Value, Y: Value) -> Value:
        out = getattr(f, self.pair)(X, Y, axis=self.axis)
        out = self.activated(f, out, self.fuse_activation, self.fuse_alpha, self.fuse_beta)
        if self.fused_output_scale != 1.0:
            out = f.scale(out, scale=self.fused_output_scale)
        return f.reshape(out, shape=self.wide(out.shape)) if self.fused_unsqueeze2_axes else out


class fused_elementwise_add(FusedElementwise):
    """Out = an activation of X + Y."""


class fused_elementwise_sub(FusedElementwise):
    """Out = an activation of X - Y."""


class fused_elementwise_mul(FusedElementwise):
    """Out = an activation of X Y, element by element."""


class fused_elementwise_div(FusedElementwise):
    """Out = an activation of X / Y."""


class fused_elemwise_add_activation(fused_elemwise_activation):
    """Out = an activation of X + Y, or X plus an activation of Y."""


class fused_softplus(Activated):
    """Out = an activation of log(1 + exp(beta X)) / beta, and of X where beta X is large.

    beta: a factor.
    threshold: above which beta X is large.
    fuse_alpha, fuse_beta: constants of the activation.
    """

    signature = "X -> Out"
    beta: float = 1.0
    threshold: float = 20.0
    fuse_activation: str = ""
    fuse_alpha: float = 0.0
    fuse_beta: float = 0.0

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        self.need_activation("fuse_activation")
        return X

    def expand(self, f: Any, X: Value) -> Value:
        x = f.scale(X, scale=self.beta)
        large = f.greater_than(x, f.fill_any_like(x, value=self.threshold))
        out = f.where(large, X, f.softplus(x) * (1 / self.beta))
        return self.activated(f, out, self.fuse_activation, self.fuse_alpha, self.fuse_beta)


class FusedConvolution(Activated, abstract=True):
    """A convolution, plus Bias and ResidualData, and an activation.

    Input: images, or volumes.
    Filter: [filters, channels of a group, ...].
    Bias: a number for each filter.
    ResidualData: in the shape of Output.
    strides, paddings, dilations, groups, padding_algorithm, data_format: as of the convolution.
    """

    convolution: ClassVar[str] = "conv2d"
    groups: int = 1
    strides: list[int] = (1, 1)
    paddings: list[int] = (0, 0)
    padding_algorithm: str = "EXPLICIT"
    dilations: list[int] = (1, 1)
    data_format: str = "NCHW"

    def how(self) -> dict[str, Any]:
        """The attributes of the convolution."""
        names = ["strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format"]
        return {name: getattr(self, name) for name in names}

    def convolved(self, Input: Spec, Filter: Spec, Bias: Spec | None, ResidualData: Any) -> Spec:
        """The spec of Output."""
        same_float(Input=Input, Filter=Filter, Bias=Bias, ResidualData=ResidualData)
        return result(self.convolution, self.how(), "Output", Input=Input, Filter=Filter)

    def added(self, f: Any, Input: Value, Filter: Value, Bias: Any, ResidualData: Any) -> Value:
        """The sum that is activated."""
        out = getattr(f, self.convolution)(Input, Filter, **self.how())
        if Bias is not None:
            axis = 1 if self.how()["data_format"][1] == "C" else -1
            out = f.elementwise_add(out, f.reshape(Bias, shape=[prod(Bias.shape)]), axis=axis)
        return out if ResidualData is None else out + ResidualData


class fused_conv2d(FusedConvolution):
    """Output = an activation of a convolution of images, plus Bias and ResidualData.

    fuse_residual_connection: whether ResidualData counts.
    """

    signature = "Input, Filter, Bias?, ResidualData? -> Output"
    mkldnn_data_type: str = attr("float32", inert=True)
    fuse_activation: str = ""
    fuse_residual_connection: bool = False
    force_fp32_output: bool = attr(False, inert=True)
    use_mkldnn: bool = attr(True, inert=True)

    def infer(
        self, Input: Spec, Filter: Spec, Bias: Spec | None, ResidualData: Spec | None
    ) -> Specs:
        self.need_activation("fuse_activation")
        return self.convolved(Input, Filter, Bias, ResidualData)

    def expand(
        self, f: Any, Input: Value, Filter: Value, Bias: Value, ResidualData: Value
    ) -> Value:
        residual = ResidualData if self.fuse_residual_connection else None
        return self.activated(f, self.added(f, Input, Filter, Bias, residual), self.fuse_activation)


class fused_conv3d(fused_conv2d):
    """Output = an activation of a convolution of volumes, plus Bias and ResidualData."""

    convolution = "conv3d"


class fused_conv2d_add_act(FusedConvolution):
    """Output = an activation of a convolution of images, plus Bias and ResidualData.

    Outputs: parts of Output along its channels, where ``split_channels`` asks for them.
    activation: its name.
    split_channels: how many channels the parts have.
    fuse_alpha: a constant of the activation.
    """

    signature = "Input, Filter, Bias?, ResidualData? -> Output, Outputs*?"
    activation: str = "relu"
    split_channels: list[int] = ()
    exhaustive_search: bool = attr(False, inert=True)
    workspace_size_MB: int = attr(32, inert=True)
    fuse_alpha: float = 0.0

    def width(self, **given: Any) -> int:
        return len(self.split_channels)

    def infer(
        self, Input: Spec, Filter: Spec, Bias: Spec | None, ResidualData: Spec | None
    ) -> Specs:
        self.need_activation("activation")
        out = self.convolved(Input, Filter, Bias, ResidualData)
        return out, [out.with_dim(1, n) for n in self.split_channels] or None

    def expand(
        self, f: Any, Input: Value, Filter: Value, Bias: Value, ResidualData: Value
    ) -> Values:
        out = self.added(f, Input, Filter, Bias, ResidualData)
        out = self.activated(f, out, self.activation, self.fuse_alpha)
        if not self.split_channels:
            return out, None
        parts = f.split(out, sections=self.split_channels, axis=1)
        return out, parts if isinstance(parts, list) else [parts]


class fused_matmul(Activated):
    """Out = an activation of ``matmul_alpha`` X Y + ResidualData.

    ResidualData: in the shape of the product.
    trans_x, trans_y: swap the last two dimensions first.
    matmul_alpha: a factor.
    fuse_alpha, fuse_beta: constants of the activation.
    fused_output_scale: a factor behind it.
    fused_reshape_X, fused_reshape_Y: shapes that operands get first; 0 for a size that stays.
    fused_transpose_X, fused_transpose_Y: their orders of dimensions, next.
    fused_transpose_Out, fused_reshape_Out: the same of Out, the order first.
    """

    signature = "X, Y, ResidualData? -> Out"
    trans_x: bool = False
    trans_y: bool = False
    matmul_alpha: float = 1.0
    fuse_activation: str = ""
    fuse_alpha: float = 0.0
    fuse_beta: float = 0.0
    fused_output_scale: float = 1.0
    fused_reshape_X: list[int] = ()
    fused_transpose_X: list[int] = ()
    fused_reshape_Y: list[int] = ()
    fused_transpose_Y: list[int] = ()
    fused_reshape_Out: list[int] = ()
    fused_transpose_Out: list[int] = ()
    mkldnn_data_type: str = attr("float32", inert=True)
    Scale_x: float = attr(1.0, inert=True)
    Scale_y: float = attr(1.0, inert=True)
    Scale_in_eltwise: float = attr(0.0, inert=True)
    Scale_out: float = attr(1.0, inert=True)
    force_fp32_output: bool = attr(False, inert=True)

    def infer(self, X: Spec, Y: Spec, ResidualData: Spec | None) -> Specs:
        same_float(X=X, Y=Y, ResidualData=ResidualData)
        self.need_activation("fuse_activation")
        x, y = self.moved(X.shape, "X"), self.moved(Y.shape, "Y")
        swaps = dict(transpose_X=self.trans_x, transpose_Y=self.trans_y)
        out = result("matmul", swaps, X=X.with_shape(x), Y=Y.with_shape(y))
        order = self.fused_transpose_Out
        shape = tuple(out.shape[k] for k in order) if order else out.shape
        return out.with_shape(self.reshaped(shape, "Out"))

    def reshaped(self, shape: Any, name: str) -> Any:
        """A shape as an attribute changes it."""
        sizes = getattr(self, f"fused_reshape_{name}")
        return resolved(sizes, shape) if sizes else shape

    def moved(self, shape: Any, name: str) -> Any:
        """The shape of an operand as the product sees it."""
        shape, order = self.reshaped(shape, name), getattr(self, f"fused_transpose_{name}")
        return tuple(shape[k] for k in order) if order else shape

    def operand(self, f: Any, x: Value, name: str) -> Value:
        """An operand as the product sees it."""
        order = getattr(self, f"fused_transpose_{name}")
        if getattr(self, f"fused_reshape_{name}"):
            x = f.reshape(x, shape=self.reshaped(x.shape, name))
        return f.transpose(x, axis=order) if order else x

    def expand(self, f: Any, X: Value, Y: Value, ResidualData: Value | None) -> Value:
        swaps = dict(transpose_X=self.trans_x, transpose_Y=self.trans_y)
        x, y = self.operand(f, X, "X"), self.operand(f, Y, "Y")
        out = f.matmul(x, y, alpha=self.matmul_alpha, **swaps)
        out = out if ResidualData is None else f.elementwise_add(out, ResidualData)
        out = self.activated(f, out, self.fuse_activation, self.fuse_alpha, self.fuse_beta)
        if self.fused_output_scale != 1.0:
            out = f.scale(out, scale=self.fused_output_scale)
        if self.fused_transpose_Out:
            out = f.transpose(out, axis=self.fused_transpose_Out)
        if self.fused_reshape_Out:
            out = f.reshape(out, shape=self.reshaped(out.shape, "Out"))
        return out


class fused_transpose(Op):
    """Out = X with its dimensions in another order, some of size 1 taken out before and put in
    behind.

    XShape: not computed.
    axis: the order.
    fused_squeeze2_axes: dimensions of size 1 that are taken out first.
    fused_unsqueeze2_axes: new ones behind.
    fused_reshape2_shape: the shape at last; 0 for a size that stays.
    scale, shift: of numbers of 8 bits: 1 and 0.
    output_data_type: "" or fp32.
    """

    signature = "X -> Out, XShape?!~"
    lod: ClassVar[str | None] = None
    axis: list[int] = REQUIRED
    fused_squeeze2_axes: list[int] = ()
    fused_unsqueeze2_axes: list[int] = ()
    fused_reshape2_shape: list[int] = ()
    scale: float = attr(1.0, inert=True)
    shift: float = attr(0.0, inert=True)
    output_data_type: str = attr("", inert=True)

    def shapes(self, shape: Any) -> tuple[list[int], list[int]]:
        """Those before and behind the new order."""
        gone = {axis % len(shape) for axis in self.fused_squeeze2_axes}
        before = [n for k, n in enumerate(shape) if k not in gone]
        if sorted(self.axis) != list(range(len(before))):
            raise ShapeError(
                f"expected axis to order {len(before)} dimensions, got {list(self.axis)}"
            )
        after = [before[k] for k in self.axis]
        for new in self.fused_unsqueeze2_axes:
            after.insert(new if new >= 0 else len(after) + 1 + new, 1)
        wanted = self.fused_reshape2_shape
        return before, list(resolved(wanted, tuple(after))) if wanted else after

    def infer(self, X: Spec) -> Specs:
        return X.with_shape(self.shapes(X.shape)[1]), None

    def expand(self, f: Any, X: Value) -> Values:
        before, after = self.shapes(X.shape)
        moved = f.transpose(f.reshape(X, shape=before), axis=self.axis)
        return f.reshape(moved, shape=after), None


class fusion_transpose_flatten_concat(Op):
    """Out = all X with their dimensions in another order, flattened to matrices, joined.

    trans_axis: the order.
    flatten_axis: how many dimensions make the rows.
    concat_axis: 0 or 1: along which they are joined.
    """

    signature = "X* -> Out"
    lod: ClassVar[str | None] = None
    trans_axis: list[int] = REQUIRED
    flatten_axis: int = REQUIRED
    concat_axis: int = REQUIRED

    def infer(self, X: list[Spec]) -> Specs:
        same_float(**{f"X[{k}]": x for k, x in enumerate(X)})
        flat = [self.flattened([x.shape[k] for k in self.trans_axis]) for x in X]
        along = [sizes[self.concat_axis] for sizes in flat]
        out = list(flat[0])
        out[self.concat_axis] = -1 if -1 in along else sum(along)
        return X[0].with_shape(out)

    def flattened(self, shape: Any) -> list[int]:
        """Rows and columns of a shape."""
        parts = shape[: self.flatten_axis], shape[self.flatten_axis :]
        return [-1 if -1 in part else prod(part) for part in parts]

    def expand(self, f: Any, X: list[Value]) -> Value:
        moved = [f.transpose(x, axis=self.trans_axis) for x in X]
        rows = [f.reshape(x, shape=self.flattened(x.shape)) for x in moved]
        return f.concat(rows, axis=self.concat_axis)


class fused_bias_act(Activated):
    """out = an activation of x + bias.

    x: rows.
    bias: a number for each column.
    dequant_scales, shift, smooth: of numbers of 8 bits; absent.
    act_method: gelu, relu, ...; geglu and swiglu take the first half of the columns times the
        activation of it, and the second half as it is.
    compute_dtype: not read: that of x.
    quant_scale: not above 0: out is of floats.
    """

    signature = "x, bias?, dequant_scales?, shift?, smooth? -> out"
    act_method: str = "gelu"
    compute_dtype: str = attr("default", inert=True)
    quant_scale: float = -1.0
    quant_round_type: int = attr(1, inert=True)
    quant_max_bound: float = attr(127.0, inert=True)
    quant_min_bound: float = attr(-127.0, inert=True)

    @property
    def gate(self) -> str:
        """The activation of the first half of the columns; "" where there are no halves."""
        return {"geglu": "gelu", "swiglu": "swish"}.get(self.act_method, "")

    def infer(
        self,
        x: Spec,
        bias: Spec | None,
        dequant_scales: Spec | None,
        shift: Spec | None,
        smooth: Spec | None,
    ) -> Specs:
        same_float(x=x, bias=bias)
        if self.quant_scale > 0 or not (dequant_scales is shift is smooth is None):
            raise AttributeValueError("expected floats, got scales of numbers of 8 bits")
        if not self.gate:
            self.need_activation("act_method")
            return x
        half = x.shape[-1]
        return x.with_dim(x.ndim - 1, -1 if half == -1 else half // 2)

    def expand(self, f: Any, x: Value, bias: Value | None) -> Value:
        both = x if bias is None else f.elementwise_add(x, bias)
        if not self.gate:
            return self.activated(f, both, self.act_method)
        first, second = f.split(both, num=2, axis=len(x.shape) - 1)
        return self.activated(f, first, self.gate, 1.0) * second


class fused_dropout_add(Op):
    """out = x with dropout, plus y.

    seed_tensor, PTensor: not read.
    seed_offset: of random numbers; absent.
    p: the chance of an element of being set to 0.
    is_test: nothing is set to 0.
    mode: as ``dropout_implementation`` of ``dropout``.
    seed, fix_seed: the numbers are those of the seed, which training needs: a gradient draws them
        again.
    """

    signature = "x, y, seed_tensor?!, PTensor?! -> out, seed_offset?~"
    random: ClassVar[bool] = True
    p: float = REQUIRED
    is_test: bool = REQUIRED
    mode: str = REQUIRED
    seed: int = 0
    fix_seed: bool = False

    def infer(self, x: Spec, y: Spec, seed_tensor: Spec | None, PTensor: Spec | None) -> Specs:
        same_float(x=x, y=y)
        if self.p and not self.is_test and not self.fix_seed:
            raise AttributeValueError("expected fix_seed where elements are dropped, got False")
        return x, None

    def expand(self, f: Any, x: Value, y: Value) -> Values:
        dropped = f.dropout(
            x,
            dropout_prob=self.p,
            is_test=self.is_test,
            fix_seed=True,
            seed=self.seed,
            dropout_implementation=self.mode,
        )
        return dropped + y, None


class fused_scale_bias_add_relu(Op):
    """out = relu of x1 scale1 + bias1 and x2, or x2 scale2 + bias2.

    x1, x2: images with their channels last.
    scale1, bias1, scale2, bias2: a number for each channel.
    fuse_dual: whether x2 has a scale and a bias.
    """

    signature = "x1, scale1, bias1, x2, scale2?, bias2? -> out"
    lod: ClassVar[str | None] = None
    fuse_dual: bool = REQUIRED
    exhaustive_search: bool = attr(REQUIRED, inert=True)

    def infer(
        self, x1: Spec, scale1: Spec, bias1: Spec, x2: Spec, scale2: Spec | None, bias2: Spec | None
    ) -> Specs:
        same_float(x1=x1, scale1=scale1, bias1=bias1, x2=x2, scale2=scale2, bias2=bias2)
        if self.fuse_dual and (scale2 is None or bias2 is None):
            raise AttributeValueError("expected scale2 and bias2 where fuse_dual is True")
        return x1

    def expand(
        self,
        f: Any,
        x1: Value,
        scale1: Value,
        bias1: Value,
        x2: Value,
        scale2: Value | None,
        bias2: Value | None,
    ) -> Value:
        first = f.elementwise_add(f.elementwise_mul(x1, scale1), bias1)
        if self.fuse_dual:
            x2 = f.elementwise_add(f.elementwise_mul(x2, scale2), bias2)
        return f.relu(first + x2)


class batch_fc(Op):
    """Out = for each of several slots Input W + Bias.

    Input: [slots, N, in].
    W: [slots, in, K].
    Bias: [slots, K].
    """

    signature = "Input, W, Bias -> Out"
    lod: ClassVar[str | None] = None

    def infer(self, Input: Spec, W: Spec, Bias: Spec) -> Specs:
        same_float(Input=Input, W=W, Bias=Bias)
        need_ndim(2, Bias=Bias)
        return result("bmm", {}, X=Input, Y=W)

    def expand(self, f: Any, Input: Value, W: Value, Bias: Value) -> Value:
        slots, width = Bias.shape
        wide = f.reshape(Bias, shape=[slots, 1, width])
        return f.elementwise_add(f.bmm(Input, W), wide)
