"""Films, who watched them, and how they liked them (MovieLens 1M)."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import FileFormatError
from ...ground.files import Path, file_error, usable_path
from ...ground.public_names import list_public_names

AGES: list[int] = [1, 18, 25, 35, 45, 50, 56]
_TITLE = re.compile(r"^(.*)\((\d+)\)$")


class Film:
    """A film: its number, the title without the year, its categories."""

    def __init__(self, index: Any, categories: list[str], title: str) -> None:
        self.index: int = int(index)
        self.categories = categories
        self.title = title

    def numbers(self, categories: dict[str, int], words: dict[str, int]) -> list[Any]:
        """The number, those of the categories, and those of the title's words.

        Args:
            categories, words: numbers.
        """
        return [
            self.index,
            [categories[each] for each in self.categories],
            [words[word.lower()] for word in self.title.split()],
        ]

    def __repr__(self) -> str:
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


class Watcher:
    """Who watches: number, gender, age, occupation."""

    def __init__(self, index: Any, gender: str, age: Any, job_id: Any) -> None:
        self.index: int = int(index)
        self.is_male: bool = gender == "M"
        self.age: int = AGES.index(int(age))
        self.job_id: int = int(job_id)

    def value(self) -> list[int]:
        """The number, 0 for a man and 1 for a woman, which age, which occupation."""
        return [self.index, 0 if self.is_male else 1, self.age, self.job_id]

    def __repr__(self) -> str:
        return (
            f"<UserInfo id({self.index}), gender({'M' if self.is_male else 'F'}), "
            f"age({AGES[self.age]}), job({self.job_id})>"
        )


@dataclass
class Catalogue:
    """Films, users, ratings of films by users; numbers of titles' words and of categories."""

    movies: dict[int, Any]
    users: dict[int, Any]
    ratings: list[tuple[int, int, float]]
    words: dict[str, int] = field(init=False)
    categories: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        films = self.movies.values()
        # 1.8 numbered them in another order each time.
        words = {word.lower() for film in films for word in film.title.split()}
        self.words = {word: number for number, word in enumerate(sorted(words))}
        kinds = {each for film in films for each in film.categories}
        self.categories = {kind: number for number, kind in enumerate(sorted(kinds))}

    def part(self, rand_seed: int, test_ratio: float, is_test: bool) -> Iterator[list[Any]]:
        """Samples: user, gender, age, occupation, film, categories, words of the title, [rating].

        Args:
            rand_seed: by which samples are chosen for the test.
            test_ratio: which share of them.
            is_test: whether these are given, or the others.
        """
        drawn = np.random.RandomState(rand_seed)
        for user, movie, rating in self.ratings:
            if (drawn.random_sample() < test_ratio) == is_test:
                film = self.movies[movie].numbers(self.categories, self.words)
                # The best is 5 and the worst -3.
                yield [*self.users[user].value(), *film, [rating * 2 - 5.0]]


def read(path: Path, film: Callable[..., Any] = Film, watcher: Callable[..., Any] = Watcher) -> Any:
    """Films and users by their numbers, and ratings: user, film, stars.

    Args:
        path: of the archive.
        film, watcher: what makes one.

    Raises:
        FileError: the archive cannot be read.
        FileFormatError: it holds something else.
    """
    try:
        with zipfile.ZipFile(usable_path("read", path)) as archive:

            def rows(name: str) -> Iterator[list[str]]:
                for line in archive.read(f"ml-1m/{name}.dat").decode("latin").splitlines():
                    yield line.strip().split("::")

            movies, users = {}, {}
            for number, title, categories in rows("movies"):
                matched = _TITLE.match(title)
                name = matched.group(1) if matched else title
                movies[int(number)] = film(number, categories.split("|"), name)
            for number, gender, age, job, _ in rows("users"):
                users[int(number)] = watcher(number, gender, age, job)
            ratings = [(int(u), int(m), float(r)) for u, m, r, _ in rows("ratings")]
    except OSError as error:
        raise file_error("read", path, error) from error
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise FileFormatError(f"{path!s}: expected MovieLens 1M, a zip archive: {error}") from error
    return movies, users, ratings


list_public_names(globals())
