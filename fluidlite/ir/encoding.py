"""How programs become bytes.  The package of file formats says it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from .program import Program

#: the module that says it; a layer above this one, so it is reached by name
_SAYING = f"{__package__.rpartition('.')[0]}.proto.program"


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


def encoding() -> Encoding:
    """The way in which programs become bytes; it is read when first needed."""
    return cast(Encoding, import_module(_SAYING))
