"""``paddle.jit.api`` of paddle 2.6: the same names, and those of fluid 1.8 that it kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dygraph import traced
from ...dygraph.translate import ProgramTranslator
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...model import InputSpec
from ..static import models
from .models import TranslatedLayer, load, save
from .static_function import StaticFunction
from .static_function import StaticFunction as ASTStaticFunction
from .translating import enable_to_static, ignore_module, not_to_static, to_static

__all__ = [
    "ASTStaticFunction", "InputSpec", "ProgramTranslator", "StaticFunction", "TracedLayer",
    "TranslatedLayer", "enable_to_static", "ignore_module", "load", "not_to_static", "save",
    "to_static",
]  # fmt: skip


class TracedLayer(traced.TracedLayer):
    """A layer's program, which writes models as paddle 2 has them; ``trace`` makes it.

    >>> from fluidlite import paddle
    >>> x = paddle.ones([2, 3])
    >>> _, traced = paddle.jit.api.TracedLayer.trace(paddle.nn.Linear(3, 4), [x])
    >>> traced([x])[0].shape
    (2, 4)
    """

    def save_inference_model(  # type: ignore[override]
        self,
        path: Path,
        feed: Sequence[int] | None = None,
        fetch: Sequence[int] | None = None,
        **kwargs: Any,
    ) -> None:
        """Write the program and its parameters: ``PATH.pdmodel`` and ``PATH.pdiparams``.

        Args:
            path: the path without the endings.
            feed: numbers of the inputs to keep; all when None.
            fetch: numbers of the outputs to keep; all when None.
            kwargs: accepted.

        Raises:
            ArgumentError: a number is none.
            OutOfRangeError: there is no such input or output.
            FileError: a file cannot be written; says why.
        """
        variables = self.program.global_block().vars

        def write(feeds: list[str], fetches: list[Any], executor: Any) -> None:
            given = [variables[name] for name in feeds]
            models.save_inference_model(path, given, fetches, executor, program=self.program)

        self.write_by(write, feed, fetch)


list_public_names(globals())
api_boundaries(globals())
