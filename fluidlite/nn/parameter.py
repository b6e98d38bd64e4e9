"""Making parameters as paddle 2.x's scripts do."""

from __future__ import annotations

from collections.abc import Sequence

from .. import unique_name
from ..eager.parameter import Parameter, parameter_of
from ..functions.arguments import DTypeLike
from ..ground.tracebacks import api_boundaries
from ..initializer import Constant, Initializer, Xavier
from ..param_attr import Attr, as_eager_attr


def create_parameter(
    shape: Sequence[int],
    dtype: DTypeLike = "float32",
    name: str | None = None,
    attr: Attr = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter:
    """A leaf that is trained, with its first value.

    Args:
        shape: sizes.
        dtype: the element type.
        name: of the parameter; ``create_parameter_0.w_0`` or like it when None.
        attr: a ParamAttr: name, initializer, learning rate, regularizer.
        is_bias: begin with zeros.
        default_initializer: gives the value where ``attr`` names none; Xavier's, or zeros for a
            bias, when None.

    >>> w = fluid.create_parameter([2, 3], "float32")
    >>> w.shape, w.stop_gradient
    ([2, 3], False)
    """
    initializer = default_initializer
    if initializer is None:
        initializer = Constant(0.0) if is_bias else Xavier()
    if name is None:
        name = f"{unique_name.generate('create_parameter')}.{'b' if is_bias else 'w'}_0"
    return parameter_of(shape, dtype, initializer, as_eager_attr(attr), name)


api_boundaries(globals())
