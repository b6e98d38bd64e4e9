"""Tables of embeddings, in whichever spelling."""

from __future__ import annotations

from ..eager.engine import located
from ..errors import ArgumentError


def need_row(padding_idx: int | None, rows: int) -> None:
    """See that a table has a row of zeros, if one is requested.

    Raises:
        ArgumentError: it has not.
    """
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise located(
            ArgumentError, f"expected padding_idx in [{-rows}, {rows}), got {padding_idx!r:.60}"
        )
