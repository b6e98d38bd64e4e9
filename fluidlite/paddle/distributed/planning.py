"""How a program would be divided among processes, as ``distributed.to_static`` would be told."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries

__all__ = ["Strategy"]

_SETTINGS: dict[str, dict[str, Any]] = {
    "sharding": {
        "enable": False, "stage": 1, "degree": 8, "enable_overlap": False,
        "param_comm_stream_num": 1, "grad_comm_stream_num": 1, "param_bucket_size_numel": 1,
        "grad_bucket_size_numel": 1, "enable_hierarchical_comm": False,
        "partition_algor": "greedy_even", "enable_tuning": False, "tuning_range": [],
    },
    "gradient_merge": {"enable": False, "k_steps": 1, "avg": True},
    "pipeline": {
        "enable": False, "schedule_mode": "1F1B", "micro_batch_size": 1, "accumulate_steps": 1,
        "generation_batch_size": 1, "enable_send_recv_overlap": False,
        "job_schedule_profiler_start": -1, "job_schedule_profiler_stop": -1,
    },
    "fused_passes": {"enable": False, "gemm_epilogue": False, "dropout_add": False},
}  # fmt: skip
_OWN: dict[str, Any] = {
    "auto_mode": "semi", "gradient_scale": True, "use_cache": True, "return_numpy": True,
    "all_ranks": False, "split_data": True, "seed": None, "reinit": False,
}  # fmt: skip


class Settings:
    """Values by name, as attributes.

    Args:
        values: the values.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        vars(self).update(copy.deepcopy(dict(values)))

    def to_dict(self) -> dict[str, Any]:
        """The values by name."""
        return copy.deepcopy(vars(self))

    def from_dict(self, config: Mapping[str, Any]) -> None:
        """Take values.

        Args:
            config: by name.
        """
        vars(self).update({k: v for k, v in config.items() if k in vars(self)})

    def get(self, name: str, default: Any = None) -> Any:
        """A value.

        Args:
            name: its name.
            default: what is given if there is none.
        """
        return vars(self).get(name, default)

    def __repr__(self) -> str:
        return "{" + "".join(f'"{name}":"{value}",' for name, value in vars(self).items()) + "}"


class Strategy(Settings):
    """How a program would be divided; see :func:`to_static`.

    Args:
        config: settings by name: ``sharding``, ``gradient_merge``, ``pipeline``,
            ``fused_passes``.

    Raises:
        ArgumentError: it is no dictionary.

    >>> from fluidlite.paddle import distributed
    >>> strategy = distributed.Strategy({"sharding": {"enable": True, "stage": 2}})
    >>> strategy.sharding.stage, strategy.pipeline.schedule_mode
    (2, '1F1B')
    """

    sharding: Settings
    gradient_merge: Settings
    pipeline: Settings
    fused_passes: Settings

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        if config is not None and not isinstance(config, Mapping):
            raise ArgumentError(f"expected config to be a dictionary, got {config!r:.60}")
        parts = {name: Settings(values) for name, values in _SETTINGS.items()}
        for name, part in parts.items():
            part.from_dict((config or {}).get(name, {}))
        super().__init__({**_OWN, **parts})
        self.from_dict({k: v for k, v in (config or {}).items() if k in _OWN})

    def to_dict(self) -> dict[str, Any]:
        return {
            name: value.to_dict() if isinstance(value, Settings) else value
            for name, value in vars(self).items()
        }


list_public_names(globals())
api_boundaries(globals())
