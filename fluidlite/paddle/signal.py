"""``paddle.signal`` of paddle 2.6: signals and the transforms of their frames."""

from __future__ import annotations

from ..functions.signals import frame as frame
from ..functions.signals import istft as istft
from ..functions.signals import overlap_add as overlap_add
from ..functions.signals import stft as stft
from ..ground.public_names import list_given_names
from ..ground.tracebacks import api_boundaries

list_given_names(globals())
api_boundaries(globals(), quick=True, imported=True)
