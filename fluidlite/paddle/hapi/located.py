"""The layers within a layer as tables list them: which count as one, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...eager.recurrence import StackedCells
from ...nn.containers import LayerList, Sequential
from ...nn.layer import Layer

#: buffers that are parameters in paddle: those of normalizations
_STATISTICS = ("_mean", "_variance")


def own_parameters(layer: Any) -> list[Any]:
    """The parameters of a layer, and those of others that have no line of their own.  The
    statistics of a normalization are among them, as in paddle.

    Args:
        layer: the layer.
    """
    if _is_recurrent(layer):
        return list(layer.parameters())
    own = [each for each in layer.own_parameters.values() if each is not None]
    return own + [each for name, each in layer.named_buffers() if name in _STATISTICS]


def number_of(layer: Any) -> int:
    """The number in a layer's name."""
    tail = str(layer.full_name()).rpartition("_")[2]
    return int(tail) if tail.isdigit() else 0


def within(layer: Layer) -> Iterator[Layer]:
    """The layers below one, those within a recurrent one left out; each behind its own.

    Args:
        layer: where to look.
    """
    if _is_recurrent(layer):
        return
    for each in layer.children():
        yield from within(each)
        yield each


def calls_of(net: Layer, inputs: Sequence[Any]) -> list[tuple[Layer, Any, Any]]:
    """The layers that a call of a network calls, with what each was first given and gave.

    Args:
        net: the network; it is one of them if there are none within.
        inputs: what it is called with.
    """
    calls: dict[int, tuple[Layer, Any, Any]] = {}

    def note(layer: Any, given: Any, output: Any) -> None:
        calls.setdefault(id(layer), (layer, given, output))

    listed = list({id(each): each for each in within(net)}.values()) or [net]
    watched = [each for each in listed if not _only_holds(each)]
    hooks = [each.register_forward_post_hook(note) for each in watched]
    try:
        net(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return list(calls.values())


def _only_holds(layer: Layer) -> bool:
    return isinstance(layer, (Sequential, LayerList)) and not _is_recurrent(layer)


def _is_recurrent(layer: Any) -> bool:
    return isinstance(layer, StackedCells)


@contextmanager
def net_in_tests(net: Layer) -> Iterator[None]:
    """Have the layers of a network test, and do afterwards what they did before."""
    layers = net.sublayers(include_self=True)
    modes = [each.training for each in layers]
    net.eval()
    try:
        yield
    finally:
        for each, mode in zip(layers, modes):
            each.training = mode


def bordered(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows in a table with borders.

    Args:
        heads: what stands above the columns.
        rows: the cells.
    """
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(heads))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = ["|" + "|".join(map(_centered, line, widths)) + "|" for line in cells]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def _centered(cell: str, width: int) -> str:
    """A cell in the middle; what is left over stands in front of texts of even length."""
    left, odd = divmod(width - len(cell), 2)
    left += odd if len(cell) % 2 == 0 else 0
    return " " + (" " * left + cell).ljust(width) + " "


__all__ = ["bordered", "calls_of", "net_in_tests", "number_of", "own_parameters", "within"]
