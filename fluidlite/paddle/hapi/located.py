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
    if isinstance(layer, StackedCells):
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
    if isinstance(layer, StackedCells):
        return
    for each in layer.children():
        yield from within(each)
        yield each


def calls_of(net: Layer, inputs: Sequence[Any]) -> list[tuple[Layer, Any, Any]]:
    """The layers that a call of a network calls, with what each was first given and gave.

    Args:
        net: the network; it is one of them where there are none within.
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
    return isinstance(layer, (Sequential, LayerList)) and not isinstance(layer, StackedCells)


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


__all__ = ["calls_of", "net_in_tests", "number_of", "own_parameters", "within"]
