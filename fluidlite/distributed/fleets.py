"""What the objects ``fleet`` of fluid 1.8 and paddle 2 have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..errors import ArgumentError
from ..ground.docstrings import Family
from ..ground.spellings import Spelling
from ..ir.program import Program, default_startup_program
from ..ir.variable import Variable
from ..optimizer import Optimizer

T = TypeVar("T")


def split_files(self: Any, files: list[str]) -> list[str]:
    """The files of a list that belong to this process: as many for each, one more for the first
    processes where that does not come out even.

    Args:
        files: names, in the same order everywhere.

    Raises:
        ArgumentError: it is no list.
    """
    if not isinstance(files, list):
        raise ArgumentError(f"expected a list of names of files, got {files!r:.60}")
    least, more = divmod(len(files), self._ask("worker_num"))
    number = self._ask("worker_index")
    first = number * least + min(number, more)
    return files[first : first + least + (number < more)]


def _asked(name: str, kind: Callable[[Any], T], doc: str) -> Callable[[Any], T]:
    """A method that gives what the role of a process says."""

    def method(self: Any) -> T:
        return kind(self._ask(name))

    method.__name__, method.__qualname__, method.__doc__ = name, f"FleetOfAll.{name}", doc
    method.__annotations__ = {"return": kind.__name__}
    return method


class FleetOfAll:
    """What a process knows of all that train together, by its role."""

    def _ask(self, what: str) -> Any:
        """What the role of this process says."""
        raise NotImplementedError

    is_first_worker: Final = _asked("is_first_worker", bool, "Whether this is process 0.")
    worker_index: Final = _asked("worker_index", int, "The number of this process.")
    worker_num: Final = _asked("worker_num", int, "How many processes there are.")
    is_worker: Final = _asked("is_worker", bool, "Whether this process computes.")
    is_server: Final = _asked(
        "is_server", bool, "Whether this process keeps parameters: none does."
    )
    server_num: Final = _asked("server_num", int, "How many processes keep parameters: 0.")
    server_index: Final = _asked("server_index", int, "The number of this process.")

    def worker_endpoints(self, to_string: bool = False) -> list[str] | str:
        """The names of all processes, as ``HOST:PORT``; nothing listens there.

        Args:
            to_string: whether to give one text, with commas between.
        """
        names: list[str] = self._ask("get_trainer_endpoints")
        return ",".join(names) if to_string else names

    def server_endpoints(self, to_string: bool = False) -> list[str] | str:
        """The names of processes that keep parameters: there are none.

        Args:
            to_string: whether to give one text.
        """
        names: list[str] = self._ask("get_pserver_endpoints")
        return ",".join(names) if to_string else names


#: what is said where models are written
SAVED = Family(
    {
        "executor": "what ran the program.",
        "dirname": "the folder.",
        "feeded_var_names": "names of the variables that are given.",
        "target_vars": "the variables that the model computes.",
        "export_for_deployment": "False writes the whole program, to be trained further.",
        "filename": "one file for all variables; a file for each when None.",
        "mode": "accepted.",
    }
)


class OptimizerOfAll:
    """An optimizer of a program whose steps are made from the gradients of all processes."""

    _optimizer: Any

    minimize: Callable[..., Any] = Spelling({})(
        Optimizer.minimize,
        doc="""Append gradients, their means over all processes, and a step of the optimizer.

        Args:
            loss: the mean over this process's share of a batch.
            startup_program: where variables get their first values, those of process 0; the default
                startup program when None.
            parameter_list: the parameters to update; all when None.
            no_grad_set: variables at which gradients stop.

        Returns:
            what the optimizer's ``minimize`` returns.

        Raises:
            ArgumentError: ``fleet.init`` has not been called, or the loss is no variable.
        """,
    )

    def step_of(
        self, loss: Variable, startup_program: Program | None, parameters: Any, stops: Any
    ) -> Any:
        """What :meth:`minimize` does."""
        self._check()
        if not isinstance(loss, Variable):
            raise ArgumentError(f"expected the loss to be a variable, got {loss!r:.60}")
        startup = default_startup_program() if startup_program is None else startup_program
        named = {"parameter_list": parameters, "no_grad_set": stops}
        given = {name: value for name, value in named.items() if value is not None}
        return self._minimized(loss, startup, given)

    def _check(self) -> None:
        """Refuse where something is missing."""

    def _minimized(self, loss: Variable, startup: Program, given: dict[str, Any]) -> Any:
        """Append all of it; what the optimizer's ``minimize`` returns."""
        raise NotImplementedError
