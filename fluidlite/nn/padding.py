"""Layers that put further elements around their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..functions.arguments import Integers
from ..ground.docstrings import Family
from ..ground.fields import from_fields, options_of
from . import functional as F
from .activation import FunctionLayer
from .layer import format_of

PADS = Family(
    {
        "mode": "constant, reflect, or replicate, which repeats the outermost elements.",
        "value": "what ``constant`` adds.",
        "data_format": "ends in C where the channels come last.",
        "name": "stands in the names of programs' variables.",
    }
)


@from_fields
class _Pad(FunctionLayer):
    """What the paddings have in common."""

    padding: Integers
    mode: str = "constant"
    value: float = 0.0
    data_format: str = "NCHW"
    name: str | None = None
    _formats: ClassVar[tuple[str, ...]] = ("NCHW", "NHWC")
    _shown: ClassVar[str] = "pad:padding mode value data_format name?"
    function: ClassVar[Callable[..., Any]] = staticmethod(F.pad)

    def begin(self, given: dict[str, Any]) -> None:
        """Check the arguments."""
        padding, form = given.pop("padding"), format_of(given.pop("data_format"), self._formats)
        amounts = [padding] * (2 * len(form) - 4) if isinstance(padding, int) else list(padding)
        super().begin({"pad": amounts, "data_format": form, **given})


@PADS
@from_fields
class Pad1D(_Pad):
    """Sequences, [N, C, L], with further elements at their ends.

    Args:
        padding: how many at each end; or two numbers.

    >>> fluid.nn.Pad1D(1)(fluid.ones([1, 1, 2])).tolist()
    [[[0.0, 1.0, 1.0, 0.0]]]
    """

    data_format: str = "NCL"
    _formats: ClassVar[tuple[str, ...]] = ("NCL", "NLC")


@PADS
class Pad2D(_Pad):
    """Images, [N, C, H, W], with further rows and columns.

    Args:
        padding: how many on each side; or four numbers: left, right, top, bottom.

    >>> fluid.nn.Pad2D([1, 0, 0, 0])(fluid.to_tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[0.0, 1.0, 2.0]]]]
    """


@PADS
@from_fields
class Pad3D(_Pad):
    """Volumes, [N, C, D, H, W], with further planes.

    Args:
        padding: how many on each side; or six: left, right, top, bottom, front, back.

    >>> fluid.nn.Pad3D(1)(fluid.ones([1, 1, 2, 2, 2])).shape
    [1, 1, 4, 4, 4]
    """

    data_format: str = "NCDHW"
    _formats: ClassVar[tuple[str, ...]] = ("NCDHW", "NDHWC")


class ZeroPad2D(FunctionLayer):
    def begin(self, given: dict[str, Any]) -> None:
        """Take one number for all sides."""
        padding = given["padding"]
        super().begin({**given, "padding": [padding] * 4 if isinstance(padding, int) else padding})

    @options_of(F.zeropad2d)
    def __init__(self) -> None: ...
