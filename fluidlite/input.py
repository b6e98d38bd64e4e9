"""``fluid.data``, ``fluid.embedding`` and ``fluid.one_hot``: the newer forms of layers' functions.

They take shapes as they are: no batch size is put in front, and ids have no last dimension of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.tracebacks import api_boundaries
from .ir.variable import Variable
from .layers.io import fed_variable, sizes_or_names
from .layers.layer import LayerBuilder, layer
from .layers.nn import EMBEDDING, depth_of, new_table, padding_row

if TYPE_CHECKING:
    from .functions.arguments import DTypeLike
    from .param_attr import Attr


def data(
    name: str, shape: Sequence[int | str | None], dtype: DTypeLike = "float32", lod_level: int = 0
) -> Variable:
    """A variable of block 0 that is fed.

    Args:
        name: its name, the key of the feed.
        shape: sizes; None or -1 where unknown, or a name: sizes of one name are equal.
        dtype: element type of what is fed.
        lod_level: number of levels of sequences.

    Returns:
        The variable, at which gradients stop.

    Raises:
        ArgumentError: the shape holds something that is no size.
        DuplicateVariableError: a variable of that name has another shape or element type.

    >>> fluid.data("x", [None, 4], "float32").shape
    (-1, 4)
    """
    return fed_variable(name, sizes_or_names(name, shape), dtype, lod_level)


@layer(family=EMBEDDING)
def embedding(
    f: LayerBuilder,
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Attr = None,
    dtype: DTypeLike = "float32",
) -> Variable:
    """The rows of a table of weights that ids select.

    Args:
        input: ids of any shape, int64.

    Returns:
        A variable of the shape of ``input`` with the width added at the end.

    >>> ids = fluid.data("ids", [None, 7], "int64")
    >>> fluid.embedding(ids, size=[1000, 64]).shape
    (-1, 7, 64)
    """
    table = new_table(f, size, param_attr, dtype)
    padding = padding_row(padding_idx, int(size[0]))
    attrs: Any = dict(is_sparse=is_sparse, is_distributed=is_distributed, padding_idx=padding)
    return f.lookup_table_v2(table, input, remote_prefetch=False, **attrs)


@layer("one_hot_v2")
def one_hot(
    f: LayerBuilder, input: Variable, depth: int | Variable, allow_out_of_range: bool = False
) -> Variable:
    """A vector with a 1 at the place of each id and 0 elsewhere.

    Args:
        input: ids of any shape, int64 or int32.
        depth: the number of classes; a number or a variable of one element.
        allow_out_of_range: an id outside of [0, depth) gives zeros; if not, it is an error.

    Returns:
        A float32 variable of the shape of ``input`` with ``depth`` added at the end.

    >>> fluid.one_hot(fluid.data("ids", [None], "int64"), depth=5).shape
    (-1, 5)
    """
    return f.one_hot_v2(input, **depth_of(depth), allow_out_of_range=allow_out_of_range)


list_public_names(globals())
api_boundaries(globals())
answer(globals())
