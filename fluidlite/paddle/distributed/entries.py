"""Which rows of a table of parameters are kept, an argument of ``sparse_embedding``.

Parameter servers read this, which fluidlite lacks: it is accepted without effect.
"""

from __future__ import annotations

from ...errors import ArgumentError
from ...ground.arguments import refused
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries


class EntryAttr(Described):
    """What all of them are."""

    #: the text in which operators keep it
    _attr = ""

    def _to_attr(self) -> str:
        """The text in which operators keep it."""
        if not self._attr:
            raise NotImplementedError
        return self._attr.format_map(vars(self))


class CountFilterEntry(EntryAttr):
    """Rows are kept that were looked up often enough.

    Args:
        count_filter: how often, 0 or more.

    Raises:
        ArgumentError: it is something else.
    """

    _attr = "count_filter_entry:{_count_filter}"

    def __init__(self, count_filter: int) -> None:
        if type(count_filter) is not int or count_filter < 0:
            raise refused(self, "count_filter", "a whole number, 0 or more", count_filter)
        self._count_filter = count_filter


class ProbabilityEntry(EntryAttr):
    """Rows are kept with a probability.

    Args:
        probability: between 0 and 1.

    Raises:
        ArgumentError: it is something else.
    """

    _attr = "probability_entry:{_probability}"

    def __init__(self, probability: float) -> None:
        if not isinstance(probability, float) or not 0 < probability < 1:
            raise refused(self, "probability", "a fraction between 0 and 1", probability)
        self._probability = probability


class ShowClickEntry(EntryAttr):
    """Rows are kept by how often they were shown and clicked.

    Args:
        show_name: the name of the variable that says how often rows were shown.
        click_name: the name of that which says how often they were clicked.

    Raises:
        ArgumentError: a name is no text.
    """

    _attr = "show_click_entry:{_show_name}:{_click_name}"

    def __init__(self, show_name: str, click_name: str) -> None:
        if not isinstance(show_name, str) or not isinstance(click_name, str):
            raise ArgumentError(
                f"expected names of variables, got {show_name!r:.60} and {click_name!r:.60}"
            )
        self._show_name, self._click_name = show_name, click_name


list_public_names(globals())
api_boundaries(globals())
