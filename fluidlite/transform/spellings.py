"""Which operators mean the same: as the tables here say, one line for each spelling.

What an operator of a program may be read as depends on the shapes that it has there: ``mul`` of two
matrices is ``matmul``, that of a stack of them is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..opdef.definition import Op, lookup
from ..opdef.spec import Spec, size_of
from .block_values import Spelt, Value

#: gives what is known about a value
SpecOf = Callable[[Value | None], Spec | None]


#: function of a reading and the specs -> other readings of it
_SPELLINGS: dict[str, list[Callable[[Spelt, SpecOf], Iterator[Spelt]]]] = {}
#: type -> the types that read as it
READ_AS: dict[str, set[str]] = {}


def _spelling(types: str, become: str) -> Callable[[Any], Any]:
    """A decorator for a function that reads operators of some types as others."""

    def register(function: Any) -> Any:
        for type in types.split():
            _SPELLINGS.setdefault(type, []).append(function)
            for other in become.split():
                READ_AS.setdefault(other, set()).add(type)
        return function

    return register


def readings(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """What an operator may be read as, first as what it is.

    Args:
        given: the operator as it is.
        spec_of: what is known about its values.
    """
    yield given
    for spelling in _SPELLINGS.get(given.type, ()):
        yield from spelling(given, spec_of)


def reads_one_way(type: str) -> bool:
    """Whether an operator is read only as what it is, with its operands as they are.

    Args:
        type: of the operator, which is defined.
    """
    return type not in _SPELLINGS and not commutes(type)


def _ranks(given: Spelt, spec_of: SpecOf, *slots: str) -> list[int]:
    """The numbers of dimensions of inputs; -1 where one is not known."""
    specs = [spec_of(next(iter(given.inputs.get(slot, ())), None)) for slot in slots]
    return [-1 if spec is None else len(spec.shape) for spec in specs]


@_spelling("mul", "matmul")
def _product(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """The product of (a stack of) matrices and a matrix."""
    x, y = _ranks(given, spec_of, "X", "Y")
    columns = (given.attrs.get("x_num_col_dims", 1), given.attrs.get("y_num_col_dims", 1))
    if x >= 2 and y == 2 and columns == (x - 1, 1):
        yield given._replace(type="matmul", attrs={})


@_spelling("matmul", "mul bmm")
def _plain_product(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    ranks, attrs = _ranks(given, spec_of, "X", "Y"), given.attrs
    turned = attrs.get("transpose_X", False) or attrs.get("transpose_Y", False)
    if turned or attrs.get("alpha", 1.0) != 1.0 or attrs.get("head_number", 1) != 1:
        return
    if ranks[0] >= 2 and ranks[1] == 2:
        yield given._replace(type="mul", attrs={"x_num_col_dims": ranks[0] - 1})
    elif ranks == [3, 3]:
        yield given._replace(type="bmm", attrs={})


@_spelling("bmm", "matmul")
def _stacked_product(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    yield given._replace(type="matmul", attrs={})


_PLAIN = {f"{type}2": type for type in ("reshape", "transpose", "squeeze", "unsqueeze", "flatten")}
#: types that differ in outputs that only gradients read
_SAME_SLOTS = {**_PLAIN, **{plain: two for two, plain in _PLAIN.items()}}


@_spelling(" ".join(_SAME_SLOTS), " ".join(_SAME_SLOTS))
def _without_form(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """The forms with and without XShape."""
    yield given._replace(type=_SAME_SLOTS[given.type])


@_spelling("conv2d depthwise_conv2d", "conv2d depthwise_conv2d")
def _convolutions(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """Convolutions channel by channel are those of as many groups."""
    yield given._replace(
        type="depthwise_conv2d" if given.type == "conv2d" else "conv2d", attrs=given.attrs
    )


@_spelling("sum", "elementwise_add")
def _sum_of_two(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """A sum of two tensors of one shape."""
    values = given.inputs.get("X", ())
    if len(values) == 2 and _alike(*map(spec_of, values)):
        yield given._replace(
            type="elementwise_add", inputs={"X": values[:1], "Y": values[1:]}, attrs={}
        )


@_spelling("elementwise_add", "sum")
def _added(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    values = (*given.inputs.get("X", ()), *given.inputs.get("Y", ()))
    if len(values) == 2 and _alike(*map(spec_of, values)):
        yield given._replace(type="sum", inputs={"X": values}, attrs={})


def _alike(a: Spec | None, b: Spec | None) -> bool:
    """Whether two values are tensors of one shape, as declared."""
    return a is not None and b is not None and a.kind is Kind.LOD_TENSOR and a == b


@_spelling("square", "elementwise_mul")
def _squared(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """x * x."""
    x = given.inputs.get("X", ())
    yield given._replace(type="elementwise_mul", inputs={"X": x, "Y": x}, attrs={})


@_spelling("elementwise_mul", "square")
def _multiplied_by_itself(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    x = given.inputs.get("X", ())
    if x == given.inputs.get("Y"):
        yield given._replace(type="square", inputs={"X": x}, attrs={})


@_spelling("mean", "reduce_mean")
def _mean(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """The mean of all elements."""
    yield given._replace(type="reduce_mean", attrs={"reduce_all": True})


@_spelling("reduce_mean", "mean")
def _reduced(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    (rank,) = _ranks(given, spec_of, "X")
    attrs = given.attrs
    whole = _reduces(attrs, rank) == _reduces({"reduce_all": True}, rank)
    if whole and not attrs.get("keep_dim") and not attrs.get("zero_d"):
        yield given._replace(type="mean", attrs={})


@_spelling("fill_constant_batch_size_like", "fill_constant")
def _filled(given: Spelt, spec_of: SpecOf) -> Iterator[Spelt]:
    """A number everywhere, whatever the batch."""
    names = ("shape", "dtype", "value", "str_value")
    attrs = {name: value for name, value in given.attrs.items() if name in names}
    yield given._replace(type="fill_constant", inputs={}, attrs=attrs)


# -- attributes ------------------------------------------------------------------------------------

#: type -> the attribute that numbers dimensions of the first input, negative ones from the end
_AXES = {
    **dict.fromkeys(("softmax", "log_softmax", "concat", "split", "cumsum", "norm"), "axis"),
    **dict.fromkeys(("arg_max", "arg_min", "argsort", "softmax_with_cross_entropy"), "axis"),
    **dict.fromkeys(("flip",), "axis"),
}


def same_attribute(
    definition: type[Op],
    name: str,
    wanted: Mapping[str, Any],
    there: Mapping[str, Any],
    ranks: list[int],
    sizes: list[int],
) -> bool:
    """Whether an attribute of two operators means the same.

    Args:
        definition: of both.
        name: of the attribute.
        wanted, there: the attributes of the operators, without those that have their default.
        ranks: of the inputs there, in the order of the slots; -1 where not known.
        sizes: their numbers of elements, likewise.
    """
    type, default = definition.type, definition.attributes[name].default
    mine, theirs = wanted.get(name, default), there.get(name, default)
    if mine == theirs and mine.__class__ is theirs.__class__:
        return True
    if type.startswith("elementwise_") and name == "axis" and len(ranks) == 2:
        return starts_at(mine, ranks, sizes) == starts_at(theirs, ranks, sizes)
    if type == "cast" and name == "in_dtype":
        return True  # X knows its element type
    if type == "fill_constant" and name in ("value", "str_value"):
        return bool(np.float32(filled_number(wanted)) == np.float32(filled_number(there)))
    if type == "scale" and name == "bias_after_scale":
        scale = definition.attributes["bias"].default
        return not there.get("bias", scale) or there.get("scale", 1.0) == 1.0
    rank = ranks[0] if ranks else -1
    if type.startswith("reduce_") and name in ("dim", "reduce_all"):
        return rank >= 0 and _reduces(wanted, rank) == _reduces(there, rank)
    if _AXES.get(type) == name and rank > 0:
        return _from_front(mine, rank) == _from_front(theirs, rank)
    if isinstance(mine, float) or isinstance(theirs, float):  # files hold them in single precision
        return bool(np.float32(mine) == np.float32(theirs))
    return bool(mine == theirs)


def filled_number(attrs: Mapping[str, Any]) -> float:
    """The number of ``fill_constant``; NaN, which equals nothing, where the text is none."""
    text = attrs.get("str_value")
    try:
        return float(text) if text else attrs.get("value", 0.0)
    except ValueError:
        return float("nan")


def starts_at(axis: int, ranks: list[int], sizes: list[int]) -> int:
    """The dimension at which the operand with fewer dimensions starts, in one number for each
    meaning; as said where dimensions are not known.
    """
    x, y = ranks
    if x < 0 or y < 0:
        return axis
    if x == y or (sizes[0] if x < y else sizes[1]) == 1:
        return 0
    return abs(x - y) if axis == -1 else axis


def meet_at_ends(axis: int, ranks: list[int], sizes: list[int]) -> bool:
    """Whether the last dimensions of two operands meet, so that these may be exchanged.

    Args:
        axis: the attribute.
        ranks, sizes: of both operands; -1 where not known.
    """
    x, y = ranks
    if x < 0 or y < 0:
        return axis == -1
    return (
        x == y or axis == -1 or starts_at(axis, ranks, sizes) in (abs(x - y), *[0] * (1 in sizes))
    )


def _reduces(attrs: Mapping[str, Any], rank: int) -> frozenset[int]:
    dims = attrs.get("dim", (0,))
    if attrs.get("reduce_all") or not dims:
        return frozenset(range(max(rank, 1)))
    return frozenset(dim % rank if rank > 0 else dim for dim in dims)


def _from_front(axes: Any, rank: int) -> Any:
    if isinstance(axes, (list, tuple)):
        return tuple(axis % rank for axis in axes)
    return axes % rank


#: functions of NumPy that give the same with their operands exchanged
_SYMMETRIC = frozenset(
    (
        *(np.add, np.multiply, np.maximum, np.minimum, np.equal, np.not_equal),
        *(np.logical_and, np.logical_or, np.logical_xor),
        *(np.bitwise_and, np.bitwise_or, np.bitwise_xor),
    )
)


def commutes(type: str) -> bool:
    """Whether the operands of an operator may be exchanged, where they are aligned at their ends:
    as the function of NumPy that it is tells; and whether the order in a list of summands counts.
    """
    definition = lookup(type)
    return definition.ufunc in _SYMMETRIC or definition.adds_all


def element_count(spec: Spec | None) -> int:
    """The number of elements; -1 where it is not known."""
    return -1 if spec is None else size_of(spec.shape)
