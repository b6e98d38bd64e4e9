"""Films, who watched them, and how they liked them (MovieLens 1M)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ...dataset.formats.films import AGES, Catalogue, Film, Watcher, read
from ...ground import state
from ...ground.tracebacks import api_boundaries
from .homes import fetch, file_of, is_synthetic
from .made import Reader, generator

__all__ = [
    "age_table", "fetch", "get_movie_title_dict", "max_job_id", "max_movie_id", "max_user_id",
    "movie_categories", "movie_info", "test", "train", "user_info",
]  # fmt: skip

age_table: list[int] = AGES


class MovieInfo(Film):
    """A film: its number, the title without the year, its categories."""

    def value(self) -> list[Any]:
        """The number, those of the categories, and those of the title's words."""
        held = _catalogue(is_synthetic(), _path())
        return self.numbers(held.categories, held.words)


UserInfo = Watcher


#: what the set holds, once it was read
_read_last: state.StateSlot[Catalogue | None] = state.slot("films", lambda: None)


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
def _catalogue(synthetic: bool, path: str) -> Catalogue:
    return Catalogue(*(_made() if synthetic else read(path, MovieInfo)))


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
    yield from _held().part(rand_seed, test_ratio, is_test)


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


def _held() -> Catalogue:
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


api_boundaries(globals())
