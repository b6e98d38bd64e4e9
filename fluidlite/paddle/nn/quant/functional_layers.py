"""Functions of tensors as layers, so that what they are given can be observed."""

from __future__ import annotations

from collections.abc import Sequence

from ....eager.tensor import Tensor
from ....functions import arithmetic, shaping, views
from ....nn.layer import Layer

__all__: list[str] = []


class FloatFunctionalLayer(Layer):
    """A function of tensors as a layer."""

    def __init__(self) -> None:
        super().__init__()


class add(FloatFunctionalLayer):
    """``x + y``."""

    def forward(self, x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        """The sum."""
        return arithmetic.add(x, y)


class subtract(FloatFunctionalLayer):
    """``x - y``."""

    def forward(self, x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        """The difference."""
        return arithmetic.subtract(x, y)


class multiply(FloatFunctionalLayer):
    """``x * y``."""

    def forward(self, x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        """The product."""
        return arithmetic.multiply(x, y)


class divide(FloatFunctionalLayer):
    """``x / y``."""

    def forward(self, x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        """The quotient."""
        return arithmetic.divide(x, y)


class reshape(FloatFunctionalLayer):
    """A tensor in another shape."""

    def forward(self, x: Tensor, shape: Sequence[int], name: str | None = None) -> Tensor:
        """The tensor in that shape."""
        return views.reshape(x, shape)


class transpose(FloatFunctionalLayer):
    """A tensor with its dimensions in another order."""

    def forward(self, x: Tensor, perm: Sequence[int], name: str | None = None) -> Tensor:
        """The tensor in that order."""
        return views.transpose(x, perm)


class concat(FloatFunctionalLayer):
    """Tensors in a row."""

    def forward(self, x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
        """The tensors along a dimension."""
        return shaping.concat(x, axis)


class flatten(FloatFunctionalLayer):
    """A tensor with some dimensions as one."""

    def forward(
        self, x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None
    ) -> Tensor:
        """The tensor with these dimensions as one."""
        return views.flatten(x, start_axis, stop_axis)


class matmul(FloatFunctionalLayer):
    """A product of matrices."""

    def forward(
        self,
        x: Tensor,
        y: Tensor,
        transpose_x: bool = False,
        transpose_y: bool = False,
        name: str | None = None,
    ) -> Tensor:
        """The product."""
        return arithmetic.matmul(x, y, transpose_x, transpose_y)
