"""``paddle.text`` of paddle 2.6: the likeliest tags of sentences, and sets of texts."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ..holders import hold
from . import datasets as datasets
from .datasets import WMT14 as WMT14
from .datasets import WMT16 as WMT16
from .datasets import Conll05st as Conll05st
from .datasets import Imdb as Imdb
from .datasets import Imikolov as Imikolov
from .datasets import Movielens as Movielens
from .datasets import UCIHousing as UCIHousing
from .viterbi_decode import ViterbiDecoder as ViterbiDecoder
from .viterbi_decode import viterbi_decode as viterbi_decode

list_given_names(globals(), "datasets")
hold(globals())
