"""What is known of a sound file."""

from __future__ import annotations

from dataclasses import dataclass

from ....ground.public_names import list_public_names


@dataclass
class AudioInfo:
    """What is known of a sound file: samples a second, samples, channels, bits, how bits stand for
    numbers.
    """

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


list_public_names(globals())
