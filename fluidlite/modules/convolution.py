"""Convolutions of all spellings: the shape of their filters, and what is put around inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..eager.engine import located
from ..errors import ArgumentError


def need_groups(channels: int, filters: int, groups: int) -> None:
    """See that groups divide the channels of the input and of the output.

    Raises:
        ArgumentError: they do not.
    """
    if groups < 1 or channels % groups or filters % groups:
        raise located(
            ArgumentError,
            f"expected groups to divide {channels} and {filters} channels, got {groups!r:.60}",
        )


def filter_shape(
    channels: int, filters: int, groups: int, sizes: Sequence[int], transposed: bool
) -> list[int]:
    """The shape of filters.

    Args:
        channels: of the input.
        filters: channels of the output.
        groups: divide both.
        sizes: of one filter.
        transposed: whether they are those of an adjoint.
    """
    if transposed:
        return [channels, filters // groups, *sizes]
    return [filters, channels // groups, *sizes]


def taken_around(
    options: dict[str, Any],
    padding_mode: str,
    each: Callable[[str, Any, int], Sequence[int]],
    rank: int,
) -> list[int]:
    """What is put around inputs by repeating their elements: numbers for both sides of each
    dimension, the last one first.  They are taken out of the options of a convolution.

    Args:
        options: among them ``padding``, which becomes 0.
        padding_mode: zeros, which leaves all to the convolution, or another one.
        each: gives a number for each dimension.
        rank: how many dimensions there are.
    """
    if padding_mode == "zeros":
        return []
    around = each("padding", options["padding"], rank)
    options["padding"] = 0
    return [n for n in reversed(around) for _ in range(2)]
