"""Readers of classic data sets, in the manner of ``paddle.dataset``; nothing is downloaded.

A data set is a module with ``train()`` and ``test()``.  Each returns a reader creator: a function
that, called without arguments, yields the samples one by one from the beginning.
"""

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..readers.files import DatasetFactory as DatasetFactory
from ..readers.files import InMemoryDataset as InMemoryDataset
from ..readers.files import QueueDataset as QueueDataset
from . import digits, iris, made, spoken_numbers, sunspots, wine

__all__ = ["digits", "iris", "made", "spoken_numbers", "sunspots", "wine"]

list_public_names(globals())
answer(globals())
