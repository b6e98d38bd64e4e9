"""Layers that put further elements around their inputs."""

from __future__ import annotations

from typing import Any

from ..ground.docstrings import Family
from ..ground.fields import options_of
from . import functional as F
from .activation import FunctionLayer
from .layer import TensorLayer, checked

PADS = Family(
    {
        "mode": "constant, reflect, or replicate, which repeats the outermost elements.",
        "value": "what ``constant`` adds.",
        "data_format": "ends in C where the channels come last.",
        "name": "stands in the names of programs' variables.",
    }
)


class _Pad(TensorLayer):
    """What the paddings have in common."""

    _formats: tuple[str, str] = ("NCHW", "NHWC")

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        form = data_format or self._formats[0]
        checked("data_format", form, *self._formats)
        sides = 2 * (len(form) - 2)
        self._amounts = [padding] * sides if isinstance(padding, int) else list(padding)
        self._options: dict[str, Any] = {"mode": mode, "value": value, "data_format": form}

    def forward(self, x: Any) -> Any:
        """The padded input."""
        return F.pad(x, self._amounts, **self._options)

    def extra_repr(self) -> str:
        return f"padding={self._amounts}, mode={self._options['mode']}"


@PADS
class Pad1D(_Pad):
    """Sequences, [N, C, L], with further elements at their ends.

    Args:
        padding: how many at each end; or two numbers.

    >>> fluid.nn.Pad1D(1)(fluid.ones([1, 1, 2])).tolist()
    [[[0.0, 1.0, 1.0, 0.0]]]
    """

    _formats = ("NCL", "NLC")


@PADS
class Pad2D(_Pad):
    """Images, [N, C, H, W], with further rows and columns.

    Args:
        padding: how many on each side; or four numbers: left, right, top, bottom.
    """


@PADS
class Pad3D(_Pad):
    """Volumes, [N, C, D, H, W], with further planes.

    Args:
        padding: how many on each side; or six: left, right, top, bottom, front, back.
    """

    _formats = ("NCDHW", "NDHWC")


class ZeroPad2D(FunctionLayer):
    """Images with zeros around them: :func:`~fluidlite.nn.functional.zeropad2d`."""

    @options_of(F.zeropad2d)
    def __init__(self) -> None: ...
