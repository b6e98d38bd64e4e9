"""What may be fed and fetched: values as a run takes them, and as users get them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import (
    FeedError,
    FeedTypeError,
    FetchError,
    FetchTypeError,
    FluidError,
    NotInitializedError,
    suggestion,
)
from ..ground.dtypes import as_dtype
from ..ground.values import (
    LoDTensor,
    LoDTensorArray,
    SelectedRows,
    arrays_in,
    as_fetched,
    is_device_array,
    on_host,
)
from ..ir.operator import EMPTY, Operator, located
from ..ir.program import Program
from ..ir.size_names import declared_at
from ..ir.variable import Variable
from ..scope import Scope
from .step import is_empty_array


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


def fed_value(variable: Variable, value: Any) -> Any:
    """What a variable is fed, as an array or a LoDTensor.

    Raises:
        FeedTypeError: it is no array, or might mean several things.
        FeedError: it is none that the variable can hold.
    """
    if value is None:
        raise FeedTypeError(f"variable {variable.name!r} was fed None; feed an array")
    if isinstance(value, LoDTensor):
        data, lod = value.data, value.offsets
    elif isinstance(value, (list, tuple)) and not _are_rows(variable, value):
        return _fed_sequences(variable, value)
    elif isinstance(value, (bool, int, float, complex, np.generic)):
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


def misfit(variable: Variable, data: Any) -> str | None:
    """In what way an array differs from what its variable is declared; None where it does not.

    Raises:
        FeedError: it does, and the variable is checked.
    """
    dtype, strict = as_dtype(data.dtype), variable.need_check_feed
    if variable.has_dtype and dtype != variable.dtype:
        message = f"variable {variable.name!r} is declared {variable.dtype} and was fed {dtype}"
        if strict:
            raise FeedError(f"{message}; convert it: array.astype({variable.dtype.plain!r})")
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


def check_named_sizes(fed: Iterable[tuple[Variable, Any]]) -> None:
    """Check that sizes of one name are equal.

    Args:
        fed: variables that have names of sizes, and arrays.

    Raises:
        FeedError: two are not.
    """
    seen: dict[str, tuple[int, Variable, int, str]] = {}
    for variable, data in fed:
        if len(data.shape) != len(variable.size_names):
            continue
        for axis, (name, n) in enumerate(zip(variable.size_names, data.shape)):
            if name is None:
                continue
            size, other, along, first = seen.setdefault(name, (n, variable, axis, name))
            if size != n:
                raise FeedError(
                    f"sizes of the name {str(name)!r} are to be equal: variable {other.name!r} was "
                    f"fed {size} along dimension {along}{declared_at(first)}, and variable "
                    f"{variable.name!r} {n} along dimension {axis}{declared_at(name)}; feed arrays "
                    f"of one size, or give the sizes different names"
                )


def unset(name: str, op: Operator) -> Any:
    """What an operator takes for a variable without a value; ``EMPTY`` where it does without."""
    slot = next((slot for slot, names in op.inputs.items() if name in names), "")
    value = op.instance().unset(slot)
    if is_empty_array(op, name) or isinstance(value, str):
        return EMPTY  # this very object, by which callers know it
    if value is None:
        raise _missing(name, op)
    return value


def of_another_shape(
    name: str, op: Operator, value: Any, declared: Sequence[int], scope: Scope
) -> str:
    """What to say of a value in a scope that has another shape than its variable."""
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
            f"variable {name!r} has no value; run the startup program first (after minimize, and "
            f"that of the program_guard in which it was built), in the same scope"
        )
    else:
        error = NotInitializedError(f"variable {name!r} is read before anything writes it")
    return located(error, op, [(name, spec)])


def handed_out(name: str, value: Any, return_numpy: bool) -> Any:
    """A copy of a value as the user wants to have it."""
    if isinstance(value, LoDTensorArray):
        return [handed_out(f"{name}[{i}]", v, return_numpy) for i, v in enumerate(value.items)]
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


def owned(value: Any, fed: set[int]) -> Any:
    """A value that nobody outside can change: a copy where it is a view, or an array that the user
    fed.
    """
    if is_device_array(value):
        return value  # which nobody can change
    if isinstance(value, LoDTensorArray):
        return LoDTensorArray([owned(item, fed) for item in value.items])
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
                raise error(no_such_name(name, known, what))


def no_such_name(name: str, known: Iterable[str], what: str) -> str:
    """What to say of a name that a program does not have."""
    source, mark, _ = name.partition("@GRAD")
    elsewhere = "; if it is one of another program, run that: exe.run(program, ...)"
    advice = suggestion(name, known) or elsewhere
    if mark and source in known:
        advice = (
            f": it has no gradient of {source!r}; where gradients stop at that, set "
            "stop_gradient = False before append_backward, and see fluid.explain_gradient"
        )
    return f"the program has no variable {name!r} to {what}{advice}"
