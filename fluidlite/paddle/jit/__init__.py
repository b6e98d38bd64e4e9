"""``paddle.jit`` of paddle 2.6: functions and layers as programs, and models of them in files."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ..holders import hold
from . import api as api
from . import dy2static as dy2static
from .models import TranslatedLayer as TranslatedLayer
from .models import load as load
from .models import save as save
from .translating import enable_to_static as enable_to_static
from .translating import ignore_module as ignore_module
from .translating import not_to_static as not_to_static
from .translating import set_code_level as set_code_level
from .translating import set_verbosity as set_verbosity
from .translating import to_static as to_static

list_given_names(globals(), "api", "dy2static")
hold(globals())
