"""``paddle.callbacks`` of paddle 2.6: what ``paddle.Model`` calls while it trains and tests."""

from __future__ import annotations

from ..ground.public_names import list_given_names
from .hapi.callbacks import Callback as Callback
from .hapi.callbacks import EarlyStopping as EarlyStopping
from .hapi.callbacks import LRScheduler as LRScheduler
from .hapi.callbacks import ModelCheckpoint as ModelCheckpoint
from .hapi.callbacks import ProgBarLogger as ProgBarLogger
from .hapi.callbacks import ReduceLROnPlateau as ReduceLROnPlateau
from .hapi.callbacks import VisualDL as VisualDL
from .hapi.callbacks import WandbCallback as WandbCallback

list_given_names(globals())
