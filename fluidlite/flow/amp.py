"""Mixed precision, in OneFlow's spelling: on a CPU it computes in the types that are there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..eager.engine import located
from ..errors import DeviceError
from ..ground import state
from ..ground.fields import from_fields
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundaries
from . import kinds

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class _Switches:
    """What programs set and ask."""

    enabled: bool = False
    caches: bool = True
    cpu: DTypeLike = kinds.float16
    gpu: DTypeLike = kinds.float16


_switches: state.StateSlot[_Switches] = state.slot("autocast", _Switches)


@from_fields
class autocast(Described):
    """A guard under which products on a graphics processor are computed in fewer bits.

    On a CPU, as in OneFlow 0.9, tensors keep their element types.

    Args:
        device_type: "cpu" or "cuda".
        dtype: the element type of products; the one that was set when None.
        enabled: False: the guard changes nothing.
        cache_enabled: accepted: nothing is cast twice.

    Raises:
        DeviceError: another device.

    >>> with fluid.flow.autocast("cpu"):
    ...     print(fluid.flow.matmul(fluid.flow.ones(2, 2), fluid.flow.ones(2, 2)).dtype)
    oneflow.float32
    """

    device_type: str
    dtype: DTypeLike = None
    enabled: bool = True
    cache_enabled: bool | None = None

    def begin(self, given: dict[str, Any]) -> None:
        device_type, dtype, enabled, cache_enabled = given.values()
        if device_type not in ("cpu", "cuda"):
            raise located(DeviceError, f"expected 'cpu' or 'cuda', got {device_type!r:.60}")
        now = _switches.get()
        own = {"cpu": now.cpu, "cuda": now.gpu}[device_type] if dtype is None else dtype
        changes: dict[str, Any] = {"cpu" if device_type == "cpu" else "gpu": own}
        if cache_enabled is not None:
            changes["caches"] = cache_enabled
        self._inside: _Switches = replace(
            now, **changes, enabled=bool(enabled) and device_type == "cuda"
        )
        self._before: list[_Switches] = []

    def __enter__(self) -> autocast:
        self._before.append(_switches.switch(self._inside))
        return self

    def __exit__(self, *error: object) -> None:
        _switches.switch(self._before.pop())

    def __call__(self, func: F) -> F:
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: F) -> F:
    """A function that runs under a guard.

    Args:
        autocast_instance: the guard.
        func: the function.

    >>> def product(x):
    ...     return fluid.flow.matmul(x, x)
    >>> y = fluid.flow.ones(2, 2)
    >>> fluid.flow.autocast_decorator(fluid.flow.autocast("cpu"), product)(y).shape
    oneflow.Size([2, 2])
    """

    @functools.wraps(func)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    made: Any = guarded
    return made


@dataclass(eq=False, repr=False)
class GradScaler(Described):
    """How the loss of a graph is scaled where gradients have few bits; see ``nn.Graph``.

    On a CPU gradients have the bits of their parameters, and no loss is scaled.

    Args:
        init_scale: the first factor.
        growth_factor: what it is multiplied by after steps without an overflow.
        backoff_factor: what it is multiplied by after an overflow.
        growth_interval: how many steps without one.
    """

    init_scale: float = 65536.0
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000


@dataclass(eq=False, repr=False)
class StaticGradScaler(Described):
    """A factor of the loss of a graph that does not change; see :class:`GradScaler`.

    Args:
        scale_factor: the factor.
    """

    scale_factor: float


def is_autocast_enabled() -> bool:
    """Whether products are computed in fewer bits: not on a CPU.

    >>> fluid.flow.is_autocast_enabled()
    False
    """
    return _switches.get().enabled


def set_autocast_enabled(enabled: bool) -> None:
    """Say whether products are computed in fewer bits; see :class:`autocast`.

    >>> fluid.flow.set_autocast_enabled(False)
    """
    _switches.switch(replace(_switches.get(), enabled=bool(enabled)))


def get_autocast_cpu_dtype() -> DTypeLike:
    """The element type that was set for products on a CPU.

    >>> fluid.flow.get_autocast_cpu_dtype()
    oneflow.float16
    """
    return _switches.get().cpu


def set_autocast_cpu_dtype(dtype: DTypeLike) -> None:
    """Say the element type of products on a CPU; see :class:`autocast`.

    >>> fluid.flow.set_autocast_cpu_dtype(fluid.flow.float16)
    """
    _switches.switch(replace(_switches.get(), cpu=dtype))


def get_autocast_gpu_dtype() -> DTypeLike:
    """The element type that was set for products on a graphics processor.

    >>> fluid.flow.get_autocast_gpu_dtype()
    oneflow.float16
    """
    return _switches.get().gpu


def set_autocast_gpu_dtype(dtype: DTypeLike) -> None:
    """Say the element type of products on a graphics processor.

    >>> fluid.flow.set_autocast_gpu_dtype(fluid.flow.float16)
    """
    _switches.switch(replace(_switches.get(), gpu=dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether casts were said to be kept.

    >>> fluid.flow.is_autocast_cache_enabled()
    True
    """
    return _switches.get().caches


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether casts are kept; nothing is cast twice in any case.

    >>> fluid.flow.set_autocast_cache_enabled(True)
    """
    _switches.switch(replace(_switches.get(), caches=bool(enabled)))


def clear_autocast_cache() -> None:
    """Nothing: no casts are kept.

    >>> fluid.flow.clear_autocast_cache()
    """


list_public_names(globals())
api_boundaries(globals())
