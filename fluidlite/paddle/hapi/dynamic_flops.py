"""``paddle.flops``: multiplications and additions of a layer, as paddle 2.6 counts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from ... import nn
from ...eager.mode import no_grad
from ...eager.recording import TensorRecord
from ...functions.creation import randn
from ...ground.public_names import list_public_names
from ...ir.program import Program
from ...nn.layer import Layer
from .located import bordered, calls_of, net_in_tests, own_parameters
from .static_flops import static_flops

__all__ = ["flops"]

#: takes a layer, the tuple of what it is given, and what it gives
Count = Callable[[Any, Any, Any], Any]
#: the user's count adds to this attribute of the layer
_TOTAL = "total_ops"


def _nothing(layer: Any, given: Any, output: Any) -> int:
    return 0


def _convolution(layer: Any, given: Any, output: Any) -> int:
    inner = prod(layer.weight.shape[1:])
    return _size(output) * (inner + (layer.bias is not None))


def _transposed(layer: Any, given: Any, output: Any) -> int:
    inner = prod(layer.weight.shape) // output.shape[1]
    return _size(output) * (inner + (layer.bias is not None))


def _linear(layer: Any, given: Any, output: Any) -> int:
    return int(layer.weight.shape[0]) * _size(output)


def _leaky(layer: Any, given: Any, output: Any) -> int:
    return _size(given[0])


def _normalization(layer: Any, given: Any, output: Any) -> int:
    return 2 * _size(given[0])


def _pooling(layer: Any, given: Any, output: Any) -> int:
    return _size(output)


def _adaptive_pooling(layer: Any, given: Any, output: Any) -> int:
    windows = [n // m for n, m in zip(given[0].shape[2:], output.shape[2:])]
    return (prod(windows) + 1) * _size(output)


_COUNTS: dict[type, Count] = {
    getattr(nn, name): count
    for count, names in {
        _convolution: "Conv1D Conv2D Conv3D",
        _transposed: "Conv1DTranspose Conv2DTranspose Conv3DTranspose",
        _normalization: "BatchNorm BatchNorm2D",
        _nothing: "ReLU ReLU6 Dropout",
        _leaky: "LeakyReLU",
        _linear: "Linear",
        _pooling: "AvgPool1D AvgPool2D AvgPool3D",
        _adaptive_pooling: "AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D",
    }.items()
    for name in names.split()
}
#: the files of layers here -> in paddle
_FILES = {"dense": "common", "padding": "common", "resizing": "common", "running": "rnn"}


def flops(
    net: Layer | Program,
    input_size: Sequence[int],
    custom_ops: Mapping[type, Count] | None = None,
    print_detail: bool = False,
) -> int:
    """How many multiplications and additions the layers within a layer take.

    Args:
        net: a layer that runs at once; or a program, whose operators are counted.
        input_size: the shape of its input.
        custom_ops: a class of layers -> a function of a layer, of the tuple of what it is given,
            and of what it gives; it adds to the layer's ``total_ops``.
        print_detail: print a table of the layers, too.

    Returns:
        their number; -1 where ``net`` is no layer.

    >>> net = fluid.paddle.nn.Sequential(fluid.paddle.nn.Linear(4, 2))
    >>> fluid.paddle.flops(net, (3, 4))
    <class 'paddle.nn.layer.common.Linear'>'s flops has been counted
    Total Flops: 24     Total Params: 10
    24
    """
    if isinstance(net, Program):
        return static_flops(net, print_detail)
    if not isinstance(net, Layer):
        return -1
    tensor = randn([int(n) for n in input_size], "float32")  # drawn, as paddle does
    leaves = [layer for layer in net.sublayers() if not list(layer.children())]
    counts = _announced(leaves or [net], custom_ops or {})
    if not leaves:
        return _told([], print_detail)
    totals: dict[int, int] = {}

    def note(layer: Any, given: Any, output: Any) -> None:
        one = output[0] if isinstance(output, (list, tuple)) else output
        count = counts[type(layer)]
        totals[id(layer)] = totals.get(id(layer), 0) + count(layer, given, one)

    hooks = [layer.register_forward_post_hook(note) for layer in leaves]
    try:
        with net_in_tests(net), no_grad():
            calls = {id(layer): (given, out) for layer, given, out in calls_of(net, [tensor])}
    finally:
        for hook in hooks:
            hook.remove()
    rows = []
    for layer in leaves:
        if id(layer) in calls:
            taken, output = calls[id(layer)]
            one = output[0] if isinstance(output, (list, tuple)) else output
            size = sum(int(each.array.size) for each in own_parameters(layer))
            name = str(layer.full_name())
            rows.append((name, _shape(taken[0]), _shape(one), size, totals[id(layer)]))
    return _told(rows, print_detail)


def _announced(leaves: Sequence[Layer], custom: Mapping[type, Count]) -> dict[type, Count]:
    """How the layers of each class are counted, and print it."""
    counts: dict[type, Count] = {}
    for layer in leaves:
        kind = type(layer)
        if kind in counts:
            continue
        if kind in custom:
            counts[kind] = _users(custom[kind])
            print(f"Customize Function has been applied to {_named(kind)}")
        elif kind in _COUNTS:
            counts[kind] = _COUNTS[kind]
            print(f"{_named(kind)}'s flops has been counted")
        else:
            counts[kind] = _nothing
            print(
                f"Cannot find suitable count function for {_named(kind)}. Treat it as zero FLOPs."
            )
    return counts


def _users(function: Count) -> Count:
    """A count by a function of the user's."""

    def count(layer: Any, given: Any, output: Any) -> int:
        setattr(layer, _TOTAL, 0)
        function(layer, given, output)
        return int(vars(layer).pop(_TOTAL))

    return count


def _named(kind: type) -> str:
    """A class as paddle calls it."""
    package, _, rest = kind.__module__.partition(".nn.")
    if package != __name__.partition(".")[0]:
        return str(kind)
    return f"<class 'paddle.nn.layer.{_FILES.get(rest, rest)}.{kind.__name__}'>"


def _told(rows: Sequence[tuple[str, Any, Any, int, int]], print_detail: bool) -> int:
    """Print the table and the sums; the number of operations."""
    total = sum(row[-1] for row in rows)
    if print_detail:
        print(bordered(("Layer Name", "Input Shape", "Output Shape", "Params", "Flops"), rows))
    print(f"Total Flops: {total}     Total Params: {sum(row[-2] for row in rows)}")
    return total


def _size(value: Any) -> int:
    return prod(value.shape)


def _shape(value: Any) -> list[int]:
    return list(value.shape) if isinstance(value, TensorRecord) else []  # type: ignore[attr-defined]


list_public_names(globals())
