"""Variables that are fed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..ground.callsite import caller
from ..ground.dtypes import Kind
from ..ir.program import default_main_program
from ..ir.size_names import give_names, size_name, sizes_and_names
from ..ir.variable import Variable
from ..opdef.attribute import whole_number

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike


def data(
    name: str,
    shape: Sequence[int | str | None],
    append_batch_size: bool = True,
    dtype: DTypeLike = "float32",
    lod_level: int = 0,
    type: Kind = Kind.LOD_TENSOR,
    stop_gradient: bool = True,
) -> Variable:
    """A variable of block 0 that is fed, with room for the batch size in front of its shape.

    ``fluid.data`` is the same without that room.

    Args:
        name: its name, the key of the feed.
        shape: sizes; None or -1 where unknown, or a name: sizes of one name are equal.
        append_batch_size: put an unknown size in front of ``shape``, unless one is unknown already.
        dtype: element type of what is fed.
        lod_level: number of levels of sequences.
        type: what it holds.
        stop_gradient: whether gradients stop here.

    Returns:
        The variable.

    Raises:
        ArgumentError: the shape holds something that is no size.
        DuplicateVariableError: a variable of that name has another shape or element type.

    >>> fluid.layers.data("image", [1, 28, 28]).shape
    (-1, 1, 28, 28)
    >>> fluid.layers.data("table", [-1, 3]).shape
    (-1, 3)
    """
    sizes = sizes_or_names(name, shape)
    if append_batch_size and -1 not in sizes_and_names(sizes)[0]:
        sizes.insert(0, -1)
    return fed_variable(
        name, sizes, dtype, lod_level, type, stop_gradient=stop_gradient, need_check_feed=False
    )


def load(out: Variable, file_path: str, load_as_fp16: bool | None = None) -> None:
    """Append the operator that reads a variable from a file, whenever the program runs.

    Args:
        out: the variable; takes the shape and element type of what the file holds.
        file_path: the file, as ``fluid.io.save_vars`` writes one.
        load_as_fp16: give float16 in place of float32.

    Raises:
        ArgumentError: ``out`` is no variable.

    >>> weight = fluid.layers.create_tensor("float32", name="weight")
    >>> fluid.layers.load(weight, "folder/weight")
    >>> weight.op.type
    'load'
    """
    if not isinstance(out, Variable):
        raise ArgumentError(f"load: expected a variable to read into, got {out!r:.60}")
    attrs: dict[str, Any] = {"file_path": file_path}
    if load_as_fp16 is not None:
        attrs["load_as_fp16"] = load_as_fp16
    default_main_program().current_block().append_op("load", {}, {"Out": [out]}, attrs)


def sizes_or_names(name: str, shape: Sequence[int | str | None]) -> list[int | str]:
    """The sizes of a variable that is fed, with -1 for None, and names of sizes where it has some.

    Raises:
        ArgumentError: the shape is no list, or holds something that is no size and no name.
    """
    plain: Any = [-1 if isinstance(n, str) else n for n in shape] if _is_list(shape) else shape
    sizes = as_sizes(name, plain)
    variable = name if isinstance(name, str) else name.decode()
    return [
        size_name(given, variable, caller()) if isinstance(given, str) else n
        for given, n in zip(shape, sizes)
    ]


def _is_list(shape: object) -> bool:
    return isinstance(shape, Sequence) and not isinstance(shape, (str, bytes))


def as_sizes(name: str, shape: Sequence[int | None]) -> list[int]:
    """The sizes of a variable that is fed, with -1 for None.

    Raises:
        ArgumentError: the shape is no list, or holds something that is no size.
    """
    if not isinstance(name, (str, bytes)):
        raise ArgumentError(f"expected the name of a variable to feed, got {name!r:.60}")
    if not _is_list(shape):
        raise ArgumentError(f"expected the shape of {name!r} to be a list of sizes, got {shape!r}")
    sizes = []
    for n in shape:
        try:
            sizes.append(-1 if n is None else whole_number(n))
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(
                f"expected the sizes of {name!r} to be integers, or None where unknown, got {n!r}"
            ) from None
    return sizes


def fed_variable(
    name: str,
    sizes: Sequence[int | str],
    dtype: DTypeLike,
    lod_level: int,
    kind: Any = Kind.LOD_TENSOR,
    *,
    stop_gradient: bool = True,
    need_check_feed: bool = True,
) -> Variable:
    """A variable of the main program's block 0 that is fed.

    Args:
        name: its name.
        sizes: its shape, -1 or a name where unknown.
        dtype, lod_level, kind: as of any variable.
        stop_gradient: whether gradients stop here.
        need_check_feed: whether what is fed must have the shape and element type.
    """
    if isinstance(name, bytes):
        name = name.decode()
    if not isinstance(name, str):
        raise ArgumentError(f"expected the name of a variable to feed, got {name!r:.60}")
    shape, names = sizes_and_names(sizes)
    block = default_main_program().global_block()
    held: dict[str, Any] = dict(shape=shape, dtype=dtype, lod_level=lod_level, type=kind)
    checks: dict[str, Any] = dict(stop_gradient=stop_gradient, need_check_feed=need_check_feed)
    variable = block.declare_var(name=name, is_data=True, **held, **checks)
    give_names(variable, names)
    return variable
