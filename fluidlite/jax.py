"""Programs as functions of JAX."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from . import backend as backends
from .errors import ArgumentError, FeedError, FluidError, NotInitializedError, UnsupportedError
from .ground.public_names import list_public_names
from .ground.values import LoDTensor
from .ir.operator import located
from .ir.program import Program, default_main_program
from .ir.variable import Variable
from .runtime.feeding import check_names
from .runtime.plan import Plan, Pruned
from .runtime.run_state import fetch_names
from .scope import Scope, global_scope

__all__ = ["function"]

_STAGE, _STAGING = "fluidlite.runtime.xla.stage", "fluidlite.runtime.xla.staging"


class ProgramFunction:
    """A program as a pure function; see :func:`function`.

    Args:
        program: the program.
        feeds: names of its data.
        fetches: names of what it gives.
        precision: of products.

    Raises:
        ArgumentError: there is no such precision.
        FeedError: a fetch depends on data that is not among the feeds.
    """

    def __init__(
        self, program: Program, feeds: Sequence[str], fetches: Sequence[str], precision: str
    ) -> None:
        plan = Plan(program, fetches, Pruned(frozenset(), frozenset(feeds)))
        self.feeds: list[str] = list(feeds)
        self.fetches: list[str] = list(fetches)
        #: the names of the parameters
        self.parameters: list[str] = [
            name for name in plan.needs if name in plan.persistable and name not in feeds
        ]
        for name in plan.needs:
            if name not in plan.persistable and name not in feeds:
                raise FeedError(
                    f"{', '.join(fetches)} depends on {name!r}, which is not among the feeds "
                    f"{', '.join(feeds) or '(none)'}"
                )
        self._block = program.global_block()
        self._backends = backends.get("jax"), backends.get("numpy")
        names = self._backends[0].PRECISIONS
        if precision not in names:
            raise ArgumentError(
                f"expected precision to be one of {', '.join(names)}, got {precision!r:.60}"
            )
        self._stage = import_module(_STAGE).CompiledStage(
            plan.steps, self._backends, precision=precision
        )
        self._described = import_module(_STAGING).described

    def __call__(
        self, parameters: Mapping[str, Any], feeds: Mapping[str, Any], seed: Any = 0
    ) -> list[Any]:
        """The values of the fetches.

        Args:
            parameters: by name.
            feeds: arrays by name.
            seed: what random operators start from.

        Raises:
            ArgumentError: the seed is negative, or has more than 32 bits.
            FeedError: a feed or a parameter is missing, or has other dimensions than declared.
            FluidError: an operator refuses what it is given.
            UnsupportedError: an operator of the program cannot be compiled; says which and why.
        """
        for names, arrays, what in ((self.feeds, feeds, ""), (self.parameters, parameters, "the ")):
            if missing := [name for name in names if name not in arrays]:
                said = "parameters " * bool(what) + ", ".join(names)
                raise FeedError(f"expected values of {what}{said}; {missing[0]!r} is missing")
        if isinstance(seed, int) and not 0 <= seed < 1 << 32:
            raise ArgumentError(f"expected seed in [0, 2**32), got {seed}")
        backend, _ = self._backends
        with warnings.catch_warnings():
            # of types of 64 bits that JAX does not have unless it was told to
            warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
            typed = {name: self._typed(name, feeds[name]) for name in self.feeds}
            known = {**parameters, **typed}
            try:
                made, _ = self._stage.traced(dict(known), seed, ())
            except Exception as error:
                raise self._explained(error) from error
            return [backend.asarray({**known, **made}[name]) for name in self.fetches]

    def _explained(self, error: Exception) -> Exception:
        """The error that an operator cannot be compiled."""
        steps = self._stage.steps
        step = steps[min(self._stage.place, len(steps) - 1)]
        if isinstance(error, FluidError) and not isinstance(error, UnsupportedError):
            return located(error, step.op, [])
        message = (
            f"the program cannot be a function of JAX: {step.op.type}: {self._described(error)}; "
            f"Executor(backend='jax') would run the operator on the host"
        )
        return located(UnsupportedError(message), step.op, [])

    def _typed(self, name: str, value: Any) -> Any:
        """A fed array of the element type that is declared."""
        variable = self._block.vars[name]
        dtype = variable.dtype.dtype if variable.has_dtype else None
        if isinstance(value, LoDTensor):
            raise FeedError(f"expected an array for variable {name!r}, got sequences; pad them")
        array = self._backends[0].asarray(value, dtype)
        fits = not variable.has_shape or (
            array.ndim == len(variable.shape)
            and all(d in (-1, n) for n, d in zip(array.shape, variable.shape))
        )
        if variable.need_check_feed and not fits:
            raise FeedError(
                f"variable {name!r} is declared with shape {list(variable.shape)} and was fed "
                f"shape {list(array.shape)}"
            )
        return array


def function(
    program: Program | None = None,
    feeds: Sequence[str] = (),
    fetches: Sequence[Variable | str] | Variable | str | None = None,
    scope: Scope | None = None,
    precision: str = "highest",
) -> tuple[ProgramFunction, dict[str, Any]]:
    """A program as a pure function of its parameters and feeds, for ``jit``, ``vmap`` and ``grad``.

    Operators that the fetches do not need, those of optimizers among them, are left out.  Element
    types are those of the program as JAX is configured: without ``jax_enable_x64``, 64 bits become
    32.  Numbers out of range (labels, indices) are not looked for.

    Args:
        program: the default main program when None; as ``load_inference_model`` gives it, say.
        feeds: names of data variables.
        fetches: variables to fetch, or their names.
        scope: where the parameters are; the global scope when None.
        precision: of products: "highest", "high", "default", or "bfloat16"; see ``Executor``.

    Returns:
        the function, of a dictionary of parameters, one of feeds and a seed, which gives a list of
        arrays; and the parameters, arrays of JAX by name.

    Raises:
        ArgumentError: there is no such precision.
        FeedError, FetchError: the program has no variable of a name, or a feed is left out.
        NotInitializedError: a parameter has no value.
        UnsupportedError: JAX is not installed.

    >>> import jax
    >>> y = fluid.layers.square(fluid.data("x", [3], "float32"))
    >>> run, parameters = fluid.jax.function(feeds=["x"], fetches=[y])
    >>> loss = lambda x: run(parameters, {"x": x}, 0)[0].sum()
    >>> jax.grad(loss)(np.array([1.0, 2.0, 3.0], "float32")).tolist()
    [2.0, 4.0, 6.0]
    """
    jax = _jax()
    program = default_main_program() if program is None else program
    names, _ = fetch_names(fetches, program)
    check_names(program, feeds, names)
    program_function = ProgramFunction(program, feeds, names, precision)
    held = global_scope() if scope is None else scope
    values = {}
    for name in program_function.parameters:
        value = held.value(name)
        if value is None:
            raise NotInitializedError(
                f"variable {name!r} has no value; run the startup program or load a model first"
            )
        values[name] = jax.numpy.asarray(value)
    return program_function, values


def _jax() -> Any:
    try:
        return import_module("jax")
    except ModuleNotFoundError:
        raise UnsupportedError(
            'functions of JAX need JAX, which is not installed: pip install "fluidlite[jax]"'
        ) from None


list_public_names(globals())
