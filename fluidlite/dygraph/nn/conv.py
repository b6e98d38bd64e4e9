"""Convolutions and poolings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import ArgumentError
from ...functions.arguments import DTypeLike, Integers
from ...ground.fields import fields_of, from_fields
from ...ground.protected import answers
from ...initializer import Normal
from ...layers.conv import conv2d, conv2d_transpose, conv3d, conv3d_transpose, pool2d
from ...layers.windows import WINDOWS, each
from ...modules.convolution import filter_shape
from ...param_attr import Attr
from ..layer import PARAMETERS, Layer

if TYPE_CHECKING:
    from ...ir.variable import Variable

_CONVOLUTIONS = WINDOWS.extended(
    {
        **PARAMETERS.args,
        "num_channels": "of the input.",
        "filter_size": "the sizes of a filter, or one number for all.",
        "output_size": "as of the function.",
        "use_cudnn": "as of the function.",
        "stride": "as of the function.",
        "padding": "as of the function.",
    },
    raises="ArgumentError: ``groups`` does not divide the channels.",
)


def _operator(layer: Any) -> str:
    """The type of a convolution's operator."""
    channels, filters = layer._num_channels, layer._num_filters
    kind = "conv2d_transpose" if layer._transposed else "conv2d"
    each_alone = channels == layer._groups and not layer._use_cudnn
    fits = filters == channels if layer._transposed else filters % channels == 0
    return f"depthwise_{kind}" if each_alone and fits else kind


def _listed(given: dict[str, Any], names: str, dimensions: int = 2) -> dict[str, Any]:
    """Arguments, those of some names as a number for each dimension, as fluid 1.8 keeps them."""
    listed = {name: given[name] for name in names.split() if isinstance(given[name], int)}
    return {**given, **{name: [value] * dimensions for name, value in listed.items()}}


@from_fields
class _Options:
    """The last arguments of all convolutions."""

    dilation: Integers = 1
    groups: int | None = None
    param_attr: Attr = None
    bias_attr: Attr = None
    use_cudnn: bool = True
    act: str | None = None
    dtype: DTypeLike = "float32"


@from_fields
class _Convolution(Layer):
    """A convolution: filters, a bias, and how they are moved."""

    num_channels: int
    num_filters: int
    filter_size: Integers
    dimensions: ClassVar[int] = 2
    function: ClassVar[Callable[..., Any]]
    _transposed: ClassVar[bool] = False
    #: arguments of the function that ``forward`` reads from attributes
    _forwarded: ClassVar[str] = "stride padding dilation groups use_cudnn act"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the filters and the bias.

        Args:
            given: the arguments by name.
        """
        sizes = each(given["filter_size"], "filter_size", self.dimensions)
        channels, filters = given["num_channels"], given["num_filters"]
        groups = 1 if given["groups"] is None else given["groups"]
        if groups < 1 or channels % groups:
            raise ArgumentError(
                f"expected groups to divide the channels, got groups={groups} for num_channels="
                f"{channels}"
            )
        start: Normal | None = Normal(0.0, sqrt(2.0 / (prod(sizes) * channels)), 0)
        if self._transposed:  # as fluid 1.8 does; others keep both as they were given
            start = None
            given.update(filter_size=sizes, groups=groups)
        self.begin_with(_listed(given, "stride padding dilation", self.dimensions))
        shape = filter_shape(channels, filters, groups, sizes, self._transposed)
        self.weight: Any = self.create_parameter(shape, self._param_attr, default_initializer=start)
        self.bias: Any = self.create_parameter([filters], self._bias_attr, is_bias=True)

    def extra_repr(self) -> str:
        return f"{list(self.weight.shape)}"

    def forward(self, input: Variable) -> Variable:
        """The convolved images, or volumes."""
        weight, bias = self.weight, self.bias
        shape = weight.shape
        return type(self).function(
            input,
            shape[1] * (self._groups or 1) if self._transposed else shape[0],
            filter_size=shape[2:],
            param_attr=weight,
            bias_attr=False if bias is None else bias,
            name=self._full_name,
            **{name: getattr(self, f"_{name}") for name in self._forwarded.split()},
        )


@from_fields
class _Forwards(_Convolution):
    """A convolution that is not transposed."""

    stride: Integers = 1
    padding: Integers | str | Sequence[Sequence[int]] = 0


@from_fields
class _Sized(_Convolution):
    """A convolution with given sizes of its output."""

    output_size: Integers | None = None
    _forwarded: ClassVar[str] = f"{_Convolution._forwarded} output_size"


@from_fields
class _Adjoint(_Convolution):
    """A transposed convolution."""

    padding: Integers | str | Sequence[Sequence[int]] = 0
    stride: Integers = 1
    _transposed = True


@answers(_l_type=_operator)
@_CONVOLUTIONS
@from_fields
class Conv2D(_Options, _Forwards):
    """Images convolved with filters, plus a bias: :func:`~fluidlite.layers.conv2d` with parameters
    of its own, ``weight`` and ``bias``.

    Args:
        num_channels: of the input, [N, num_channels, H, W].
        filter_size: height and width of a filter, or one number for both.

    >>> with fluid.dygraph.guard():
    ...     conv = fluid.dygraph.Conv2D(3, 16, filter_size=3, padding=1, act="relu")
    ...     y = conv(fluid.dygraph.to_variable(np.ones([2, 3, 8, 8], "float32")))
    >>> y.shape, conv.weight.shape
    ([2, 16, 8, 8], [16, 3, 3, 3])
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(conv2d)


