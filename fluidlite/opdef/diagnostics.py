"""Input that an operator computes with, and that hardly means what it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class WarnsOfInput:
    """What operators derive from that run on doubtful input: a program says so once for each.

    Only what fluid 1.8 computes with is doubtful; what means nothing is an error.
    """

    def input_warnings(self, ins: Mapping[str, Any]) -> Iterable[str]:
        """What is doubtful about the inputs, as texts that begin with what was expected.

        Args:
            ins: values by input slot; in ragged slots LoDTensors, where there are sequences.
        """
        raise NotImplementedError
