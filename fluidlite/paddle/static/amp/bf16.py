"""``paddle.static.amp.bf16`` of paddle 2.6: bfloat16, which fluidlite lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ....ground.missing_names import answer_of_paddle_2
from ....ground.public_names import list_public_names
from ....ground.refusing import refusing
from ...holders import hold

__all__ = ["bf16_guard", "decorate_bf16"]


@contextmanager
def bf16_guard() -> Iterator[None]:
    """A guard whose operators work in bfloat16 where :func:`decorate_bf16` says so."""
    yield


decorate_bf16: Final = refusing(
    "decorate_bf16(optimizer: Optimizer, amp_lists: Any = None, use_pure_bf16: bool = False, "
    "use_bf16_guard: bool | None = None)",
    "Not there.",
    "decorate_bf16: there are no operators in bfloat16; use float32",
)

list_public_names(globals())
answer_of_paddle_2(globals())
hold(globals())
