"""Functions of tensors as layers, so that what they are given can be observed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ....functions import arithmetic, numeric, shaping, views
from ....ground.public_names import list_public_names
from ....nn.layer import Layer


class FloatFunctionalLayer(Layer):
    """A function of tensors as a layer."""

    function: ClassVar[Callable[..., Any]]

    def __init__(self) -> None:
        super().__init__()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        return type(self).function(*args, **kwargs)


def _layer(name: str, function: Callable[..., Any]) -> type[FloatFunctionalLayer]:
    """The class of layers that call a function."""
    told = {"__doc__": f"``{name}`` as a layer.", "__module__": __name__}
    return type(name, (FloatFunctionalLayer,), {**told, "function": staticmethod(function)})


add = _layer("add", arithmetic.add)
subtract = _layer("subtract", arithmetic.subtract)
multiply = _layer("multiply", arithmetic.multiply)
divide = _layer("divide", numeric.divide)
matmul = _layer("matmul", arithmetic.matmul)
concat = _layer("concat", shaping.concat)
reshape = _layer("reshape", views.reshape)
transpose = _layer("transpose", views.transpose)
flatten = _layer("flatten", views.flatten)

list_public_names(globals())
