"""Several operators under one name, as passes and distributed programs of fluid 1.8 write them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Spec,
    agree,
    broadcast,
    need_float,
    need_integer,
    need_ndim,
    same_dtype,
    same_float,
    size_of,
)

BINARY = ("elementwise_add", "elementwise_mul")
UNARY = ("relu", "scale", "tanh", "sigmoid", "gelu")


class fused_elemwise_activation(Op):
    """Out = an operator of pairs after or before one of single elements.

    IntermediateOut: what the inner operator gives, where ``save_intermediate_out`` asks for it.
    axis: where the smaller operand is aligned, as in ``elementwise_add``.
    scale: of ``scale``.
    save_intermediate_out: whether IntermediateOut is there.
    functor_list: two operators, the outer one first; the inner one of single elements has Y.
    """

    signature = "X, Y -> Out, IntermediateOut~"
    fluid: ClassVar[FluidForm] = FluidForm(
        carried=("Out", "IntermediateOut"), unmade=("IntermediateOut@GRAD",)
    )
    axis: int = -1
    scale: float = 0.0
    save_intermediate_out: bool = False
    functor_list: list[str] = REQUIRED

    @staticmethod
    def gradient_attrs(attrs: Any) -> Mapping[str, Any]:
        names = [f"{name.removesuffix('_grad')}_grad" for name in attrs["functor_list"]]
        return {**attrs, "functor_list": names}

    @property
    def functors(self) -> list[str]:
        """The two operators, which a gradient operator names by their gradients."""
        return [name.removesuffix("_grad") for name in self.functor_list]

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_float(X=X, Y=Y)
        kinds = [name in BINARY for name in self.functors if name in (*BINARY, *UNARY)]
        if len(self.functors) != 2 or sorted(kinds) != [False, True]:
            raise AttributeValueError(
                f"expected functor_list of one of {', '.join(BINARY)} and one of "
                f"{', '.join(UNARY)}, got {list(self.functor_list)}"
            )
        out = X.with_shape(broadcast(X.shape, Y.shape, self.axis))
        if not self.save_intermediate_out:
            return out, None
        return out, Y if kinds[0] else out

    def expand(self, f: Any, X: Value, Y: Value) -> Values:
        def one(name, x):
            return f.scale(x, scale=self.scale) if name == "scale" else getattr(f, name)(x)

        def pair(name, y):
            return getattr(f, name)(X, y, axis=self.axis)

        outer, inner = self.functors
        within = one(inner, Y) if outer in BINARY else pair(inner, Y)
        out = pair(outer, within) if outer in BINARY else one(outer, within)
        return out, within if self.save_intermediate_out else None


class fusion_squared_mat_sub(Op):
    """Out = scalar * ((X Y)^2 - X^2 Y^2), squares being those of elements.

    SquaredX, SquaredY, SquaredXY: the squares of X, Y and their product.
    scalar: a factor.
    """

    signature = "X, Y -> SquaredX~, SquaredY~, SquaredXY~, Out"
    lod: ClassVar[str | None] = None
    scalar: float = 1.0

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_float(X=X, Y=Y)
        need_ndim(2, X=X, Y=Y)
        if not agree(X.shape[1], Y.shape[0]):
            raise ShapeError(
                f"expected as many columns in X as rows in Y, got X of shape {list(X.shape)} and "
                f"Y of shape {list(Y.shape)}"
            )
        out = X.with_shape([X.shape[0], Y.shape[1]])
        return X, Y, out, out

    def expand(self, f: Any, X: Value, Y: Value) -> Values:
        x, y, product = f.square(X), f.square(Y), f.square(f.matmul(X, Y))
        return x, y, product, f.scale(product - f.matmul(x, y), scale=self.scalar)


class fusion_repeated_fc_relu(Op):
    """Out = relu(... relu(X W[0] + Bias[0]) W[1] + Bias[1] ...).

    W: matrices.
    Bias: a vector for each.
    ReluOut: what all but the last give.
    """

    signature = "X, W*, Bias* -> ReluOut*~, Out"

    def width(self, X: Spec, W: Spec, Bias: Spec) -> Any:
        return len(W) - 1

    def infer(self, X: Spec, W: list[Spec], Bias: list[Spec]) -> Specs:
        need_float(X=X)
        need_ndim(2, X=X)
        if not W or len(W) != len(Bias):
            raise ShapeError(f"expected a Bias for each W, got {len(Bias)} and {len(W)}")
        hidden, width = [], X.shape[1]
        for k, (matrix, bias) in enumerate(zip(W, Bias)):
            same_dtype(X=X, **{f"W[{k}]": matrix, f"Bias[{k}]": bias})
            fits = matrix.ndim == 2 and agree(matrix.shape[0], width)
            if not fits or not agree(size_of(bias.shape), matrix.shape[1]):
                raise ShapeError(
                    f"expected W[{k}] of {width} rows and Bias[{k}] of as many elements as it has "
                    f"columns, got shapes {list(matrix.shape)} and {list(bias.shape)}"
                )
            width = matrix.shape[1]
            hidden.append(X.with_dim(1, width))
        return hidden[:-1], hidden[-1]

    def expand(self, f: Any, X: Value, W: list[Value], Bias: list[Value]) -> Values:
        hidden, x = [], X
        for matrix, bias in zip(W, Bias):
            bias = f.reshape(bias, shape=[math.prod(bias.shape)])
            x = f.relu(f.elementwise_add(f.matmul(x, matrix), bias, axis=1))
            hidden.append(x)
        return hidden[:-1], hidden[-1]


class coalesce_tensor(Op):
    """Output = Input, FusedOutput = all of its elements in a row.

    dtype: the element type of all of Input.
    copy_data: Output and FusedOutput have the values of Input.
    set_constant: they are ``constant`` everywhere instead; they are zeros where neither is asked.
    constant: the value.
    """

    signature = "Input* -> Output*, FusedOutput"
    lod: ClassVar[str | None] = None
    dtype: DType = REQUIRED
    copy_data: bool = False
    set_constant: bool = False
    constant: float = 0.0
    check_name: bool = attr(False, inert=True)
    align_size: int = attr(-1, inert=True, local=True)
    user_defined_size_of_dtype: int = attr(-1, inert=True, local=True)

    def width(self, Input: Spec) -> Any:
        return len(Input)

    def infer(self, Input: list[Spec]) -> Specs:
        if not Input:
            raise ShapeError("expected at least one Input, got none")
        for k, s in enumerate(Input):
            if s.dtype is not self.dtype:
                raise ShapeError(
                    f"expected Input[{k}] to be {self.dtype}, as dtype says; got {s.dtype}"
                )
        sizes = [size_of(s.shape) for s in Input]
        return list(Input), Input[0].with_shape([-1 if -1 in sizes else sum(sizes)])

    def run(self, xp: Any, Input: list[Array]) -> Arrays:
        if self.set_constant:
            Input = [xp.full(x.shape, self.constant, x.dtype) for x in Input]
        elif not self.copy_data:
            Input = [xp.zeros(x.shape, x.dtype) for x in Input]
        return list(Input), xp.concatenate([xp.reshape(x, -1) for x in Input])


class tdm_child(Op):
    """Child = the children of nodes of a tree, LeafMask = which of them are items.

    (Zhu et al., Learning tree-based deep model for recommender systems, KDD 2018.)

    X: nodes.
    TreeInfo: for each node its item, layer, parent and children, of which 0 is none: [nodes,
        3 + child_nums].
    Child: [..., child_nums]; zeros for a node without children.
    child_nums: how many children a node has at most.
    dtype: int32 or int64, that of Child and LeafMask.
    """

    signature = "X, TreeInfo -> Child, LeafMask"
    child_nums: int = REQUIRED
    dtype: DType = DType.INT32
    grad = None

    def infer(self, X: Spec, TreeInfo: Spec) -> Specs:
        need_integer(X=X, TreeInfo=TreeInfo)
        need_ndim(2, TreeInfo=TreeInfo)
        if self.child_nums < 1 or not agree(TreeInfo.shape[1], 3 + self.child_nums):
            raise ShapeError(
                f"expected TreeInfo of {3 + self.child_nums} columns, 3 and child_nums="
                f"{self.child_nums}; got shape {list(TreeInfo.shape)}"
            )
        out = X.with_shape([*X.shape, self.child_nums]).with_dtype(self.dtype)
        return out, out

    def run(self, xp: Any, X: Array, TreeInfo: Array) -> Arrays:
        nodes = xp.in_range(X, len(TreeInfo), "X")
        has = (nodes != 0) & (TreeInfo[nodes, 3] != 0)
        children = xp.where(has[..., None], TreeInfo[nodes, 3:], 0)
        items = TreeInfo[xp.in_range(children, len(TreeInfo), "a child"), 0] != 0
        dtype = self.dtype.dtype
        return children.astype(dtype), (items & has[..., None]).astype(dtype)


class tdm_sampler(Op):
    """Out = for each item, layer by layer of a tree, its node and others of the layer by chance.

    (Zhu et al., Learning tree-based deep model for recommender systems, KDD 2018.)

    X: numbers of items, [n, 1]: rows of Travel.
    Travel: for each item its node in each layer, 0 for none: [items, layers].
    Layer: the nodes, layer by layer: [nodes, 1].
    Out: [n, all samples]; zeros where an item has no node in a layer.
    Labels: 1 for the item's own nodes.
    Mask: 0 where an item has no node.
    output_positive: whether an item's own node comes first in each layer.
    neg_samples_num_list: how many other nodes are drawn in each layer, none of them twice.
    layer_offset_lod: where each layer begins in Layer, and where the last one ends.
    seed: what the draw depends on; 0 for the program's.
    dtype: int32 or int64, that of the outputs.
    """

    signature = "X, Travel, Layer -> Out, Labels?, Mask"
    random: ClassVar[bool] = True
    output_positive: bool = True
    neg_samples_num_list: list[int] = ()
    layer_offset_lod: list[int] = ()
    seed: int = 0
    dtype: DType = DType.INT32
    grad = None

    def infer(self, X: Spec, Travel: Spec, Layer: Spec) -> Specs:
        need_integer(X=X, Travel=Travel, Layer=Layer)
        need_ndim(2, Travel=Travel)
        counts, offsets = list(self.neg_samples_num_list), list(self.layer_offset_lod)
        sizes = [end - begin for begin, end in itertools.pairwise(offsets)]
        if len(sizes) != len(counts) or not counts or offsets[0] != 0 or min(sizes) < 1:
            raise AttributeValueError(
                f"expected layer_offset_lod of {len(counts) + 1} rising numbers from 0, one more "
                f"than neg_samples_num_list has; got {offsets} and {counts}"
            )
        if any(not 0 <= count < size for count, size in zip(counts, sizes)):
            raise AttributeValueError(
                f"expected neg_samples_num_list with fewer numbers than the layers have nodes, "
                f"{sizes}; got {counts}"
            )
        if not agree(Travel.shape[1], len(counts)) or not agree(size_of(Layer.shape), offsets[-1]):
            raise ShapeError(
                f"expected Travel of {len(counts)} columns and Layer of {offsets[-1]} nodes, got "
                f"shapes {list(Travel.shape)} and {list(Layer.shape)}"
            )
        width = sum(counts) + len(counts) * self.output_positive
        out = X.with_shape([size_of(X.shape), width]).with_dtype(self.dtype)
        return out, out, out

    def run(self, xp: Any, rng: Any, X: Array, Travel: Array, Layer: Array) -> Arrays:
        generator = rng(self.seed)
        items = xp.in_range(xp.reshape(X, -1), len(Travel), "X")
        nodes, own = xp.reshape(Layer, -1), Travel[items]
        offsets = self.layer_offset_lod
        samples, labels, masks = [], [], []
        for k, count in enumerate(self.neg_samples_num_list):
            layer = nodes[offsets[k] : offsets[k + 1]]
            order = generator.random((len(items), len(layer)))
            order[layer == own[:, k : k + 1]] = 2.0  # comes last, so that it is not drawn
            drawn = layer[xp.argsort(order, axis=1)[:, :count]]
            parts = [own[:, k : k + 1], drawn] if self.output_positive else [drawn]
            here = own[:, k : k + 1] != 0
            samples.append(xp.where(here, xp.concatenate(parts, axis=1), 0))
            mine = xp.arange(samples[-1].shape[1]) < int(self.output_positive)
            labels.append(here & mine)
            masks.append(xp.broadcast_to(here, samples[-1].shape))
        dtype = self.dtype.dtype
        return tuple(xp.concatenate(v, axis=1).astype(dtype) for v in (samples, labels, masks))
