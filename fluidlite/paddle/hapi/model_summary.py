"""``paddle.summary``: a layer that runs at once in a table, as paddle 2.6 prints it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from ...eager.mode import no_grad
from ...eager.recording import TensorRecord
from ...errors import ArgumentError
from ...functions.creation import rand
from ...ground.public_names import list_public_names
from ...model import InputSpec
from ...nn.layer import Layer
from .located import calls_of, net_in_tests, number_of, own_parameters
from .ways import listed

if TYPE_CHECKING:
    from ...functions.arguments import DTypeLike

__all__ = ["summary"]

#: sizes of an input, or of several; None or -1 counts as 1
Shape = int | InputSpec | Sequence[Any]

_WIDTHS = (15, 20, 20, 15)
_HEADS = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
_MEGABYTE = 1024.0**2


@dataclass(frozen=True)
class _Row:
    """A layer that was called."""

    name: str
    inputs: list[Any]  #: shapes
    output: list[Any]  #: a shape, or a list of them
    parameters: int
    trainable: int

    def cells(self) -> list[str]:
        """What the table says of it."""
        return [self.name, str(self.inputs), str(self.output), f"{self.parameters:,}"]


def summary(
    net: Layer,
    input_size: Shape | None = None,
    dtypes: DTypeLike | Sequence[DTypeLike] = None,
    input: Any = None,
) -> dict[str, int]:
    """Print the layers within a layer, the shapes of what they are given and give, and their
    parameters.

    Args:
        net: a layer that runs at once.
        input_size: the shape of its input as a tuple, or a list of several.
        dtypes: element types of the inputs; float32 when None.
        input: a tensor, or a dictionary of them, in place of shapes.

    Returns:
        the numbers of elements, ``total_params`` and ``trainable_params``.

    Raises:
        ArgumentError: an argument is of another kind, or neither shapes nor an input are given.

    >>> net = fluid.paddle.nn.Linear(4, 2)
    >>> fluid.paddle.summary(net, (1, 4))["total_params"]  # doctest: +ELLIPSIS
    ---...
    10
    """
    if not isinstance(net, Layer):
        raise ArgumentError(f"summary: expected a layer, got {net!r:.60}")
    if input is None and input_size is None:
        raise ArgumentError("summary: expected input_size or input, got neither")
    inputs = _inputs(input_size, dtypes) if input is None else [input]
    tensors = [each for one in inputs for each in listed(one)]
    with net_in_tests(net), no_grad():
        calls = calls_of(net, inputs)
    rows = []
    for layer, taken, output in calls:
        own = own_parameters(layer)
        rows.append(
            _Row(
                f"{type(layer).__name__}-{number_of(layer) + 1}",
                [None if each is None else _shape(each) for each in taken],
                _shape(output),
                sum(_count(each) for each in own),
                sum(_count(each) for each in own if not each.stop_gradient),
            )
        )
    print(_text(rows, sum(map(_elements, map(_shape, tensors)))))
    return {
        "total_params": sum(row.parameters for row in rows),
        "trainable_params": sum(row.trainable for row in rows),
    }


def _text(rows: Sequence[_Row], given: int) -> str:
    """The table, and what stands below."""
    cells = [row.cells() for row in rows]
    widths = [max(w, *(len(line[k]) for line in cells), 0) for k, w in enumerate(_WIDTHS)]
    rule = "-" * (sum(widths) + 5)
    lines = [
        rule,
        _line(_HEADS, widths),
        "=" * len(rule),
        *(_line(line, widths) for line in cells),
        "=" * len(rule),
    ]
    total = sum(row.parameters for row in rows)
    trainable = sum(row.trainable for row in rows)
    sizes = [
        given * 4 / _MEGABYTE,
        2 * 4 * sum(_elements(row.output) for row in rows) / _MEGABYTE,
        total * 4 / _MEGABYTE,
    ]
    names = ("Input", "Forward/backward pass", "Params")
    return "\n".join(
        [
            *lines,
            f"Total params: {total:,}",
            f"Trainable params: {trainable:,}",
            f"Non-trainable params: {total - trainable:,}",
            rule,
            *(f"{name} size (MB): {size:.2f}" for name, size in zip(names, sizes)),
            f"Estimated Total Size (MB): {sum(sizes):.2f}",
            rule,
            "",
        ]
    )


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    return " ".join(f"{cell:^{width}}" for cell, width in zip(cells, widths))


def _shape(value: Any) -> list[Any]:
    """The shape of a tensor; a list of shapes of several."""
    if isinstance(value, (list, tuple)):
        return [_shape(each) for each in value]
    return list(value.shape) if isinstance(value, TensorRecord) else []  # type: ignore[attr-defined]


def _elements(shape: Any) -> int:
    """How many elements a shape, or all of a list, have."""
    if isinstance(shape, list) and any(isinstance(each, list) for each in shape):
        return sum(map(_elements, shape))
    return prod(shape) if shape else 0


def _count(parameter: Any) -> int:
    return int(parameter.array.size)


def _inputs(input_size: Any, dtypes: Any) -> list[Any]:
    """Inputs of some shapes.

    Raises:
        ArgumentError: a size is none.
    """
    specs = _specs(input_size)
    listed = list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes] * len(specs)
    inputs = []
    for spec, dtype in zip(specs, listed, strict=True):
        if isinstance(spec, InputSpec):
            dtype = dtype or spec.dtype
            spec = spec.shape
        sizes = [spec] if isinstance(spec, int) else list(spec)
        for size in sizes:
            if size is not None and (not isinstance(size, int) or size == 0 or size < -1):
                raise ArgumentError(f"summary: expected sizes from 1 on, got {size!r} in {spec!r}")
        shape = [1 if size in (None, -1) else size for size in sizes]
        inputs.append(rand(shape, "float32").cast(dtype or "float32"))  # drawn, as paddle does
    return inputs


def _specs(input_size: Any) -> list[Any]:
    """Shapes as a list of them."""
    if isinstance(input_size, (int, InputSpec)):
        return [input_size]
    if isinstance(input_size, tuple) and all(
        size is None or not isinstance(size, (tuple, list, InputSpec)) for size in input_size
    ):
        return [input_size]
    return list(input_size)


list_public_names(globals())
