"""Which array library runs programs: NumPy, or JAX, which is read at its first use."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..ground.place import CUDAPlace, Place, checked

BACKENDS = ("numpy", "jax")
_JAX = f"{__package__}.xla.engine"
_INSTALL = 'pip install "fluidlite[jax]"'
_ON_GPUS = 'pip install "fluidlite[jax]" "jax[cuda12]"'


def chosen(
    place: Place | None, backend: str | None, precision: str | None = None
) -> tuple[Place, Any]:
    """The place to run at, and what runs programs there.

    Args:
        place: the CPU, a CUDA device that JAX sees, or None for the CPU.
        backend: "numpy" or "jax"; what ``FLUIDLITE_BACKEND`` says when None, and NumPy where that
            says nothing.
        precision: of products on JAX; None for what ``FLUIDLITE_JAX_PRECISION`` says.

    Returns:
        the place, and JAX's engine, or None for NumPy.

    Raises:
        ArgumentError: there is no such backend or precision, or NumPy is requested on a CUDA
            device or with a precision.
        UnsupportedError: JAX is not installed, or does not see the device.
    """
    name = backend if backend is not None else os.environ.get("FLUIDLITE_BACKEND", "") or None
    if name is not None and name not in BACKENDS:
        said = "backend" if backend is not None else "FLUIDLITE_BACKEND"
        raise ArgumentError(f"expected {said} to be one of {', '.join(BACKENDS)}, got {name!r:.60}")
    if not isinstance(place, CUDAPlace):
        place = checked(place)
        if name != "jax" and precision is not None:
            raise ArgumentError(
                f"expected backend='jax' with precision={precision!r:.60}: on NumPy products have "
                "the precision of their operands"
            )
        return place, engine(None, precision) if name == "jax" else None
    if backend == "numpy":
        raise ArgumentError(f"NumPy runs programs on the CPU, not at {place!r}: use backend='jax'")
    return place, engine(place.device_id, precision)


def engine(gpu: int | None, precision: str | None = None) -> Any:
    """What runs programs by JAX.

    Args:
        gpu: the number of a CUDA device; None for the device that JAX prefers.
        precision: of products; None for what ``FLUIDLITE_JAX_PRECISION`` says.

    Raises:
        UnsupportedError: JAX is not installed, or does not see the device.
    """
    try:
        module = import_module(_JAX)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("jax", "jaxlib"):
            raise
        what = "the backend 'jax'" if gpu is None else f"CUDAPlace({gpu})"
        command = _INSTALL if gpu is None else _ON_GPUS
        raise UnsupportedError(f"{what} needs JAX, which is not installed: {command}") from None
    return module.Engine(gpu, f"{_ON_GPUS}, or run at CPUPlace()", precision)
