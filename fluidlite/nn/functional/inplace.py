"""Functions between layers that write their result in the place of what they are given."""

from __future__ import annotations

from collections.abc import Callable

from ...eager.tensor import Tensor
from ...ground.spellings import Spelling
from . import activation

_WRITTEN = Spelling({}, writes="write")

relu_: Callable[..., Tensor] = _WRITTEN(
    activation.relu,
    "relu_",
    """max(x, 0); its gradient at 0 is 0.

    >>> x = fluid.to_tensor([-1.0, 2.0])
    >>> fluid.nn.functional.relu_(x) is x, x.tolist()
    (True, [0.0, 2.0])
    """,
)
tanh_: Callable[..., Tensor] = _WRITTEN(activation.tanh)
elu_: Callable[..., Tensor] = _WRITTEN(activation.elu)
hardtanh_: Callable[..., Tensor] = _WRITTEN(activation.hardtanh)
leaky_relu_: Callable[..., Tensor] = _WRITTEN(activation.leaky_relu)
softmax_: Callable[..., Tensor] = _WRITTEN(activation.softmax)
thresholded_relu_: Callable[..., Tensor] = _WRITTEN(activation.thresholded_relu)
