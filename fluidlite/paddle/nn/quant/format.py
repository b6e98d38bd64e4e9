"""Layers that round to whole numbers and back, and layers whose quanters become those."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ....eager.recording import eager
from ....eager.tensor import Tensor
from ....errors import UsageError
from ....functions.creation import to_tensor
from ....functions.elementary import cast, clip, round
from ....functions.shaping import repeat_interleave
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....initializer import NumpyArrayInitializer
from ....nn.layer import TensorLayer
from ....param_attr import ParamAttr

LINEAR = Family(
    {
        "scales": "what the largest whole number stands for: one, one for each slice, or a table "
        "with one for each group of rows and column.",
        "zero_point": "accepted: numbers are symmetric.",
        "quant_axis": "the dimension of the slices; one scale for all when None.",
        "bit_length": "how many bits a number has, one of which is the sign.",
        "group_size": "how many rows share a scale, where scales are a table.",
    }
)


@LINEAR
class _Linear(TensorLayer):
    """What knows scales."""

    _type: ClassVar[str]  #: the operator

    def __init__(
        self,
        scales: Tensor | np.ndarray,
        zero_point: Tensor | np.ndarray | None = None,
        quant_axis: int | None = None,
        bit_length: int = 8,
        group_size: int = 128,
    ) -> None:
        super().__init__()
        values = np.asarray(scales.numpy() if isinstance(scales, Tensor) else scales)
        values = values.astype(values.dtype if values.dtype.kind == "f" else np.float32)
        attr = ParamAttr(name=None, trainable=False)
        start = NumpyArrayInitializer(values.reshape(values.shape or (1,)))
        self._scales: Any = self.create_parameter(
            list(values.shape) or [1], attr, str(values.dtype), default_initializer=start
        )
        zero = to_tensor(np.zeros(values.shape or (1,), values.dtype))
        self.register_buffer("_zero_point", zero, persistable=False)
        self._quant_axis = -1 if quant_axis is None else quant_axis
        self._bit_length, self._group_size = bit_length, group_size

    @classmethod
    def from_quanter(cls, quanter: Any) -> Any:
        """The layer with the scales of a quanter.

        Args:
            quanter: what knows scales.
        """
        return cls(
            quanter.scales(),
            zero_point=quanter.zero_points(),
            quant_axis=quanter.quant_axis(),
            bit_length=quanter.bit_length(),
            group_size=getattr(quanter, "group_size", 128),
        )

    def _by_groups(self, input: Tensor) -> Tensor:
        """What is given where groups of rows have scales."""
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        """What the class makes of an input."""
        if len(self._scales.shape) > 1:
            return cast(self._by_groups(input), input.dtype)
        how = {"quant_axis": self._quant_axis, "bit_length": self._bit_length}
        out: Tensor = getattr(eager, self._type)(input, self._scales, self._zero_point, **how)
        return out

    def _rows(self) -> Any:
        """The scale of each element, where groups of rows have scales."""
        return repeat_interleave(self._scales, self._group_size, axis=0)

    def _most(self) -> int:
        """The largest whole number."""
        return int(2 ** (self._bit_length - 1) - 1)


class LinearQuanter(_Linear):
    """Whole numbers, as floats, of which the largest stands for a scale.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.nn.quant.format import LinearQuanter
    >>> LinearQuanter(paddle.to_tensor([3.0]))(paddle.to_tensor([3.0, -1.0])).tolist()
    [127.0, -42.0]
    """

    _type = "quantize_linear"

    def _by_groups(self, input: Tensor) -> Tensor:
        most = self._most()
        return clip(round(input / self._rows() * most), -most - 1, most)


class LinearDequanter(_Linear):
    """What whole numbers stand for.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.nn.quant.format import LinearDequanter
    >>> LinearDequanter(paddle.to_tensor([254.0]))(paddle.to_tensor([3.0, -1.0])).tolist()
    [6.0, -2.0]
    """

    _type = "dequantize_linear"

    def _by_groups(self, input: Tensor) -> Tensor:
        return input * self._rows() / self._most()


class LinearQuanterDequanter(TensorLayer):
    """Rounding to whole numbers, and back.

    Args:
        quanter, dequanter: each may be None.
    """

    def __init__(self, quanter: LinearQuanter | None, dequanter: LinearDequanter | None) -> None:
        super().__init__()
        self._quanter: Any = quanter
        self._dequanter: Any = dequanter

    def forward(self, input: Tensor) -> Tensor:
        """The numbers that are left."""
        for step in (self._quanter, self._dequanter):
            input = input if step is None else step(input)
        return input

    @staticmethod
    def from_quanter(quanter: Any) -> LinearQuanterDequanter:
        """The layer with the scales of a quanter.

        Args:
            quanter: what knows scales.
        """
        return LinearQuanterDequanter(
            LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter)
        )


class ConvertibleQuantedLayer(TensorLayer):
    """A layer with quanters, which become layers that round with the scales found.

    A subclass says in ``weights_to_quanters`` and ``activation_quanters`` how its attributes are
    called.
    """

    def __init__(self) -> None:
        super().__init__()
        self.converted = False

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Pairs of the names of a weight and of its quanter."""
        raise NotImplementedError(f"{type(self).__name__} needs a method weights_to_quanters(self)")

    def activation_quanters(self) -> list[str]:
        """The names of the quanters of inputs."""
        raise NotImplementedError(f"{type(self).__name__} needs a method activation_quanters(self)")

    def _convert_quanter_to_qdq(self, quanter_name: str) -> LinearQuanterDequanter | None:
        """Put a layer that rounds in place of a quanter, and give it."""
        quanter = getattr(self, quanter_name)
        if quanter is None:
            return None
        layer = LinearQuanterDequanter.from_quanter(quanter)
        setattr(self, quanter_name, layer)
        return layer

    def _convert(self, remain_weight: bool = False) -> None:
        """Convert all quanters; weights become whole numbers, unless they remain."""
        if self.converted:
            raise UsageError(f"{self.full_name()} is converted already: convert a model once")
        for weight_name, quanter_name in self.weights_to_quanters():
            layer = self._convert_quanter_to_qdq(quanter_name)
            if layer is not None and not remain_weight:
                weight = getattr(self, weight_name)
                weight.set_value(layer._quanter(weight.detach()))
                layer._quanter = None
        for name in self.activation_quanters():
            self._convert_quanter_to_qdq(name)
        self.converted = True


list_public_names(globals())
