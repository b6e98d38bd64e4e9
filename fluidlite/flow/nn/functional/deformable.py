"""Convolutions whose windows are moved element by element, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....nn.functional import deformable
from ...spelling import ONEFLOW

if TYPE_CHECKING:
    from ...tensor import Tensor

deform_conv2d: Callable[..., Tensor] = ONEFLOW(
    deformable.deform_conv2d,
    doc="""Images convolved with filters, each element of whose windows is moved.

    >>> x, moved = fluid.flow.ones(1, 1, 3, 3), fluid.flow.zeros(1, 8, 2, 2)
    >>> fluid.flow.nn.functional.deform_conv2d(x, moved, fluid.flow.ones(1, 1, 2, 2)).tolist()
    [[[[4.0, 4.0], [4.0, 4.0]]]]
    """,
    fixed={"deformable_groups": None, "groups": None},
)
