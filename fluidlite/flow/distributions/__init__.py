"""Probability distributions, in OneFlow's spelling."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_given_names
from . import categorical as categorical
from . import distribution as distribution
from .categorical import Categorical as Categorical
from .distribution import Distribution as Distribution

list_given_names(globals(), "categorical", "distribution")
answer(globals())
