"""setuptools' build backend, whose wheels are the same bytes at every build."""

import os
from typing import Any

from setuptools import build_meta

# The earliest moment that a zip archive can hold; it is what the files of a wheel are dated.
os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800")


def __getattr__(name: str) -> Any:
    return getattr(build_meta, name)
