"""What goes into a run, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..errors import (
    FeedError,
    FeedTypeError,
    FetchError,
    FetchTypeError,
    NotInitializedError,
    suggestion,
)
from ..ir.operator import Operator, located
from ..ir.program import Program
from ..ir.variable import Variable
from ..values import LoDTensor, LoDTensorArray, SelectedRows, arrays_in, as_fetched
from .plan import Plan
from .scope import Scope
from .step import Environment


def fetch_names(fetch_list: Any, program: Program) -> list[str]:
    """The names of what is to be fetched; what operators ``fetch`` read when None.

    Raises:
        FetchTypeError: something else than variables and names.
    """
    if fetch_list is None:
        return [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"]
    if isinstance(fetch_list, (Variable, str, Operator)):
        fetch_list = [fetch_list]
    if not isinstance(fetch_list, (list, tuple)):
        raise FetchTypeError(
            f"expected fetch_list to be a list of variables or names, got {fetch_list!r:.60}"
        )
    names = []
    for item in fetch_list:
        if isinstance(item, Variable):
            names.append(item.name)
        elif isinstance(item, str):
            names.append(item)
        elif not isinstance(item, Operator):  # optimizer operators run in any case
            raise FetchTypeError(
                f"expected a variable or its name in fetch_list, got {item!r:.60} of type "
                f"{type(item).__name__}"
            )
    return names


def fed_values(feed: Any, program: Program) -> Environment:
    """The fed arrays by name, checked against the program's variables."""
    if feed is None:
        return {}
    if isinstance(feed, (list, tuple)) and len(feed) == 1 and isinstance(feed[0], Mapping):
        feed = feed[0]
    if not isinstance(feed, Mapping):
        raise FeedTypeError(
            f"expected feed to be a dictionary of names and arrays, got {type(feed).__name__}"
        )
    block = program.global_block()
    env: Environment = {}
    for name, value in feed.items():
        variable = block.vars.get(name)
        if variable is None:
            fed = [v.name for v in block.vars.values() if v.is_data]
            raise FeedError(
                f"the program has no variable {name!r} to "
                f"feed{suggestion(name, fed or block.vars)}; "
                f"its data variables are {', '.join(fed) or 'none'}"
            )
        env[name] = _fed_value(variable, value)
    return env


def frozen(value: Any) -> Any:
    """A fed value that no kernel can write to."""
    if isinstance(value, LoDTensor):
        return LoDTensor(frozen(value.data), value.offsets)
    view = value.view()
    view.flags.writeable = False
    return view


def _fed_value(variable: Variable, value: Any) -> Any:
    if isinstance(value, LoDTensor):
        data, lod = value.data, value.offsets
    elif isinstance(value, (list, tuple)):
        raise FeedTypeError(
            f"variable {variable.name!r} was fed a {type(value).__name__}, which might mean rows "
            f"or sequences; "
            "feed an array: numpy.array(...), or a LoDTensor: create_lod_tensor(...)"
        )
    else:
        data, lod = np.asarray(value), ()
    if data is None:
        raise FeedError(f"variable {variable.name!r} was fed a LoDTensor that holds nothing")
    if isinstance(value, (bool, int, float)):
        data = data.astype(variable.dtype.dtype)
    try:
        dtype = as_dtype(data.dtype)
    except TypeError as error:
        raise FeedError(f"variable {variable.name!r}: {error}") from None
    if variable.has_dtype and dtype != variable.dtype:
        raise FeedError(
            f"variable {variable.name!r} is declared {variable.dtype} and was fed {dtype}; "
            f"convert it: array.astype({str(variable.dtype)!r})"
        )
    if variable.has_shape and not _fits(data.shape, variable.shape):
        raise FeedError(
            f"variable {variable.name!r} is declared with shape {list(variable.shape)} "
            f"and was fed shape {list(data.shape)}"
        )
    return LoDTensor(data, lod) if lod else data


def _fits(shape: Sequence[int], declared: Sequence[int]) -> bool:
    return len(shape) == len(declared) and all(
        d in (-1, n) for n, d in zip(shape, declared, strict=True)
    )


def take_persistables(plan: Plan, env: Environment, scope: Scope) -> None:
    """Put what the operators read and nothing computes into the environment.

    Raises:
        FeedError: a data variable was not fed.
        NotInitializedError: a persistable variable has no value.
    """
    for name, op in plan.needs.items():
        if name in env:
            continue
        value = scope.value(name) if name in plan.persistable else None
        if value is None:
            raise _missing(name, op)
        env[name] = value
    for name in plan.open:
        if name not in env and (value := scope.value(name)) is not None:
            env[name] = value


def _missing(name: str, op: Operator) -> Exception:
    variable = op.block.find_var_recursive(name)
    spec = variable.spec if variable is not None else None
    if variable is not None and variable.is_data:
        return located(FeedError(f"data variable {name!r} was not fed"), op, [(name, spec)])
    if variable is not None and variable.persistable:
        return located(
            NotInitializedError(
                f"variable {name!r} has no value; run the startup program first (after minimize), "
                f"in the same scope"
            ),
            op,
            [(name, spec)],
        )
    return located(
        NotInitializedError(f"variable {name!r} is read before anything writes it"),
        op,
        [(name, spec)],
    )


def check_fetches(
    fetches: Sequence[str], plan: Plan, env: Environment, scope: Scope, program: Program
) -> None:
    """See to it that what is to be fetched will have a value.

    Raises:
        FetchError: it will not.
    """
    for name in fetches:
        if name in env or name in plan.written or scope.value(name) is not None:
            continue
        known = program.global_block().vars
        if name not in known:
            raise FetchError(
                f"the program has no variable {name!r} to fetch{suggestion(name, known)}"
            )
        variable = known[name]
        if variable.is_data:
            raise FetchError(f"data variable {name!r} is to be fetched and was not fed")
        raise FetchError(
            f"nothing computes variable {name!r}, which is to be fetched, and the scope has no "
            f"value of it"
        )


def fetched(name: str, env: Environment, scope: Scope, return_numpy: bool) -> Any:
    """A copy of a fetched value as the user wants to have it."""
    return _handed_out(name, env[name] if name in env else scope.value(name), return_numpy)


def _handed_out(name: str, value: Any, return_numpy: bool) -> Any:
    """A copy of a value as the user wants to have it."""
    if isinstance(value, LoDTensorArray):
        return [_handed_out(f"{name}[{i}]", v, return_numpy) for i, v in enumerate(value.items)]
    if value is None:  # an element of an array that nothing has written
        return None
    if isinstance(value, SelectedRows):
        return as_fetched(value.to_dense()) if return_numpy else value.copy()
    if isinstance(value, LoDTensor):
        copy = LoDTensor(np.array(value.data), value.offsets)
        if not return_numpy:
            return copy
        raise FetchTypeError(
            f"variable {name!r} holds sequences (LoD {value.lod()}), which an array cannot say; "
            "fetch it with return_numpy=False"
        )
    return as_fetched(np.array(value)) if return_numpy else LoDTensor(np.array(value))


def owned(value: Any, fed: set[int]) -> Any:
    """A value that nobody outside can change: a copy where it is a view, or an array that the user
    fed.
    """
    if isinstance(value, LoDTensorArray):
        return LoDTensorArray([owned(item, fed) for item in value.items])
    if isinstance(value, SelectedRows):
        return value.copy()
    if all(data.base is None and id(data) not in fed for data in arrays_in(value)):
        return value
    copied = np.array(value)
    return LoDTensor(copied, value.offsets) if isinstance(value, LoDTensor) else copied
