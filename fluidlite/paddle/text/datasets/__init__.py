"""Sets of texts over local files; nothing is downloaded."""

from __future__ import annotations

from ....ground.public_names import list_given_names
from ...holders import hold
from .conll05 import Conll05st as Conll05st
from .imdb import Imdb as Imdb
from .imikolov import Imikolov as Imikolov
from .movielens import Movielens as Movielens
from .uci_housing import UCIHousing as UCIHousing
from .wmt14 import WMT14 as WMT14
from .wmt16 import WMT16 as WMT16

list_given_names(globals(), "conll05", "imdb", "imikolov", "movielens", "uci_housing")
hold(globals())
