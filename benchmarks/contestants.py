"""Who takes part in ``steps.py``, and how each is started."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from problems import Array, Problem

if TYPE_CHECKING:
    from typing import Protocol

    class Contestant(Protocol):
        """A training step of one problem, as every implementation offers it."""

        def load(self, start: Mapping[str, Array]) -> None:
            """Begin anew from parameters laid out as in fluid 1.8, with fresh optimizer states."""

        def step(self, feed: Mapping[str, Array]) -> float:
            """Train on one batch; the loss before it."""

        def parameters(self) -> dict[str, Array]:
            """The parameters, laid out as in fluid 1.8."""


@dataclass(frozen=True)
class Entry:
    """An implementation of the training steps.

    Args:
        module: has a class ``Step``; ``hand`` has a module with one for each problem.
        needs: what has to be importable.
        wheel: a distribution that holds no modules and has to be installed.
        options: further arguments of ``Step``.
        environment: variables of the process.
        requires: a method that ``fluidlite.Executor`` has to have.
    """

    module: str
    needs: tuple[str, ...] = ()
    wheel: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    requires: str = ""

    def missing(self) -> str:
        """What is not installed here; empty where all is there."""
        for name in self.needs:
            try:
                found = importlib.util.find_spec(name) is not None
            except (ImportError, SyntaxError):  # of what it lies in, for another Python
                found = False
            if not found:
                return f"no {name}"
        if self.wheel and not _installed(self.wheel):
            return f"no {self.wheel}"
        if self.requires and not hasattr(
            importlib.import_module("fluidlite").Executor, self.requires
        ):
            return f"fluidlite has no Executor.{self.requires}"
        return ""

    def make(self, problem: Problem) -> Contestant:
        """The step of a problem.

        Raises:
            NotImplementedError: there is none.
        """
        name = f"hand.{problem.name}" if self.module == "hand" else self.module
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            raise NotImplementedError(f"no {problem.name} by hand") from None
        made: Contestant = module.Step(problem, **self.options)
        return made


def _installed(wheel: str) -> bool:
    try:
        importlib.import_module("importlib.metadata").version(wheel)
    except ImportError:  # that of a distribution that is not there is one, too
        return False
    return True


_NUMPY = {"FLUIDLITE_KERNELS": "numpy"}
_AUTO = {"FLUIDLITE_KERNELS": "auto"}

#: by title, in the order of the table
CONTESTANTS = {
    "NumPy by hand": Entry("hand"),
    "fluidlite": Entry("peers.fluid", ("fluidlite",), environment=_NUMPY),
    "fluidlite, oneDNN": Entry(
        "peers.fluid", ("fluidlite.backend.onednn",), "onednn-cpu-gomp", environment=_AUTO
    ),
    "fluidlite, prepared": Entry(
        "peers.fluid",
        ("fluidlite.backend.onednn",),
        "onednn-cpu-gomp",
        options={"prepared": True},
        environment=_AUTO,
        requires="prepare",
    ),
    "fluidlite on JAX": Entry("peers.fluid", ("jax",), options={"backend": "jax"}),
    "fluidlite on JAX, prepared": Entry(
        "peers.fluid", ("jax",), options={"backend": "jax", "prepared": True}
    ),
    "paddle": Entry("peers.fluid", ("paddle.fluid",), options={"module": "paddle.fluid"}),
    "torch": Entry("peers.torch_", ("torch",)),
    "torch.compile": Entry("peers.torch_", ("torch",), options={"compiled": True}),
    "jax": Entry("peers.jax_", ("jax",)),
    "TensorFlow": Entry("peers.tensorflow_", ("tensorflow",)),
    "PyTensor": Entry("peers.pytensor_", ("pytensor",)),
}
