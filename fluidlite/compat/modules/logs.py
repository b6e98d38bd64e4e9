"""``fluid.log_helper``."""

from __future__ import annotations

import logging


def get_logger(name: str, level: int, fmt: str | None = None) -> logging.Logger:
    """A logger with a handler of its own.

    Args:
        name: of the logger.
        level: what is less important is not said.
        fmt: of the messages; a message alone when None.
    """
    logger = logging.getLogger(name)
    logger.setLevel(level)
    handler = logging.StreamHandler()
    if fmt:
        handler.setFormatter(logging.Formatter(fmt=fmt))
    logger.addHandler(handler)
    logger.propagate = False
    return logger
