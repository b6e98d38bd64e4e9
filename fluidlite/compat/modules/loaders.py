"""The class that loaders of data derived from, and a second name of one of them."""

from __future__ import annotations

from abc import ABCMeta

from ...readers.generator import GeneratorLoader
from ...readers.loader import DataLoader, DatasetLoader

DygraphGeneratorLoader = GeneratorLoader


class DataLoaderBase(metaclass=ABCMeta):  # noqa: B024
    """Every loader is an instance."""


for _loader in (DataLoader, DatasetLoader, GeneratorLoader):
    DataLoaderBase.register(_loader)
