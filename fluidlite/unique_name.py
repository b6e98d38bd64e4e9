"""Names that nothing else has: ``fc_0``, ``fc_0.tmp_1``, ``learning_rate_0``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .ground import state
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries, is_boundary


class NameGenerator(Described):
    """Counts names by their stem.

    Args:
        prefix: stands before every name.

    >>> generator = fluid.unique_name.NameGenerator("left_")
    >>> generator("fc"), generator("fc")
    ('left_fc_0', 'left_fc_1')
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counts: dict[str, int] = {}

    @is_boundary  # each layer asks for names, and nothing here calls the user back
    def __call__(self, stem: str) -> str:
        """The next name of a stem."""
        count = self.counts.get(stem, 0)
        self.counts[stem] = count + 1
        return f"{self.prefix}{stem}_{count}"


_generator: state.StateSlot[NameGenerator] = state.slot("names", NameGenerator)


@is_boundary
def generate(key: str) -> str:
    """A name that was not generated before.

    Args:
        key: its stem.

    >>> with guard():
    ...     [generate("fc"), generate("fc"), generate("fc.tmp")]
    ['fc_0', 'fc_1', 'fc.tmp_0']
    """
    return _generator.get()(key)


def current() -> NameGenerator:
    """The generator in use.

    >>> with fluid.unique_name.guard("left_"):
    ...     fluid.unique_name.current().prefix
    'left_'
    """
    return _generator.get()


class DygraphParameterNameChecker(Described):
    """The second of what :func:`switch` gives, as in fluid 1.8; names are checked by programs.

    >>> _, checker = before = fluid.unique_name.switch()
    >>> _ = fluid.unique_name.switch(*before)
    """


def switch(
    new_generator: NameGenerator | None = None,
    new_para_name_checker: DygraphParameterNameChecker | None = None,
) -> tuple[NameGenerator, DygraphParameterNameChecker]:
    """Count with another generator.

    Args:
        new_generator: the generator; a new one when None.
        new_para_name_checker: accepted as fluid 1.8 has it.

    Returns:
        the generator that was used before, and a checker: what ``switch(*before)`` takes.

    >>> before = switch()
    >>> generate("fc")
    'fc_0'
    >>> _ = switch(*before)
    """
    before = _generator.switch(new_generator or NameGenerator())
    return before, new_para_name_checker or DygraphParameterNameChecker()


def names_are_guarded() -> bool:
    """Whether this thread is within :func:`guard`.

    >>> with fluid.unique_name.guard():
    ...     fluid.unique_name.names_are_guarded()
    True
    """
    return _generator.is_covered


@contextmanager
def guard(new_generator: NameGenerator | str | bytes | None = None) -> Iterator[NameGenerator]:
    """Count with another generator inside a ``with`` block.

    Args:
        new_generator: a generator, a prefix for all names, or None for a new generator.

    >>> with fluid.unique_name.guard("left_"):
    ...     fluid.unique_name.generate("fc")
    'left_fc_0'
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if not isinstance(new_generator, NameGenerator):
        new_generator = NameGenerator(new_generator or "")
    with _generator.guard(new_generator):
        yield new_generator


list_public_names(globals())
api_boundaries(globals(), quick=True)
answer(globals())
