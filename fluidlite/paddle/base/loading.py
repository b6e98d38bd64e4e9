"""``PyReader`` of ``paddle.base``."""

from __future__ import annotations

from collections.abc import Callable

from ...ground.docstrings import Family
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
from ...readers import generator
from ..modes import in_dynamic_mode

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

    __init__: Callable[..., None] = Spelling({})(
        generator.PyReader.__init__, fixed={"tensors": False}
    )

    def _gives_tensors(self) -> bool:
        return in_dynamic_mode()


list_public_names(globals())
