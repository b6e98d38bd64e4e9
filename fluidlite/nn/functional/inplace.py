"""Functions between layers that write their result in place of what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, ParamSpec

from ...eager.tensor import Tensor
from ...ground.spellings import Spelling
from . import activation

P = ParamSpec("P")
_WRITTEN = Spelling({}, writes="write", examples=str)


def _in_place(
    function: Callable[P, Tensor], name: str | None = None, doc: str | None = None
) -> Callable[P, Tensor]:
    """A function that writes its result; it takes what the other one takes."""
    return _WRITTEN(function, name, doc, scope=globals())


relu_: Final = _in_place(
    activation.relu,
    "relu_",
    """max(x, 0); its gradient at 0 is 0.

    >>> x = fluid.to_tensor([-1.0, 2.0])
    >>> fluid.nn.functional.relu_(x) is x, x.tolist()
    (True, [0.0, 2.0])
    """,
)
tanh_: Final = _in_place(activation.tanh)
elu_: Final = _in_place(activation.elu)
hardtanh_: Final = _in_place(activation.hardtanh)
leaky_relu_: Final = _in_place(activation.leaky_relu)
softmax_: Final = _in_place(activation.softmax)
thresholded_relu_: Final = _in_place(activation.thresholded_relu)
