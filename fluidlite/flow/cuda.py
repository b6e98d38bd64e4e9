"""Graphics processors, of which there are none, for programs that ask."""

from __future__ import annotations

from ..ground.public_names import list_public_names


def is_available() -> bool:
    """False: tensors are on the CPU."""
    return False


def device_count() -> int:
    """0: tensors are on the CPU."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: no device draws random numbers.

    Args:
        seed: accepted; :func:`fluidlite.flow.manual_seed` is what draws here.
    """


def manual_seed_all(seed: int) -> None:
    """Nothing: no device draws random numbers.

    Args:
        seed: accepted.
    """


def synchronize(device: object | None = None) -> None:
    """Nothing: what a function gives is computed.

    Args:
        device: accepted.
    """


def empty_cache() -> None:
    """Nothing: no device keeps memory."""


list_public_names(globals())
