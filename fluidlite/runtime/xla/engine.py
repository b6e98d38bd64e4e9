"""What an executor on JAX keeps: its device, and how programs have been divided."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import jax

from ... import backend as backends
from ...errors import ArgumentError, UnsupportedError
from ..plan import Plan
from .session import Device, DeviceSession, stages_text


class Engine:
    """Runs programs by JAX.

    Args:
        gpu: the number of a CUDA device; None for the device that JAX prefers.
        remedy: what to do where there is no such device.

    Raises:
        UnsupportedError: JAX does not see the device.
        ArgumentError: ``FLUIDLITE_JAX_RANDOM`` is neither "device" nor "host".
    """

    name = "jax"

    def __init__(self, gpu: int | None, remedy: str) -> None:
        draws = os.environ.get("FLUIDLITE_JAX_RANDOM", "") or "device"
        if draws not in ("device", "host"):
            raise ArgumentError(
                f"expected FLUIDLITE_JAX_RANDOM to be device or host, got {draws!r:.60}"
            )
        pair = backends.get("jax"), backends.get("numpy")
        self._device = Device(pair, _device(gpu, remedy), draws == "host")

    def session(self, seed: int, count: int, **how: Any) -> DeviceSession:
        """The next run of a program.

        Args:
            seed: what random operators start from.
            count: the number of the run.
            how: of :class:`Session`.
        """
        return DeviceSession(self._device.backends[1], seed, count, on=self._device, **how)

    def describe(self, plan: Plan) -> None:
        """Let a plan say how it is divided."""
        plan.staged = partial(stages_text, self._device, plan)


def _device(gpu: int | None, remedy: str) -> Any:
    if gpu is None:
        return None
    try:
        seen = jax.devices("cuda")
    except RuntimeError:
        seen = []
    for device in seen:
        if device.id == gpu:
            return device
    listed = ", ".join(str(d.id) for d in seen) or "none"
    raise UnsupportedError(
        f"CUDAPlace({gpu}) is not there: JAX sees these CUDA devices: {listed}; {remedy}"
    )
