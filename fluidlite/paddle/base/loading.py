"""``PyReader`` of ``paddle.base``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ground.docstrings import Family
from ...ground.public_names import list_public_names
from ...readers import generator
from ..modes import in_dynamic_mode

if TYPE_CHECKING:
    from ...ir.variable import Variable

__all__ = ["PyReader"]

_READERS = Family()


@_READERS.like(generator.PyReader)
class PyReader(generator.PyReader):
    """
    It gives lists of tensors in dynamic mode.

    >>> from fluidlite import paddle
    >>> reader = paddle.base.io.PyReader(capacity=2)
    >>> reader.decorate_batch_generator(lambda: iter([[np.ones([3, 2], "float32")]]))
    >>> [x.shape for (x,) in reader()]
    [[3, 2]]
    """

    def __init__(
        self,
        feed_list: Sequence[Variable] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
    ) -> None:
        super().__init__(
            feed_list, capacity, use_double_buffer, iterable, return_list, in_dynamic_mode()
        )


list_public_names(globals())
