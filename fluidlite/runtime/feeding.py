"""What goes into a run, and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..errors import (
    FeedError,
    FeedTypeError,
    FetchError,
    FetchTypeError,
    FluidError,
    NotInitializedError,
    suggestion,
)
from ..ir.operator import EMPTY, Operator, located
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from ..scope import Scope
from ..values import (
    LoDTensor,
    LoDTensorArray,
    SelectedRows,
    arrays_in,
    as_fetched,
    is_device_array,
    on_host,
)
from .plan import Plan
from .step import Environment, is_empty_array


def fed_values(feed: Any, program: Program) -> tuple[Environment, dict[str, str]]:
    """The fed arrays by name, and what is doubtful about them: a text for each such name.

    What is fed to a variable that is not ``need_check_feed`` goes in as it comes, as in fluid 1.8;
    names that the program does not have are left out.

    Raises:
        FeedTypeError: what is fed is no array.
        FeedError: it does not fit a variable that is checked, or nothing feeds a name.
    """
    if feed is None:
        return {}, {}
    if isinstance(feed, (list, tuple)) and len(feed) == 1 and isinstance(feed[0], Mapping):
        feed = feed[0]
    if not isinstance(feed, Mapping):
        raise FeedTypeError(
            f"expected feed to be a dictionary of names and arrays, got {type(feed).__name__}"
        )
    known = program.global_block().vars
    env: Environment = {}
    doubts: dict[str, str] = {}
    for name, value in feed.items():
        variable = known.get(name)
        if variable is None:
            doubts[name] = unknown_name(name, program)
            continue
        env[name] = fed = _fed_value(variable, value)
        misfit = _misfit(variable, fed.data if isinstance(fed, LoDTensor) else fed)
        if misfit is not None:
            doubts[name] = misfit
    return env, doubts


def fed_by_loader(feed: list[Any]) -> Any:
    """What a loader for one place gives, as a dictionary of arrays; other lists as they are."""
    if len(feed) != 1 or type(feed[0]) is not dict:
        return feed
    return {
        name: value.data if type(value) is LoDTensor and not value.offsets else value
        for name, value in feed[0].items()
    }


def unknown_name(name: Any, program: Program) -> str:
    """What to say of a fed name that the program does not have.

    Raises:
        FeedTypeError: it is no name.
        FeedError: the program has operators that say what is fed.
    """
    if not isinstance(name, str):
        instead = f"; write {name.name!r}" if isinstance(name, Variable) else ""
        raise FeedTypeError(
            f"expected feed to be a dictionary of names and arrays, got a key {name!r:.60}{instead}"
        )
    block = program.global_block()
    fed = [v.name for v in block.vars.values() if v.is_data]
    message = (
        f"the program has no variable {name!r} to feed{suggestion(name, fed or block.vars)}; "
        f"its data variables are {', '.join(fed) or 'none'}"
    )
    if any(op.type == "feed" for op in block.ops):
        raise FeedError(message)
    return message


def frozen(value: Any) -> Any:
    """A fed value that no kernel can write to."""
    if isinstance(value, LoDTensor):
        return LoDTensor(frozen(value.data), value.offsets)
    view = value.view()
    view.flags.writeable = False
    return view


def _fed_value(variable: Variable, value: Any) -> Any:
    if value is None:
        raise FeedTypeError(f"variable {variable.name!r} was fed None; feed an array")
    if isinstance(value, LoDTensor):
        data, lod = value.data, value.offsets
    elif isinstance(value, (list, tuple)) and not _are_rows(variable, value):
        return _fed_sequences(variable, value)
    elif isinstance(value, (bool, int, float, np.generic)):
        shape = variable.shape if variable.has_shape and not variable.shape else (1,)
        data, lod = np.full(shape, value, variable.dtype.dtype), ()
    else:
        data, lod = value, ()
    if data is None:
        raise FeedError(f"variable {variable.name!r} was fed a LoDTensor that holds nothing")
    try:
        data = np.asarray(data)
        as_dtype(data.dtype)
    except (TypeError, ValueError, Warning) as error:  # NumPy before 1.24 warns of ragged rows
        raise FeedError(f"variable {variable.name!r}: {error}") from None
    return LoDTensor(data, lod) if lod else data


def _are_rows(variable: Variable, value: Any) -> bool:
    """Whether a tuple is one of rows, as fluid takes it, and not a pair of an array and lengths."""
    if type(value) is not tuple or variable.lod_level:
        return False
    return not (len(value) == 2 and isinstance(value[0], np.ndarray)) or (
        isinstance(value[1], np.ndarray) and value[0].shape == value[1].shape
    )


def _fed_sequences(variable: Variable, value: Any) -> LoDTensor:
    """What stands for sequences: a list of them, of lists of them where the variable has two
    levels, or a pair of an array and the lengths.

    Raises:
        FeedTypeError: it might mean rows as well.
        FeedError: it is nested less deeply, or entries are of several shapes.
    """
    name, dtype = variable.name, variable.dtype.dtype if variable.has_dtype else None
    if type(value) is tuple and len(value) == 2 and isinstance(value[0], np.ndarray):
        fed = LoDTensor(value[0])
        try:
            fed.set_recursive_sequence_lengths(value[1])
        except (FluidError, TypeError, ValueError) as error:
            raise FeedError(f"variable {name!r} was fed an array and lengths: {error}") from None
        return fed
    if not variable.lod_level:
        raise FeedTypeError(
            f"variable {name!r} was fed a {type(value).__name__}, which might mean rows or "
            "sequences; feed an array: numpy.array(...), or a LoDTensor: create_lod_tensor(...)"
        )
    lengths, entries = [], list(value)
    for level in range(variable.lod_level):
        if not all(isinstance(each, (list, tuple, np.ndarray)) for each in entries):
            raise FeedError(
                f"variable {name!r} has {variable.lod_level} levels of sequences; expected a "
                f"sequence on level {level}, got {entries[0]!r:.60}"
            )
        lengths.append([len(each) for each in entries])
        entries = [inner for each in entries for inner in each]
    row = variable.shape[1:] if variable.has_shape else ()
    try:
        data = np.array(entries, dtype)
        if data.ndim != 1 + len(row) or not entries:
            data = data.reshape(len(entries), *(n if n != -1 else 1 for n in row))
    except (TypeError, ValueError) as error:
        raise FeedError(
            f"variable {name!r} takes rows of shape {list(row)}, got sequences of others: {error}"
        ) from None
    fed = LoDTensor(data)
    fed.set_recursive_sequence_lengths(lengths)
    return fed


def _misfit(variable: Variable, data: Any) -> str | None:
    """In what way an array differs from what its variable is declared; None where it does not.

    Raises:
        FeedError: it does, and the variable is checked.
    """
    dtype, strict = as_dtype(data.dtype), variable.need_check_feed
    if variable.has_dtype and dtype != variable.dtype:
        message = f"variable {variable.name!r} is declared {variable.dtype} and was fed {dtype}"
        if strict:
            raise FeedError(f"{message}; convert it: array.astype({str(variable.dtype)!r})")
        return f"{message}; operators compute with what was fed"
    declared = variable.shape
    if not variable.has_shape or _agree(data.shape, declared):
        return None
    message = (
        f"variable {variable.name!r} is declared with shape {list(declared)} and was fed shape "
        f"{list(data.shape)}"
    )
    if strict and not (0 < data.ndim < len(declared) and _agree(data.shape, declared[: data.ndim])):
        raise FeedError(message)
    return f"{message}; operators compute with what was fed"


def _agree(shape: Sequence[int], declared: Sequence[int]) -> bool:
    return len(shape) == len(declared) and all(
        d in (-1, n) for n, d in zip(shape, declared, strict=True)
    )


def take_persistables(
    plan: Plan, env: Environment, scope: Scope, to_host: bool = True
) -> dict[str, str]:
    """Put what the operators read and nothing computes into the environment.

    Args:
        plan, env, scope: of the run.
        to_host: whether to fetch what lies on a device.

    Returns:
        what to say of values in the scope that have another shape than their variables.

    Raises:
        FeedError: a data variable was not fed.
        NotInitializedError: a persistable variable has no value.
    """
    doubts: dict[str, str] = {}
    shapes = plan.shapes
    for name, op in plan.needs.items():
        if name in env:
            continue
        value = scope.value(name) if name in plan.persistable else None
        if value is None and (value := _unset(name, op)) is EMPTY:
            continue
        value = env[name] = on_host(value) if to_host else value
        if name in shapes and value.__class__ is np.ndarray and value.shape != shapes[name]:
            doubts[name] = _of_another_shape(name, op, value, shapes[name], scope)
    for name in plan.open:
        if name not in env and (value := scope.value(name)) is not None:
            env[name] = value
    return doubts


def _unset(name: str, op: Operator) -> Any:
    """What an operator takes for a variable without a value; ``EMPTY`` where it does without."""
    slot = next((slot for slot, names in op.inputs.items() if name in names), "")
    value = EMPTY if is_empty_array(op, name) else op.instance().unset(slot)
    if value is None:
        raise _missing(name, op)
    return value


def _of_another_shape(
    name: str, op: Operator, value: Any, declared: Sequence[int], scope: Scope
) -> str:
    origin = scope.origin(name)
    source = "no program" if origin is None else f"the run of a program built at {origin}"
    where = f", built at {op.callsite}" if op.callsite else ""
    return (
        f"variable {name!r} is declared with shape {list(declared)} in the program that is run"
        f"{where}, and its value in the scope has shape {list(value.shape)}, which {source} put "
        f"there; operators compute with that value; name parameters that are not to be shared "
        f"differently, run each program in a scope of its own (fluid.scope_guard), or run the "
        f"startup program that belongs to this one"
    )


def _missing(name: str, op: Operator) -> Exception:
    variable = op.block.find_var_recursive(name)
    spec = variable.spec if variable is not None else None
    error: FluidError
    if variable is not None and variable.is_data:
        error = FeedError(f"data variable {name!r} was not fed")
    elif variable is not None and variable.persistable:
        error = NotInitializedError(
            f"variable {name!r} has no value; run the startup program first (after minimize), "
            f"in the same scope"
        )
    else:
        error = NotInitializedError(f"variable {name!r} is read before anything writes it")
    return located(error, op, [(name, spec)])


def without_value(
    fetches: Sequence[str], written: set[str], env: Environment, scope: Scope, program: Program
) -> dict[str, str]:
    """What to say of names that are to be fetched and will have no value; they give None, as in
    fluid 1.8.  Nothing is said of persistable variables.

    Raises:
        FetchError: the program has no variable of a name.
    """
    doubts: dict[str, str] = {}
    for name in fetches:
        if name in env or name in written or scope.value(name) is not None:
            continue
        known = program.global_block().vars
        if name not in known:
            raise FetchError(_absent(name, known, "fetch"))
        if known[name].is_data:
            doubts[name] = f"data variable {name!r} is fetched and was not fed; it gives None"
        elif not known[name].persistable:
            doubts[name] = f"nothing computes variable {name!r}, which is fetched; it gives None"
    return doubts


def fetched(name: str, env: Environment, scope: Scope, return_numpy: bool) -> Any:
    """A copy of a fetched value as the user wants to have it; None where there is none.

    As an array, a gradient has no sequences: those of its variable are known.
    """
    value = env[name] if name in env else scope.value(name)
    if return_numpy and type(value) is LoDTensor and name.endswith("@GRAD"):
        value = value.data
    return _handed_out(name, value, return_numpy)


def _handed_out(name: str, value: Any, return_numpy: bool) -> Any:
    """A copy of a value as the user wants to have it."""
    if isinstance(value, LoDTensorArray):
        return [_handed_out(f"{name}[{i}]", v, return_numpy) for i, v in enumerate(value.items)]
    if value is None:  # nothing has written it
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
    value = np.array(on_host(value))
    return as_fetched(value) if return_numpy else LoDTensor(value)


def kept_values(
    commits: Iterable[str], env: Environment, given: Environment, scope: Scope, program: Program
) -> tuple[Environment, bool]:
    """What variables of the scope hold after a run, by name: what operators wrote to persistable
    variables, and what was fed to them.  Parameters keep their element type.

    Returns:
        the values, and whether they are what the operators wrote, as it is.
    """
    known = program.global_block().vars
    written = [n for n in commits if n in env]  # others are of branches that were not taken
    fed = [n for n in given if known[n].persistable and n not in written]
    outside = {id(v.data if isinstance(v, LoDTensor) else v) for v in given.values()}
    news = {name: _owned(env[name], outside) for name in (*written, *fed)}
    as_is = not fed
    for name, new in news.items():
        old = scope.value(name) if isinstance(known.get(name), Parameter) else None
        if type(old) is type(new) is np.ndarray and old.dtype != new.dtype:
            news[name], as_is = new.astype(old.dtype), False
    return news, as_is


def _owned(value: Any, fed: set[int]) -> Any:
    """A value that nobody outside can change: a copy where it is a view, or an array that the user
    fed.
    """
    if is_device_array(value):
        return value  # which nobody can change
    if isinstance(value, LoDTensorArray):
        return LoDTensorArray([_owned(item, fed) for item in value.items])
    if isinstance(value, SelectedRows):
        return value.copy()
    if all(data.base is None and id(data) not in fed for data in arrays_in(value)):
        return value
    copied = np.array(value)
    return LoDTensor(copied, value.offsets) if isinstance(value, LoDTensor) else copied


def check_names(program: Program, feeds: Iterable[str], fetches: Iterable[str]) -> None:
    """Check that a program has variables to feed and to fetch.

    Raises:
        FeedError, FetchError: it has none of a name.
    """
    known = program.global_block().vars
    for names, error, what in ((feeds, FeedError, "feed"), (fetches, FetchError, "fetch")):
        for name in names:
            if name not in known:
                raise error(_absent(name, known, what))


def _absent(name: str, known: Iterable[str], what: str) -> str:
    """What to say of a name that a program does not have."""
    found = suggestion(name, known)
    elsewhere = "; if it is one of another program, run that: exe.run(program, ...)"
    return f"the program has no variable {name!r} to {what}{found or elsewhere}"