@_CONVOLUTIONS
@from_fields
class Conv3D(_Options, _Forwards):
    """Volumes convolved with filters, plus a bias; see :class:`Conv2D`.

    >>> with fluid.dygraph.guard():
    ...     conv = fluid.dygraph.Conv3D(1, 4, filter_size=2)
    ...     y = conv(fluid.dygraph.to_variable(np.ones([2, 1, 5, 6, 7], "float32")))
    >>> y.shape
    [2, 4, 4, 5, 6]
    """

    dimensions = 3
    function: ClassVar[Callable[..., Any]] = staticmethod(conv3d)


@answers(_op_type=_operator)
@_CONVOLUTIONS
@from_fields
class Conv2DTranspose(_Options, _Adjoint, _Sized):
    """The map that takes gradients of a convolution's output back to its input, plus a bias:
    :func:`~fluidlite.layers.conv2d_transpose` with parameters of its own.

    Args:
        num_channels: of the input, [N, num_channels, H, W].
        filter_size: height and width of a filter, or one number for both.

    >>> with fluid.dygraph.guard():
    ...     conv = fluid.dygraph.Conv2DTranspose(16, 3, filter_size=2, stride=2)
    ...     y = conv(fluid.dygraph.to_variable(np.ones([2, 16, 4, 4], "float32")))
    >>> y.shape
    [2, 3, 8, 8]
    """

    function: ClassVar[Callable[..., Any]] = staticmethod(conv2d_transpose)


@_CONVOLUTIONS
@from_fields
class Conv3DTranspose(_Options, _Adjoint):
    """The same for volumes; see :class:`Conv2DTranspose`.

    >>> with fluid.dygraph.guard():
    ...     conv = fluid.dygraph.Conv3DTranspose(4, 1, filter_size=2, stride=2)
    ...     y = conv(fluid.dygraph.to_variable(np.ones([2, 4, 3, 3, 3], "float32")))
    >>> y.shape
    [2, 1, 6, 6, 6]
    """

    dimensions = 3
    function: ClassVar[Callable[..., Any]] = staticmethod(conv3d_transpose)


@from_fields
class Pool2D(Layer):
    """The maximum or mean of images within windows: :func:`~fluidlite.layers.pool2d`.

    Args:
        pool_size, pool_type, pool_stride, pool_padding, global_pooling: as of the function.
        use_cudnn, ceil_mode, exclusive: as of the function.

    >>> with fluid.dygraph.guard():
    ...     pool = fluid.dygraph.Pool2D(pool_size=2, pool_type="avg", pool_stride=2)
    ...     y = pool(fluid.dygraph.to_variable(np.ones([2, 3, 8, 8], "float32")))
    >>> y.shape
    [2, 3, 4, 4]
    """

    pool_size: Integers = -1
    pool_type: str = "max"
    pool_stride: Integers = 1
    pool_padding: Integers | str | Sequence[Sequence[int]] = 0
    global_pooling: bool = False
    use_cudnn: bool = True
    ceil_mode: bool = False
    exclusive: bool = True
    _l_type: ClassVar[str] = "pool2d"

    def begin(self, given: dict[str, Any]) -> None:
        """Keep the arguments, which have to be of a pool."""
        self.begin_with(_listed(given, "pool_size pool_stride pool_padding"))
        if self._pool_type not in ("max", "avg"):
            raise ArgumentError(f"expected pool_type 'max' or 'avg', got {self._pool_type!r}")
        if not self._global_pooling and min(each(self._pool_size, "pool_size")) < 1:
            raise ArgumentError(
                "expected a positive pool_size, or global_pooling=True, got pool_size="
                f"{given['pool_size']}"
            )

    def forward(self, input: Variable) -> Variable:
        """The pooled images."""
        given = {name: getattr(self, f"_{name}") for name in fields_of(Pool2D)}
        return pool2d(input, name=self._full_name, **given)
