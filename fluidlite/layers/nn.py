"""Layers with weights of their own, and those without a better place: dropout, maxout."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, DTypeError, ShapeError
from ..ground.callsite import warn
from ..initializer import Constant
from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, is_variable, layer, stopped, variables_of
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer
from .sizes import integer

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike
    from ..param_attr import Attr

#: tables of weights whose rows are looked up
EMBEDDING = LAYERS.extended(
    {
        "size": "[number of ids, width of a row].",
        "is_sparse": "the gradient of the table holds the selected rows only.",
        "is_distributed": "accepted, without meaning here.",
        "padding_idx": "the id whose row is 0 and gets no gradient; negative ones count from the "
        "end.",
        "param_attr": "of the table.",
        "dtype": "element type of the table.",
    },
    raises="ArgumentError: ``size`` is no pair, or ``padding_idx`` lies outside of the table.",
)


@layer(act=True)
def fc(
    f: LayerBuilder,
    input: Variable | Sequence[Variable],
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Attr = None,
    bias_attr: Attr = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """The sum of inputs times weights, plus a bias: a fully connected layer.

    Args:
        input: a variable, or a list of them with a weight each.
        size: how many outputs there are for each row of the input.
        num_flatten_dims: so many first dimensions of the input are its rows, the others are
            flattened to one; negative ones count from the end.
        param_attr: of the weight; a list where there are several inputs.

    Returns:
        A variable of the first ``num_flatten_dims`` sizes of the input, then ``size``.

    Raises:
        DTypeError: an input is not float.
        ShapeError: a size that is to be flattened is unknown, or there is none.

    >>> x = fluid.data("x", [None, 13])
    >>> fluid.layers.fc(x, size=10, act="relu").shape
    (-1, 10)
    """
    inputs = variables_of(input, "input")
    size = integer(size, "size")
    if size < 1:
        raise ArgumentError(f"expected size to be a positive integer, got {size}")
    num_flatten_dims = integer(num_flatten_dims, "num_flatten_dims")
    parts = []
    for x, attr in zip(inputs, _one_each(param_attr, len(inputs))):
        if not x.dtype.is_float:
            raise DTypeError(
                f"expected {x.name!r} to be float32 or float64 like its weight, got {x.dtype}; "
                f"cast it, or look ids up: layers.embedding"
            )
        rows = num_flatten_dims + x.ndim if num_flatten_dims < 0 else num_flatten_dims
        columns = x.shape[rows:]
        if -1 in columns:
            raise ShapeError(
                f"expected the sizes of {x.name!r} from dimension {rows} on to be known, since "
                f"there is a weight for each element; got shape {list(x.shape)}; reshape it, or "
                f"change num_flatten_dims={num_flatten_dims}"
            )
        weight = f.weight(attr, [prod(columns), size], x.dtype)
        parts.append(f.mul(x, weight, x_num_col_dims=rows, y_num_col_dims=1))
    total = parts[0] if len(parts) == 1 else f.sum(parts)
    return f.bias(total, bias_attr, [size], axis=rows)


def _one_each(param_attr: Any, count: int) -> list[Any]:
    if not isinstance(param_attr, (list, tuple)):
        return [param_attr] * count
    attrs = list(param_attr)
    if len(attrs) == 1:
        attrs = attrs * count
    if len(attrs) != count:
        raise ArgumentError(f"expected one param_attr for each of {count} inputs, got {len(attrs)}")
    return attrs


@OperatorLayers(EMBEDDING).signature(
    """
    embedding(input: Ids, size: Sequence[int], is_sparse, is_distributed,
        padding_idx: int | None, param_attr, dtype: DTypeLike = "float32") -> lookup_table
    """,
    stem="embedding",
)
def embedding(f: LayerBuilder, call: LayerCall) -> Variable:
    """The rows of a table of weights that ids select.

    ``fluid.embedding`` is the same without the last dimension of 1.

    Args:
        input: ids with 1 as last size, int64.

    Returns:
        A variable of the shape of ``input``, with the width in place of the last 1.

    >>> ids = fluid.data("ids", [None, 1], "int64")
    >>> fluid.layers.embedding(ids, size=[1000, 64]).shape
    (-1, 64)
    """
    table = new_table(f, call.size, call.param_attr, call.dtype)
    padding = padding_row(call.padding_idx, int(call.size[0]))
    return f.lookup_table(
        table, call.input, **call.attrs, remote_prefetch=False, padding_idx=padding
    )


def new_table(
    f: LayerBuilder, size: Sequence[int], param_attr: Attr, dtype: DTypeLike
) -> Variable | None:
    """A table whose rows ids select.

    Args:
        f: the layer.
        size, param_attr, dtype: as of ``embedding``.
    """
    if not hasattr(size, "__len__") or len(size) != 2:
        raise ArgumentError(f"expected size=[number of ids, width of a row], got {size!r}")
    return f.weight(param_attr, size, dtype)


def padding_row(padding_idx: int | None, rows: int) -> int:
    """The id whose row is zeros, counted from the first row; -1 for none.

    Args:
        padding_idx: the id; may count from the end.  One that no row has pads nothing, as in fluid
            1.8, with a warning.
        rows: how many there are.
    """
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        warn(
            f"expected padding_idx in [{-rows}, {rows}), got {padding_idx}: nothing is padded", None
        )
        return -1
    return padding_idx + rows if padding_idx < 0 else padding_idx


one_hot: Layer = operator_layer(
    """
    one_hot(input: X, depth: depth | depth_tensor = ..., allow_out_of_range)

    A vector with a 1 at the place of each id and 0 elsewhere.

    ``fluid.one_hot`` is the same without the last dimension of 1.

    >>> fluid.layers.one_hot(fluid.data("ids", [None, 1], "int64"), depth=5).shape
    (-1, 5)
    """,
    is_stopped=True,
)


def depth_of(depth: int | Variable) -> dict[str, Any]:
    """``depth`` as the attribute of the one-hot operators, or as their input."""
    if is_variable(depth):
        return {"depth_tensor": stopped(depth)}
    return {"depth": depth}


@operator_layer.signature("""
    dropout(x, dropout_prob: float, is_test: bool = False, seed: int | None = None, name,
        dropout_implementation: str = "downgrade_in_infer")
