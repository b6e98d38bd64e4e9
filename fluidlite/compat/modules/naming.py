"""What ``fluid.unique_name`` had besides ``fluidlite.unique_name``."""

from __future__ import annotations

from ...unique_name import NameGenerator, generate

UniqueNameGenerator = NameGenerator


def generate_with_ignorable_key(key: str) -> str:
    """A name; at once, 1.8 shortened it."""
    return generate(key)
