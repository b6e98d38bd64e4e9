"""Convolutions of sequences, images and volumes, and their adjoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod, sqrt
from typing import Any, ClassVar

from ..eager.tensor import Tensor
from ..functions.arguments import Integers
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..initializer import Normal
from ..modules.convolution import filter_shape, need_groups, taken_around
from ..opdef.windows import FORMATS
from ..param_attr import Attr
from . import functional as F
from .functional.windows import each
from .layer import Option, TensorLayer, checked, format_of

CONVOLUTIONS = Family(
    {
        "in_channels": "how many come in.",
        "out_channels": "how many come out.",
        "kernel_size": "of the filters: a number, or one for every dimension.",
        "stride": "as of the function.",
        "padding": "as of the function.",
        "output_padding": "as of the function.",
        "dilation": "as of the function.",
        "groups": "as of the function.",
        "padding_mode": "zeros; or reflect, replicate, circular, where ``padding`` is a number, or "
        "one for every dimension.",
        "weight_attr": "of the filters.",
        "bias_attr": "of the bias; False for none.",
        "data_format": "ends in C where the channels come last.",
    },
    raises="ArgumentError: an argument is out of range.",
)


@from_fields
class _Filters(TensorLayer):
    """Filters, a bias, and how they are moved."""

    in_channels: int
    out_channels: int
    kernel_size: Integers
    stride: Integers = 1
    padding: Integers | str | Sequence[Sequence[int]] = 0
    function: ClassVar[Callable[..., Any]]
    _formats: ClassVar[Sequence[str]]
    _transposed: ClassVar[bool] = False
    _stride: ClassVar = Option("stride")
    _dilation: ClassVar = Option("dilation")
    _groups: ClassVar = Option("groups")
    _data_format: ClassVar = Option("data_format")

    def __init_subclass__(cls, rank: int | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if rank is not None:
            name = f"conv{rank}d{'_transpose' if cls._transposed else ''}"
            cls._formats, cls.function = FORMATS[rank], staticmethod(getattr(F, name))

    def begin(self, given: dict[str, Any]) -> None:
        """Make the filters and the bias.

        Args:
            given: the arguments by name.
        """
        TensorLayer.__init__(self)
        form = given["data_format"] = format_of(given.pop("data_format"), self._formats)
        sizes = each("kernel_size", given.pop("kernel_size"), len(form) - 2)
        for name in ("stride", "dilation"):
            given[name] = [*each(name, given[name], len(sizes))]
        channels, filters = given.pop("in_channels"), given.pop("out_channels")
        need_groups(channels, filters, given["groups"])
        shape = filter_shape(channels, filters, given["groups"], sizes, self._transposed)
        start = None if self._transposed else Normal(0.0, sqrt(2.0 / (channels * prod(sizes))))
        attr, bias_attr = given.pop("weight_attr"), given.pop("bias_attr")
        self.weight: Any = self.create_parameter(shape, attr, default_initializer=start)
        self.bias: Any = self.create_parameter([filters], bias_attr, is_bias=True)
        self._channels, self._sizes, self._options = (channels, filters), sizes, given
        self._padding, self._padding_mode = given["padding"], "zeros"
        self._param_attr, self._bias_attr = attr, bias_attr

    @property
    def _in_channels(self) -> int:
        return self._channels[0]

    @property
    def _out_channels(self) -> int:
        return self._channels[1]

    @property
    def _kernel_size(self) -> list[int]:
        return [*self._sizes]

    def extra_repr(self) -> str:
        inputs, outputs = self._channels
        parts = [f"{inputs}, {outputs}, kernel_size={list(self._sizes)}"]
        rank = len(self._sizes)
        moved = {
            "stride": self._options["stride"],
            "padding": self._padding,
            "padding_mode": self._padding_mode,
            "output_padding": self._options.get("output_padding", 0),
            "dilation": self._options["dilation"],
            "groups": self._options["groups"],
        }
        usual = ([1] * rank, 0, "zeros", 0, [1] * rank, 1)
        told = zip(moved.items(), usual)
        parts += [f"{name}={value}" for (name, value), plain in told if value != plain]
        return ", ".join([*parts, f"data_format={self._options['data_format']}"])


def _convolved(
    function: Callable[..., Tensor],
    around: Any,
    mode: str,
    options: dict[str, Any],
    x: Tensor,
    weight: Any,
    bias: Any,
) -> Tensor:
    if around:
        x = F.pad(x, around, mode, data_format=options["data_format"])
    return function(x, weight, bias, **options)


@from_fields
class _Convolution(_Filters):
    """What is convolved with learned filters."""

    dilation: Integers = 1
    groups: int = 1
    padding_mode: str = "zeros"
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"

    def begin(self, given: dict[str, Any]) -> None:
        mode = checked(
            "padding_mode", given.pop("padding_mode"), "zeros", "reflect", "replicate", "circular"
        )
        padding = given["padding"]
        around = taken_around(given, mode, each, len(self._formats[0]) - 2)
        super().begin(given)
        self._around, self._padding, self._padding_mode = around, padding, mode

    def forward(self, x: Tensor) -> Tensor:
        """What is convolved."""
        return self.moves(x, self.weight, self.bias)

    @property
    def moves(self) -> Callable[[Tensor, Any, Any], Tensor]:
        """A function of an input, filters and a bias, which convolves as this layer does."""
        return partial(
            _convolved, type(self).function, self._around, self._padding_mode, self._options
        )


@CONVOLUTIONS
@from_fields
class Conv1D(_Convolution, rank=1):
    """Sequences convolved with learned filters: :func:`~fluidlite.nn.functional.conv1d`.

    >>> fluid.nn.Conv1D(2, 4, 3)(fluid.ones([1, 2, 8])).shape
    [1, 4, 6]
    """

    data_format: str = "NCL"


@CONVOLUTIONS
class Conv2D(_Convolution, rank=2):
    """Images convolved with learned filters: :func:`~fluidlite.nn.functional.conv2d`.

    >>> fluid.nn.Conv2D(1, 4, 3, padding=1)(fluid.ones([2, 1, 8, 8])).shape
    [2, 4, 8, 8]
    """


@CONVOLUTIONS
@from_fields
class Conv3D(_Convolution, rank=3):
    """Volumes convolved with learned filters: :func:`~fluidlite.nn.functional.conv3d`.

    >>> fluid.nn.Conv3D(1, 2, 3, padding=1)(fluid.ones([1, 1, 4, 4, 4])).shape
    [1, 2, 4, 4, 4]
    """

    data_format: str = "NCDHW"


@from_fields
class _Adjoint(_Filters):
    """The adjoint of a convolution, with learned filters."""

    output_padding: Integers = 0
    dilation: Integers = 1
    groups: int = 1
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"
    _transposed = True

    def forward(self, x: Tensor, output_size: Integers | None = None) -> Tensor:
        """What comes out, of that size where it is given."""
        return self.moves(x, self.weight, self.bias, output_size=output_size)

    @property
    def moves(self) -> Callable[..., Tensor]:
        """A function of input, filters, bias and size, which convolves as this layer does."""
        return partial(type(self).function, **self._options)


@from_fields
class _GroupsFirst(_Filters):
    output_padding: Integers = 0
    groups: int = 1
    dilation: Integers = 1


@CONVOLUTIONS
@from_fields
class Conv1DTranspose(_Adjoint, _GroupsFirst, rank=1):
    """The adjoint of a convolution: :func:`~fluidlite.nn.functional.conv1d_transpose`.

    Args:
        weight_attr: of the filters, [in_channels, out_channels / groups, length].

    >>> fluid.nn.Conv1DTranspose(2, 1, 2, stride=2)(fluid.ones([1, 2, 3])).shape
    [1, 1, 6]
    """

    data_format: str = "NCL"


@CONVOLUTIONS
class Conv2DTranspose(_Adjoint, rank=2):
    """The adjoint of a convolution: :func:`~fluidlite.nn.functional.conv2d_transpose`.

    >>> fluid.nn.Conv2DTranspose(4, 1, 2, stride=2)(fluid.ones([2, 4, 3, 3])).shape
    [2, 1, 6, 6]
    """


@CONVOLUTIONS
@from_fields
class Conv3DTranspose(_Adjoint, rank=3):
    """The adjoint of a convolution: :func:`~fluidlite.nn.functional.conv3d_transpose`.

    >>> fluid.nn.Conv3DTranspose(2, 1, 2, stride=2)(fluid.ones([1, 2, 2, 2, 2])).shape
    [1, 1, 4, 4, 4]
    """

    data_format: str = "NCDHW"
