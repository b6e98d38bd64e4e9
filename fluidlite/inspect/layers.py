"""A layer that runs at once in a table: sublayers, output shapes, parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dygraph import Layer
from ..eager.mode import no_grad
from ..eager.recording import TensorRecord
from ..errors import ArgumentError
from ..functions.arguments import DTypeLike
from ..functions.creation import to_tensor
from ..ground.quoting import escaping
from ..ground.tracebacks import api_boundaries
from ..opdef.operand import Operands
from .stepping import table

#: the sizes of an input, or of several; None where one does not count
Shapes = int | Sequence[int | None] | Sequence[Sequence[int | None]]


@dataclass(frozen=True)
class LayerRow:
    """One layer."""

    name: str  #: where it is found
    kind: str  #: its class
    output: tuple[int, ...] | None  #: the shape of what it gave; None where it was not called
    parameters: int  #: elements of its own ones


@dataclass(frozen=True)
class LayerSummary:
    """What a layer consists of."""

    rows: tuple[LayerRow, ...]
    parameters: int  #: elements, each parameter once
    trainable: int  #: of which are trained

    @escaping
    def __str__(self) -> str:
        cells = [["layer", "class", "output", "parameters"]]
        for row in self.rows:
            shape = "" if row.output is None else f"{list(row.output)}"
            count = f"{row.parameters:,}" if row.parameters else ""
            cells.append([row.name, row.kind, shape, count])
        lines = table(cells)
        rule = "-" * max(map(len, lines))
        fixed = self.parameters - self.trainable
        last = f"parameters: {self.parameters:,}" + (f", {fixed:,} of them fixed" if fixed else "")
        return "\n".join([lines[0], rule, *lines[1:], rule, last])

    def __getitem__(self, name: str) -> int:
        """``total_params`` and ``trainable_params``, as paddle 2 calls them."""
        return {"total_params": self.parameters, "trainable_params": self.trainable}[name]


def summary(
    net: Layer,
    input_size: Shapes | None = None,
    dtypes: DTypeLike | Sequence[DTypeLike] = None,
    input: Operands | None = None,
) -> LayerSummary:
    """The sublayers of a layer, the shapes of what they give, and their parameters.

    Args:
        net: a layer that runs at once.
        input_size: the shape of its input, or several; None or -1 counts as 1.  Nothing is run
            when it and ``input`` are None.
        dtypes: element types of the inputs; float32 when None.
        input: a tensor or several, in place of shapes.

    Returns:
        a table, to be printed; ``["total_params"]`` is the number of elements.

    Raises:
        ArgumentError: it is no layer.

    >>> net = fluid.nn.Sequential(fluid.nn.Linear(4, 8), fluid.nn.ReLU(), fluid.nn.Linear(8, 1))
    >>> print(fluid.summary(net, (1, 4)))
    layer  class       output  parameters
    -------------------------------------
    0      Linear      [1, 8]  40
    1      ReLU        [1, 8]
    2      Linear      [1, 1]  9
           Sequential  [1, 1]
    -------------------------------------
    parameters: 49
    """
    if not isinstance(net, Layer):
        raise ArgumentError(f"expected a layer, got {net!r:.60} of type {type(net).__name__}")
    inputs = _inputs(input_size, dtypes, input)
    shapes: dict[int, tuple[int, ...]] = {}
    located = [(name.rstrip("."), layer) for name, layer in net.located_layers("", True)]
    if inputs:
        handles = [
            layer.register_forward_post_hook(
                lambda layer, given, out: shapes.setdefault(id(layer), _shape(out)) and None
            )
            for _, layer in located
        ]
        modes = [layer.training for _, layer in located]
        net.eval()
        try:
            with no_grad():
                net(*inputs)
        finally:
            for handle in handles:
                handle.remove()
            for (_, layer), mode in zip(located, modes):
                layer.training = mode
    rows = [
        LayerRow(name, type(layer).__name__, shapes.get(id(layer)), _elements(layer))
        for name, layer in [*located[1:], located[0]]
    ]
    parameters = list({id(p): p for p in net.parameters()}.values())
    return LayerSummary(
        tuple(rows),
        sum(int(p.array.size) for p in parameters),
        sum(int(p.array.size) for p in parameters if not p.stop_gradient),
    )


def _inputs(input_size: Any, dtypes: Any, given: Any) -> list[Any]:
    if given is not None:
        return list(given) if isinstance(given, (list, tuple)) else [given]
    if input_size is None:
        return []
    one = isinstance(input_size, int) or all(n is None or isinstance(n, int) for n in input_size)
    sizes = [input_size] if one else list(input_size)
    listed = list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes] * len(sizes)
    shapes = [[n] if isinstance(n, int) else list(n) for n in sizes]
    return [
        to_tensor(np.zeros([1 if n in (None, -1) else n for n in shape], dtype or "float32"))
        for shape, dtype in zip(shapes, listed, strict=True)
    ]


def _shape(out: Any) -> tuple[int, ...]:
    first = out[0] if isinstance(out, (list, tuple)) else out
    return tuple(first.array.shape) if isinstance(first, TensorRecord) else ()


def _elements(layer: Layer) -> int:
    return sum(int(p.array.size) for p in layer.own_parameters.values() if p is not None)


api_boundaries(globals())
