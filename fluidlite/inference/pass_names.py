"""Names of passes, as configurations list them."""

from __future__ import annotations

from collections.abc import Iterable

from ..ground.tracebacks import api_boundary


@api_boundary
class PaddlePassBuilder:
    """A list of names of passes; plans are rewritten by those of the executor whatever it holds.

    Args:
        passes: the names.
    """

    def __init__(self, passes: Iterable[str] = ()) -> None:
        self._passes = list(passes)
        self._analysis: list[str] = []

    def all_passes(self) -> list[str]:
        """The names."""
        return list(self._passes)

    def analysis_passes(self) -> list[str]:
        """Those that were appended as such."""
        return list(self._analysis)

    def append_pass(self, pass_type: str) -> None:
        """Put a name behind the others."""
        self._passes.append(pass_type)

    def append_analysis_pass(self, pass_type: str) -> None:
        """Put a name behind those of analyses."""
        self._analysis.append(pass_type)

    def insert_pass(self, idx: int, pass_type: str) -> None:
        """Put a name at a place."""
        self._passes.insert(idx, pass_type)

    def delete_pass(self, pass_type: str) -> None:
        """Take a name out, wherever it is."""
        self._passes = [each for each in self._passes if each != pass_type]

    def set_passes(self, passes: Iterable[str]) -> None:
        """Hold other names."""
        self._passes = list(passes)

    def turn_on_debug(self) -> None:
        """Accepted."""

    def debug_string(self) -> str:
        """The names, a line each."""
        return "\n".join(f"  - {each}" for each in self._passes)
