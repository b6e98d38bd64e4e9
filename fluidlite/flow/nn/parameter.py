"""Parameters, by the module that OneFlow has them in."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from .module import Parameter as Parameter

list_given_names(globals())
