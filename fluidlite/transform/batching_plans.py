"""How operators are batched: plans for the whole batch, and what others do the same."""

from __future__ import annotations

from math import prod
from typing import Any

from ..opdef.definition import lookup
from ..ops.reduce import Reduce
from .batched_whole import Planner, WholePlan, changed
from .batching import Batching, Values, flat


def shifted(axis: int, by: int = 1) -> int:
    """A dimension behind new first ones."""
    return axis + by if axis >= 0 else axis


def same(op: Any, ins: Values) -> WholePlan:
    """The operator as it is."""
    return WholePlan()


def along(*names: str) -> Planner:
    """The operator along the same dimensions, which the attributes of these names count."""

    def plan(op: Any, ins: Values) -> WholePlan:
        values = {name: getattr(op, op.attributes[name].field) for name in names}
        return WholePlan(
            {
                name: shifted(value) if isinstance(value, int) else [shifted(v) for v in value]
                for name, value in values.items()
            }
        )

    return plan


# -- pairs of elements -----------------------------------------------------------------------------


def of_pairs(op: Any, ins: Values) -> WholePlan | None:
    """Elements that meet in one example meet in the batch."""
    x, y = ins.get("X"), ins.get("Y")
    if x is None or y is None:
        return None
    axis, full = getattr(op, "axis", -1), max(x.ndim, y.ndim)
    shared = frozenset(["X", "Y"])
    low, short = ("X", x) if x.ndim < y.ndim else ("Y", y)
    if x.ndim == y.ndim:
        return WholePlan({"axis": -1} if axis != -1 else {}, shared=shared)
    lead = full - short.ndim if axis == -1 else axis
    behind = full - lead - short.ndim
    if behind < 0:
        return None
    if not short.is_batched:
        return WholePlan(
            {"axis": lead + 1} if behind else {"axis": -1} if axis != -1 else {}, shared=shared
        )
    places = [*range(1, lead + 1), *range(lead + 1 + short.ndim, full + 1)]
    return WholePlan({"axis": -1} if axis != -1 else {}, {low: places}, shared=shared)


# -- reductions ------------------------------------------------------------------------------------


def reduction(op: Any, ins: Values) -> WholePlan | None:
    """The same dimensions of each example are reduced."""
    x = ins.get("X")
    if x is None or not isinstance(op, Reduce):
        return None
    dims = op.axes(x.ndim)
    if not x.ndim or not dims:
        return None
    if len(dims) == x.ndim and not op.keep_dim and not op.zero_d:  # leaves a dimension of 1
        return WholePlan({"dim": [d + 2 for d in dims], "reduce_all": False}, {"X": [1]})
    return WholePlan({"dim": [d + 1 for d in dims], "reduce_all": False})


def of_all(op: Any, ins: Values) -> dict[str, Any]:
    """The attributes of a reduction of all dimensions."""
    return {"reduce_all": True}


# -- shapes ----------------------------------------------------------------------------------------


