"""How programs become bytes.  The package of file formats says it; programs do not know that
package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..errors import FluidError

if TYPE_CHECKING:
    from .program import Program


class Encoding(Protocol):
    """Programs as bytes."""

    def encode(self, program: Program, call_sites: bool | None) -> bytes:
        """The bytes of a program; arguments as of :meth:`Program.to_bytes`."""
        ...

    def decode(self, program: Program, data: bytes, name: str) -> None:
        """Fill an empty program.

        Args:
            program: without variables and operators.
            data: the bytes.
            name: what messages call them: the path of a file.
        """
        ...


_REGISTERED: list[Encoding] = []


def register_encoding(encoding: Encoding) -> None:
    """Make this the way in which programs become bytes."""
    _REGISTERED.append(encoding)


def encoding() -> Encoding:
    """The way in which programs become bytes."""
    if not _REGISTERED:
        raise FluidError("programs become bytes once fluidlite.proto.program is imported")
    return _REGISTERED[-1]
