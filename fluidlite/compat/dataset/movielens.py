"""Films, who watched them, and how they liked them (MovieLens 1M)."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...ground import state
from .homes import fetch, file_of, is_synthetic
from .made import Reader, generator

__all__ = [
    "age_table", "fetch", "get_movie_title_dict", "max_job_id", "max_movie_id", "max_user_id",
    "movie_categories", "movie_info", "test", "train", "user_info",
]  # fmt: skip

age_table: list[int] = [1, 18, 25, 35, 45, 50, 56]
_TITLE = re.compile(r"^(.*)\((\d+)\)$")


class MovieInfo:
    """A film: its number, the title without the year, its categories."""

    def __init__(self, index: Any, categories: list[str], title: str) -> None:
        self.index: int = int(index)
        self.categories = categories
        self.title = title

    def value(self) -> list[Any]:
        """The number, those of the categories, and those of the title's words."""
        held = _catalogue(is_synthetic(), _path())
        return [
            self.index,
            [held.categories[each] for each in self.categories],
            [held.words[word.lower()] for word in self.title.split()],
        ]

    def __repr__(self) -> str:
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


class UserInfo:
    """Who watches: number, gender, age, occupation."""

    def __init__(self, index: Any, gender: str, age: Any, job_id: Any) -> None:
        self.index: int = int(index)
        self.is_male: bool = gender == "M"
        self.age: int = age_table.index(int(age))
        self.job_id: int = int(job_id)

    def value(self) -> list[int]:
        """The number, 0 for a man and 1 for a woman, which age, which occupation."""
        return [self.index, 0 if self.is_male else 1, self.age, self.job_id]

    def __repr__(self) -> str:
        return (
            f"<UserInfo id({self.index}), gender({'M' if self.is_male else 'F'}), "
            f"age({age_table[self.age]}), job({self.job_id})>"
        )


@dataclass
class _Catalogue:
    movies: dict[int, MovieInfo]
    users: dict[int, UserInfo]
    words: dict[str, int]
    categories: dict[str, int]
    ratings: list[tuple[int, int, float]]


#: what the set holds, once it was read
_read_last: state.StateSlot[_Catalogue | None] = state.slot("films", lambda: None)


def _once_read(field: str, said: str) -> property:
    """A part of what the set holds."""

    def held(self: FilmsState) -> Any:
        return getattr(_read_last.get(), field, None)

    return property(held, doc=f"{said}; None before.")


class FilmsState:
    """What ``paddle.dataset.movielens`` kept at module level once the set was read."""

    MOVIE_INFO: property = _once_read("movies", "The films")
    MOVIE_TITLE_DICT: property = _once_read("words", "The numbers of the titles' words")
    CATEGORIES_DICT: property = _once_read("categories", "The numbers of the categories")
    USER_INFO: property = _once_read("users", "Who watches")


def _path() -> str:
    if is_synthetic():
        return ""
    return file_of("movielens", "movielens%2Fml-1m.zip", "ml-1m.zip")


@cache
def _catalogue(synthetic: bool, path: str) -> _Catalogue:
    movies, users, ratings = _made() if synthetic else _read(path)
    words = {word.lower() for movie in movies.values() for word in movie.title.split()}
    categories = {each for movie in movies.values() for each in movie.categories}
    return _Catalogue(
        movies,
        users,
        # 1.8 numbered them in another order each time.
        {word: number for number, word in enumerate(sorted(words))},
        {category: number for number, category in enumerate(sorted(categories))},
        ratings,
    )


def _read(path: str) -> Any:
    with zipfile.ZipFile(path) as archive:

        def rows(name: str) -> Iterator[list[str]]:
            for line in archive.read(f"ml-1m/{name}.dat").decode("latin").splitlines():
                yield line.strip().split("::")

        movies, users = {}, {}
        for number, title, categories in rows("movies"):
            matched = _TITLE.match(title)
            name = matched.group(1) if matched else title
            movies[int(number)] = MovieInfo(number, categories.split("|"), name)
        for number, gender, age, job, _ in rows("users"):
            users[int(number)] = UserInfo(number, gender, age, job)
        ratings = [(int(u), int(m), float(r)) for u, m, r, _ in rows("ratings")]
    return movies, users, ratings


def _made() -> Any:
    random = generator("movielens")
    kinds = [f"Kind{i:02d}" for i in range(18)]
    names = [f"Word{i:04d}" for i in range(5175)]
    movies = {}
    for i in range(1, 3953):
        own = sorted({kinds[j] for j in random.integers(0, len(kinds), random.integers(1, 4))})
        title = " ".join(names[j] for j in random.integers(0, len(names), random.integers(1, 6)))
        movies[i] = MovieInfo(i, own, title)
    users = {
        i: UserInfo(i, "MF"[gender], age_table[age], job)
        for i, gender, age, job in zip(
            range(1, 6041), *random.integers(0, [[2], [7], [21]], [3, 6040])
        )
    }
    movies[1].title = " ".join(names[:8])
    ratings = []
    for user, movie in zip(random.integers(1, 6041, 4000), random.integers(1, 3953, 4000)):
        liked = (users[int(user)].job_id + len(movies[int(movie)].categories)) % 5 + 1
        ratings.append((int(user), int(movie), float(liked)))
    return movies, users, ratings


def __reader__(rand_seed: int = 0, test_ratio: float = 0.1, is_test: bool = False) -> Iterator[Any]:
    held = _held()
    drawn = np.random.RandomState(rand_seed)
    for user, movie, rating in held.ratings:
        if (drawn.random_sample() < test_ratio) == is_test:
            # The best is 5 and the worst -3.
            yield [*held.users[user].value(), *held.movies[movie].value(), [rating * 2 - 5.0]]


def _reader(is_test: bool) -> Reader:
    _path()
    return lambda: __reader__(is_test=is_test)


def train() -> Reader:
    """A reader of nine tenths of the ratings: user, gender, age, occupation, film, categories,
    words of the title, [rating].
    """
    return _reader(False)


def test() -> Reader:
    """A reader of the other tenth."""
    return _reader(True)


def _held() -> _Catalogue:
    found = _catalogue(is_synthetic(), _path())
    _read_last.switch(found)
    return found


def get_movie_title_dict() -> dict[str, int]:
    """The numbers of the titles' words."""
    return _held().words


def movie_categories() -> dict[str, int]:
    """The numbers of the categories."""
    return _held().categories


def movie_info() -> dict[int, MovieInfo]:
    """The films."""
    return _held().movies


def user_info() -> dict[int, UserInfo]:
    """Who watches."""
    return _held().users


def max_movie_id() -> int:
    """The greatest number of a film."""
    return max(_held().movies)


def max_user_id() -> int:
    """The greatest number of a user."""
    return max(_held().users)


def max_job_id() -> int:
    """The greatest number of an occupation."""
    return max(user.job_id for user in _held().users.values())