""")
def dropout(f: LayerBuilder, call: LayerCall) -> Variable:
    """``x`` with each element set to 0 with probability ``dropout_prob``.

    Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, JMLR 2014.

    Args:
        x: a float variable.
        dropout_prob: the probability, from 0 to 1.
        is_test: set nothing to 0; give the expectation of what training gives.
        seed: fixes the random numbers of every run; the program's ``random_seed`` when None.
        dropout_implementation: "downgrade_in_infer": the rest stays, and in a test all is
            multiplied by ``1 - dropout_prob``.  "upscale_in_train": the rest is divided by
            ``1 - dropout_prob``, and in a test all stays.

    Returns:
        A variable of the shape of ``x``.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.dropout(x, dropout_prob=0.5).shape
    (-1, 4)
    """
    seed = call.seed or f.block.program.random_seed or call.seed
    outs = f.dropout.all(
        call.x,
        dropout_prob=call.dropout_prob,
        is_test=call.is_test or f.is_tested,
        fix_seed=seed is not None,
        seed=seed or 0,
        dropout_implementation=call.dropout_implementation,
    )
    if outs["Mask"] is not None:  # at once, there is none when testing
        stopped(outs["Mask"])
    out: Variable = outs["Out"]
    return out


@layer
def prelu(
    f: LayerBuilder, x: Variable, mode: str, param_attr: Attr = None, name: str | None = None
) -> Variable:
    """``x`` where it is positive, else a learned slope times ``x``.

    He et al., Delving deep into rectifiers, ICCV 2015.

    Args:
        x: a float variable.
        mode: "all": one slope; "channel": one for each index of dimension 1; "element": one for
            each element of a row.
        param_attr: of the slopes, which start at 0.25.

    Returns:
        A variable of the shape of ``x``.

    Raises:
        ArgumentError: ``mode`` is none of the three, or "channel" where there are no channels.

    >>> fluid.layers.prelu(fluid.data("x", [None, 3, 8, 8]), mode="channel").shape
    (-1, 3, 8, 8)
    """
    if mode not in ("all", "channel", "element"):
        raise ArgumentError(f"expected mode 'all', 'channel' or 'element', got {mode!r}")
    if mode == "channel" and x.ndim < 2:
        raise ArgumentError(
            f"mode 'channel' takes an input with channels in dimension 1, got {x.name!r} of shape "
            f"{list(x.shape)}"
        )
    shape = [1]
    if mode == "channel":
        shape = [1, x.shape[1], 1, 1]
    elif mode == "element":
        shape = [1, *x.shape[1:]]
    slopes = f.weight(param_attr, shape, x.dtype, Constant(0.25))
    return f.prelu(x, slopes, mode=mode)


maxout: Layer = operator_layer("""
    maxout(x, groups, name, axis)

    >>> fluid.layers.maxout(fluid.data("x", [None, 6, 8, 8]), groups=2).shape
    (-1, 3, 8, 8)
""")
