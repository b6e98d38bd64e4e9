"""Houses in Boston."""

from __future__ import annotations

import numpy as np

from ....dataset.formats.houses import houses
from ....functions.arithmetic import get_default_dtype
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .local import SET, TextSet, file_of, part_of


@SET
class UCIHousing(TextSet):
    """Houses in Boston: 13 figures, made comparable, and the price.

    Args:
        mode: "train", four fifths of them, or "test".
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", download: bool = True
    ) -> None:
        self.mode = part_of(mode, "train", "test")
        self.data_file = file_of(data_file, "uci_housing", "housing.data")
        rows = houses(self.data_file)[self.mode == "test"].astype(get_default_dtype())
        self._samples = [(row[:-1], row[-1:]) for row in np.asarray(rows)]


list_public_names(globals())
api_boundaries(globals())
