"""Layers that build programs, where paddle 2.6 has other arguments than fluid 1.8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ... import layers
from ...errors import ArgumentError
from ...ground.missing_names import PARAMETER_SERVERS
from ...ground.public_names import list_public_names
from ...ground.refusing import refusing
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ...ir.variable import Variable
from ...nn import functional

_SPELLED = Spelling({"input": "x", "param_attr": "weight_attr", "act": "activation"})
fc: Callable[..., Variable] = _SPELLED(
    layers.fc,
    "fc",
    """A fully connected layer: the sum of the inputs times their weights, plus a bias.

    >>> from fluidlite import paddle
    >>> paddle.static.nn.fc(paddle.static.data("x", [None, 4]), 3, activation="relu").shape
    (-1, 3)
    """,
)


def prelu(
    x: Variable,
    mode: str,
    param_attr: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """``x`` where it is positive, and a learned multiple of it elsewhere.

    Args:
        x: a variable.
        mode: ``"all"`` for one factor, ``"channel"`` for one a channel, ``"element"`` for one an
            element.
        param_attr: options of the factors.
        data_format: ``"NCHW"``, or ``"NHWC"`` for channels in the last dimension.
        name: of the layer.
    """
    if data_format.endswith("C") and mode == "channel":
        last = len(x.shape) - 1
        moved = layers.transpose(x, [0, last, *range(1, last)])
        made = layers.prelu(moved, mode, param_attr, name)
        return layers.transpose(made, [0, *range(2, last + 1), 1])
    return layers.prelu(x, mode, param_attr, name)


def instance_norm(
    input: Variable,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Variable:
    """Normalisation of each channel of each sample.

    Args:
        input: [N, C, ...].
        epsilon: keeps the square root away from 0.
        param_attr, bias_attr: options of a scale and a shift, which are there when both are given.
        name: of the layer.

    Raises:
        ArgumentError: ``param_attr`` alone is False.
    """
    if param_attr is False and bias_attr is not False:
        raise ArgumentError("expected param_attr and bias_attr to be False together")
    if param_attr and bias_attr:
        return layers.instance_norm(input, epsilon, param_attr, bias_attr, name)
    normed: Any = functional.instance_norm(input, eps=epsilon)  # type: ignore[arg-type]
    return normed


deform_conv2d: Callable[..., Variable] = Spelling(
    {"input": "x", "param_attr": "weight_attr"}, types={"int | None": "int"}
)(
    layers.deformable_conv,
    "deform_conv2d",
    "A convolution whose filters' elements are moved, and weighted, at each position.",
    fixed={"modulated": None},
    defaults={"groups": 1, "deformable_groups": 1, "im2col_step": 1},
)
sparse_embedding: Final = refusing(
    "sparse_embedding(input: Variable, size: Sequence[int], padding_idx: int | None = None, "
    "is_test: bool = False, entry: object = None, table_class: str = 'MemorySparseTable', "
    "param_attr: Any = None, dtype: str = 'float32', slot: object = None)",
    "Not there: its table lies in processes that keep parameters.",
    "sparse_embedding: no process keeps parameters; use paddle.static.nn.embedding with "
    f"is_sparse=True, or {PARAMETER_SERVERS}",
)


def _chosen(result: Any, return_names: Sequence[str] | None = None) -> Any:
    """What the function gives.

    Args:
        result: what the call gave.
        return_names: accepted.
    """
    return result


cond: Callable[..., Any] = Spelling({})(
    layers.cond, order="pred, true_fn, false_fn, name, return_names", then=_chosen
)

list_public_names(globals())
api_boundaries(globals())