def reshaped(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Each example in another shape: a 0 there copies the size one further behind, as it should."""
    if ins.get("Shape") is not None or ins.get("ShapeTensor"):
        return None
    if 0 in ins["X"].shape and f.size == -1:  # a 0 is a size there
        return None
    shape = [0 if f.size == -1 else f.size, *op.shape]
    return f.plain(changed(op, {"shape": shape}), {"X": f.batched(ins["X"])}, None, 0)


def flattened(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Each example as a matrix."""
    x = ins["X"]
    rows, columns = x.shape[: op.axis], x.shape[op.axis :]
    if -1 not in rows:
        sizes = [prod(rows), -1] if -1 in columns else [prod(rows), prod(columns)]
    elif -1 not in columns:
        sizes = [-1, prod(columns)]
    else:
        return None
    outs = f.reshape2.all(x, shape=sizes)
    return outs if "XShape" in op.output_slots else {"Out": outs["Out"]}


def transposed(op: Any, ins: Values) -> WholePlan:
    """The dimensions of each example in another order."""
    return WholePlan({"axis": [0, *(d + 1 for d in op.order)]})


def squeezed(op: Any, ins: Values) -> WholePlan | None:
    """Each example without dimensions of 1."""
    if op.axes:
        return along("axes")(op, ins)
    x = ins.get("X")
    if x is None or -1 in x.shape:
        return None
    axes = [d + 1 for d, n in enumerate(x.shape) if n == 1]
    return WholePlan({"axes": axes}) if axes else None


def sliced(op: Any, ins: Values) -> WholePlan | None:
    """The same part of each example."""
    x = ins.get("Input")
    if x is None:
        return None
    whole = bool(op.decrease_axis) and len(set(op.decrease_axis)) == x.ndim
    by = 2 if whole and not op.zero_d else 1  # leaves a dimension of 1
    attrs = {
        name: [shifted(d, by) for d in getattr(op, name)] for name in ("axes", "decrease_axis")
    }
    return WholePlan(attrs, {"Input": [1]} if by == 2 else {})


def repeated(op: Any, ins: Values) -> WholePlan:
    """The same repetitions of each example."""
    return WholePlan({"expand_times": [1, *op.expand_times]})


def padded(op: Any, ins: Values) -> WholePlan:
    """The same border around each example."""
    return WholePlan({"paddings": [0, 0, *op.paddings]})


def rolled(op: Any, ins: Values) -> WholePlan | None:
    """Each example rolled along the same dimensions."""
    return along("dims")(op, ins) if op.dims and not op.axis else None


def sizes(f: Batching, op: Any, ins: Values) -> dict[str, Any]:
    """The shape of an example, which all share."""
    shape = f.parent.shape(f.front(ins["Input"]))
    ndim = ins["Input"].ndim
    return {"Out": f.value(f.parent.slice(shape, axes=[0], starts=[1], ends=[ndim + 1]))}


def ranked_alike(op: Any, ins: Values) -> WholePlan | None:
    """The operator as it is, where all inputs have as many dimensions."""
    return WholePlan() if len({value.ndim for value in flat(ins)}) < 2 else None


# -- products --------------------------------------------------------------------------------------


def multiplied(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Products of stacks of matrices; vectors become matrices first."""
    x, y = ins["X"], ins["Y"]
    if op.head_number > 1 or min(x.ndim, y.ndim) < 2:
        return None
    if not y.is_batched and y.ndim == 2 and not op.transpose_X and op.alpha == 1.0:
        right = f.parent.transpose(y.variable, axis=[1, 0]) if op.transpose_Y else y.variable
        out = f.parent.mul(f.front(x), right, x_num_col_dims=x.ndim, y_num_col_dims=1)
        return {"Out": f.value(out, 0)}
    ndim = max(x.ndim, y.ndim)
    raw = {}
    for slot, value in (("X", x), ("Y", y)):
        raw[slot] = value
        if value.is_batched and value.ndim < ndim:
            places = list(range(1, ndim - value.ndim + 1))
            raw[slot] = f.value(f.parent.unsqueeze(f.front(value), axes=places), 0)
    return f.plain(op, raw, None, 0)


def rows_times(op: Any, ins: Values) -> WholePlan | None:
    """Rows of all examples times a matrix that they share."""
    x, y = ins.get("X"), ins.get("Y")
    if x is None or y is None or y.is_batched:
        return None
    return WholePlan({"x_num_col_dims": op.x_num_col_dims + 1}, shared=frozenset(["Y"]))


def matrices(op: Any, ins: Values) -> dict[str, Any] | None:
    """Nothing, where the operator is a product of matrices as they are."""
    values = ins.get("X"), ins.get("Y")
    ndim = {value.ndim for value in values if value is not None}
    flat = getattr(op, "x_num_col_dims", 1) == getattr(op, "y_num_col_dims", 1) == 1
    return {} if flat and ndim <= {2, 3} and (op.type == "bmm" or ndim == {2}) else None


def flattened_product(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """The product of the matrices that each example's values are flattened to."""
    x, y, rows, columns = ins["X"], ins["Y"], op.x_num_col_dims, op.y_num_col_dims
    if any(-1 in value.shape for value in (x, y)):
        return None
    left = f.reshape(x, shape=[prod(x.shape[:rows]), prod(x.shape[rows:])])
    right = f.reshape(y, shape=[prod(y.shape[:columns]), prod(y.shape[columns:])])
    return {"Out": f.reshape(f.matmul(left, right), shape=[*x.shape[:rows], *y.shape[columns:]])}


def stacks(op: Any, ins: Values) -> WholePlan | None:
    """Products of stacks of matrices, one stack an example."""
    x, y = ins.get("X"), ins.get("Y")
    if x is None or y is None or not x.ndim == y.ndim >= 2 or op.head_number > 1:
        return None
    return WholePlan() if x.is_batched and y.is_batched else None


def inner_products(f: Batching, op: Any, ins: Values) -> dict[str, Any]:
    """Products of pairs of elements, added up."""
    return {"Out": f.reduce_sum(ins["X"] * ins["Y"], dim=[-1], keep_dim=True)}


# -- rows and losses -------------------------------------------------------------------------------


def in_tests(op: Any, ins: Values) -> bool:
    """Whether statistics are the same for all examples."""
    return not op.by_batch


def as_many_rows(op: Any, ins: Values) -> bool:
    """Whether X and Y have as many rows."""
    x, y = ins.get("X"), ins.get("Y")
    return x is None or y is None or x.shape[0] == y.shape[0]


def over_last(op: Any, ins: Values) -> WholePlan | None:
    """The operator as it is, where the classes are not the only dimension."""
    x = ins.get("X")
    return WholePlan() if x is None or x.ndim > 1 else None


def each_for_itself(op: Any, ins: Values) -> WholePlan | None:
    """The operator as it is, where nothing is added up."""
    return (
        None
        if getattr(op, "normalize", False) or getattr(op, "reduction", "none") != "none"
        else WholePlan()
    )


def clipped(f: Batching, op: Any, ins: Values) -> dict[str, Any]:
    """Each example with a norm that is not above a bound."""
    x = ins["X"]
    norm = f.sqrt(f.reduce_sum(f.square(x), reduce_all=True))
    most = f.fill_any_like(norm, value=op.max_norm)
    share = f.elementwise_div(most, f.elementwise_max(norm, most))
    return {"Out": f.elementwise_mul(x, share)}


def square_norm(f: Batching, op: Any, ins: Values) -> dict[str, Any]:
    """The sum of the squares of each example."""
    return {"Out": f.reduce_sum(f.square(ins["X"]), reduce_all=True)}


def absolute_norm(f: Batching, op: Any, ins: Values) -> dict[str, Any]:
    """The sum of the absolute values of each example."""
    return {"Out": f.reduce_sum(f.abs(ins["X"]), reduce_all=True)}


def asked(f: Batching, op: Any, ins: Values) -> dict[str, Any]:
    """A question about each element of an example, and what that means for all of them."""
    each = getattr(f, f"{op.type}_v2")(ins["X"])
    together = f.reduce_all if op.type == "isfinite" else f.reduce_any
    return {"Out": together(each, reduce_all=True)}


def scaled(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Normal samples, scaled and shifted as each example says."""
    x, scale, bias = ins["X"], ins.get("Scale"), ins.get("Bias")
    if -1 in x.shape or scale is None or bias is None:
        return None
    attrs = {"epsilon": op.epsilon, "begin_norm_axis": op.begin_norm_axis}
    outs = f.layer_norm.all(x, **attrs)
    sample = list(x.shape[op.begin_norm_axis :])
    scale, bias = (f.reshape(value, shape=sample) for value in (scale, bias))
    return {**outs, "Y": outs["Y"] * scale + bias}


def scaled_in_tests(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Channels by the statistics of each example."""
    x, mean, variance = ins["X"], ins["Mean"], ins["Variance"]
    if op.by_batch:
        return None
    axis = op.axis(x.ndim)
    inverse = f.rsqrt(variance + op.epsilon)
    factor = inverse * ins["Scale"]
    y = f.elementwise_mul(f.elementwise_sub(x, mean, axis=axis), factor, axis=axis)
    found = {"Y": f.elementwise_add(y, ins["Bias"], axis=axis), "MeanOut": mean}
    return {**found, "VarianceOut": variance, "SavedMean": mean, "SavedVariance": inverse}


def filled_like(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """A tensor that all examples share, one of whose sizes is that of an example."""
    at = op.input_dim_idx
    like = f.front(ins["Input"])
    same = changed(op, {"input_dim_idx": shifted(at)})
    return {"Out": f.value(f.parent.apply(same, {"Input": like})["Out"])}


def stepped(f: Batching, op: Any, ins: Values) -> dict[str, Any]:
    """The number of each example, and a step."""
    return {"Out": f.scale(ins["X"], scale=1.0, bias=op.step)}


def drawn(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Numbers that are drawn for each example."""
    if any(True for _ in flat(ins)) or getattr(op, "diag_num", False):
        return None
    if f.size != -1:
        shape = [f.size, *op.shape]
        outs = f.parent.apply(changed(op, {"shape": shape}), {})
        return {"Out": f.value(outs["Out"], 0)}
    like = f"{op.type}_batch_size_like"
    if f.like is None or op.type not in ("uniform_random", "gaussian_random"):
        return None
    attrs = {**op.attr_values(), "shape": [-1, *op.shape]}
    outs = f.parent.apply(lookup(like)(attrs), {"Input": f.like})
    return {"Out": f.value(outs["Out"], 0)}
