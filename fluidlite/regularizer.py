"""Weight decay: what is added to a parameter's gradient."""

from __future__ import annotations


class WeightDecayRegularizer:
    """The base of all regularizers."""
