"""Convolutions and poolings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import ArgumentError
from ...functions.arguments import DTypeLike, Integers
from ...ground.fields import from_fields
from ...ground.protected import remembers_arguments
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


def _operator(layer: Any, given: dict[str, Any]) -> str:
    """The type of a convolution's operator."""
    channels, filters = given["num_channels"], given["num_filters"]
    kind = "conv2d_transpose" if layer._transposed else "conv2d"
    each_alone = channels == given["groups"] and not given["use_cudnn"]
    fits = filters == channels if layer._transposed else filters % channels == 0
    return f"depthwise_{kind}" if each_alone and fits else kind


def _listed(*names: str) -> dict[str, Callable[[Any, dict[str, Any]], Any]]:
    """Readers of numbers for each dimension, by the names that fluid 1.8 kept them under."""

    def reader(name: str) -> Callable[[Any, dict[str, Any]], Any]:
        def read(layer: Any, given: dict[str, Any]) -> Any:
            value, count = given[name], getattr(layer, "dimensions", 2)
            return [value] * count if isinstance(value, int) else value

        return read

    return {f"_{name}": reader(name) for name in names}


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

    def begin(self, given: dict[str, Any]) -> None:
        """Make the filters and the bias.

        Args:
            given: the arguments by name.
        """
        Layer.__init__(self, dtype=given.pop("dtype"))
        channels, groups = given.pop("num_channels"), given["groups"]
        self._num_filters = given.pop("num_filters")
        self._filter_size = each(given.pop("filter_size"), "filter_size", self.dimensions)
        self._groups = given["groups"] = 1 if groups is None else groups
        if self._groups < 1 or channels % self._groups:
            raise ArgumentError(
                f"expected groups to divide the channels, got groups={groups} for num_channels="
                f"{channels}"
            )
        filters, bias = given.pop("param_attr"), given.pop("bias_attr")
        self._moved = given
        sizes, transposed = self._filter_size, self._transposed
        shape = filter_shape(channels, self._num_filters, self._groups, sizes, transposed)
        start = None if transposed else Normal(0.0, sqrt(2.0 / (prod(sizes) * channels)), 0)
        self.weight: Any = self.create_parameter(shape, filters, default_initializer=start)
        self.bias: Any = self.create_parameter([self._num_filters], bias, is_bias=True)

    def extra_repr(self) -> str:
        return f"{list(self.weight.shape)}"

    def forward(self, input: Variable) -> Variable:
        """The convolved images, or volumes."""
        return type(self).function(
            input,
            self._num_filters,
            filter_size=self._filter_size,
            param_attr=self.weight,
            bias_attr=False if self.bias is None else self.bias,
            name=self._full_name,
            **self._moved,
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


@from_fields
class _Adjoint(_Convolution):
    """A transposed convolution."""

    padding: Integers | str | Sequence[Sequence[int]] = 0
    stride: Integers = 1
    _transposed = True


@remembers_arguments(_l_type=_operator, **_listed("stride", "padding", "dilation"))
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


@remembers_arguments(**_listed("stride", "padding", "dilation"))
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


@remembers_arguments(_op_type=_operator, **_listed("stride", "padding", "dilation"))
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


@remembers_arguments(**_listed("stride", "padding", "dilation"))
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


@remembers_arguments(
    _l_type=lambda self, given: "pool2d", **_listed("pool_size", "pool_stride", "pool_padding")
)
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

    def begin(self, given: dict[str, Any]) -> None:
        """Keep the arguments, which have to be of a pool."""
        Layer.__init__(self)
        kind, size = given["pool_type"], given["pool_size"]
        if kind not in ("max", "avg"):
            raise ArgumentError(f"expected pool_type 'max' or 'avg', got {kind!r}")
        if not given["global_pooling"] and min(each(size, "pool_size")) < 1:
            raise ArgumentError(
                f"expected a positive pool_size, or global_pooling=True, got pool_size={size}"
            )
        self._arguments = given

    def forward(self, input: Variable) -> Variable:
        """The pooled images."""
        return pool2d(input, name=self._full_name, **self._arguments)
