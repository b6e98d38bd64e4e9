"""Films, who watched them, and how they liked them."""

from __future__ import annotations

import numpy as np

from ....dataset.formats import films
from ....dataset.formats.archives import format_of
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .local import SET, TextSet, file_of, part_of


@SET
class Movielens(TextSet):
    """Ratings of films: user, gender, age, occupation, film, its categories, the words of its
    title, and the rating, from -3 to 5.

    Args:
        mode: "train" or "test".
        test_ratio: which share of the ratings is for the test.
        rand_seed: by which they are chosen.
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        test_ratio: float = 0.1,
        rand_seed: int = 0,
        download: bool = True,
    ) -> None:
        self.mode = part_of(mode, "train", "test")
        self.data_file = file_of(data_file, "movielens", "movielens%2Fml-1m.zip", "ml-1m.zip")
        with format_of(self.data_file):
            self.test_ratio, self.rand_seed = test_ratio, rand_seed
            catalogue = films.Catalogue(*films.read(self.data_file))
            self.movie_info, self.user_info = catalogue.movies, catalogue.users
            self.movie_title_dict, self.categories_dict = catalogue.words, catalogue.categories
            part = catalogue.part(rand_seed, test_ratio, self.mode == "test")
            self._samples = [[np.atleast_1d(each) for each in sample] for sample in part]


list_public_names(globals())
api_boundaries(globals())
