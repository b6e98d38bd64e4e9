"""``paddle.incubate.autotune``: what would be tried out on devices."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...ground.callsite import warn
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries

_KNOWN = ("dataloader", "kernel", "layout")


def set_config(config: Mapping[str, Any] | Path | None = None) -> None:
    """Say what is to be tried out: nothing is, kernels are chosen by what they cost.

    Args:
        config: settings of ``kernel``, ``layout`` and ``dataloader``; or a file of JSON with them;
            all when None.
    """
    if isinstance(config, (str, os.PathLike)):
        try:
            with open(config, encoding="utf-8") as file:
                config = json.load(file)
        except (OSError, ValueError) as error:
            warn(f"autotune.set_config: {error}; nothing is read", None)
            return
    if config is not None and not isinstance(config, Mapping):
        warn(f"autotune.set_config: expected settings or a file, got {config!r:.60}", None)
        return
    for name in config or ():
        if name not in _KNOWN:
            warn(f"autotune.set_config: there is no {name!r}, there are {', '.join(_KNOWN)}", None)


list_public_names(globals())
api_boundaries(globals())
