"""``paddle.audio.features`` of paddle 2.6: layers that give features of sounds."""

from __future__ import annotations

from ....ground.public_names import list_given_names
from .layers import MFCC as MFCC
from .layers import LogMelSpectrogram as LogMelSpectrogram
from .layers import MelSpectrogram as MelSpectrogram
from .layers import Spectrogram as Spectrogram

list_given_names(globals(), "layers")
