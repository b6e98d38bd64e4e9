"""Operators of this library as paddle 2.6 has them, for the models that are written.

A rule is given the interpreter that appends operators, the operator, and its inputs in the order of
its slots.  It gives the output, or a dictionary of outputs; None leaves the operator as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase
from typing import Any

import numpy as np

from ... import unique_name
from ...ground.callsite import warn
from ...ground.dtypes import DType
from ...io.inference import SCALED
from ...ir.analysis import blocks_driven_by
from ...ir.block import Block
from ...ir.builder import Builder
from ...ir.byproducts import declare_byproducts
from ...ir.operator import Operator
from ...ir.program import Program, building_within
from ...layers import while_loop
from ...proto.libraries import lacking_operators
from ...proto.newer_programs import is_of_paddle2
from ...proto.program import set_version
from ...transform.expansion import parts_of
from ...transform.inserting import FreeNames
from .saved_attributes import CHANGES
from .saved_items import as_int64, put_item, take_item

VERSION = 2_006_002  #: of paddle, in the files
Rule = Callable[..., Any]


def _as(type_: str, *names: str, **fixed: Any) -> Rule:
    """A rule: the operator of another type, with some attributes of the same names."""

    def rule(f: Any, op: Any, *inputs: Any) -> Any:
        return getattr(f, type_)(*inputs, **{name: getattr(op, name) for name in names}, **fixed)

    return rule


def _extreme(type_: str) -> Rule:
    return lambda f, op, X: getattr(f, type_)(
        X, dim=list(op.dims or ()), keep_dim=op.keep_dim, reduce_all=op.dims is None
    )


def _einsum(f: Any, op: Any, Operands: list[Any]) -> Any:
    """That of paddle 2 takes two operands: the others follow, one after the other."""
    lowered = _lower(*op.read(Operands))
    if lowered is None or (len(Operands) < 3 and lowered == op.read(Operands)):
        return None
    names, result = lowered
    current, value = names[0], Operands[0]
    for number in range(1, len(Operands)):
        later = {*"".join(names[number + 1 :]), *result}
        both = dict.fromkeys(current + names[number])
        left = result if number + 1 == len(names) else "".join(n for n in both if n in later)
        equation = f"{current},{names[number]}->{left}"
        current, value = left, f.einsum([value, Operands[number]], equation=equation)
    return value


def _lower(names: list[str], result: str) -> tuple[list[str], str] | None:
    """Indices in small letters, which are all that paddle 2 knows; None if they are too few."""
    used = {*"".join(names)}
    large = sorted(letter for letter in used if letter.isupper())
    free = [letter for letter in ascii_lowercase if letter not in used]
    if len(large) > len(free):
        return None
    table = str.maketrans("".join(large), "".join(free[: len(large)]))
    return [indices.translate(table) for indices in names], result.translate(table)


def _pick_label(f: Any, op: Any, X: Any, Label: Any) -> Any:
    label = as_int64(f, Label)
    ignored = f.fill_any_like(label, value=float(op.ignore_index))
    is_ignored = f.equal(label, ignored)
    first = f.fill_any_like(label, value=0.0)
    picked = f.take_along_axis(X, f.where(is_ignored, first, label), Axis=op.axis)
    return f.where(is_ignored, f.fill_any_like(picked, value=op.ignored), picked)


def _place_diagonal(f: Any, op: Any, X: Any) -> Any:
    if op.num_rows != op.num_columns:
        return None
    return f.diag_embed(X, **op.place)


def _pad2d(f: Any, op: Any, X: Any, Paddings: Any) -> Any:
    if Paddings is not None:
        return None
    top, bottom, left, right = op.paddings
    last = op.data_format == "NHWC"
    depth = 1 if last else 2
    padded = f.pad3d(
        f.unsqueeze2(X, axes=[depth]),
        paddings=[left, right, top, bottom, 0, 0],
        mode="replicate" if op.mode == "edge" else op.mode,
        value=op.pad_value,
        data_format="NDHWC" if last else "NCDHW",
    )
    return f.squeeze2(padded, axes=[depth])


def _pseudo_inverse(f: Any, op: Any, X: Any) -> Any:
    if X.dtype.is_complex:
        return None
    if op.hermitian:
        s, u = f.eigh(X, UPLO="L")
        size, vh = f.abs(s), f.transpose2(u, axis=_swapped(len(X.shape)))
    else:
        u, s, vh = f.svd(X)
        size = s
    largest = f.scale(f.reduce_amax(size, dim=[-1], keep_dim=True), scale=op.rcond)
    one = f.fill_any_like(s, value=1.0)
    counts = f.greater_than(size, f.elementwise_mul(largest, one))
    inverse = f.where(
        counts, f.elementwise_div(one, f.where(counts, s, one)), f.fill_any_like(s, value=0.0)
    )
    scaled = f.elementwise_mul(vh, f.unsqueeze2(inverse, axes=[-1]))
    return f.matmul_v2(scaled, u, trans_x=True, trans_y=True)


def _swapped(ndim: int) -> list[int]:
    return [*range(ndim - 2), ndim - 1, ndim - 2]


def _matmul(f: Any, op: Any, X: Any, Y: Any) -> Any:
    """That of fluid 1.8 has no kernel for complex numbers."""
    if op.alpha != 1 or min(len(X.shape), len(Y.shape)) < 2:
        return None
    return f.matmul_v2(X, Y, trans_x=op.transpose_X, trans_y=op.transpose_Y)


def _largest_in_parts(f: Any, op: Any, X: Any) -> Any:
    """Adaptive maxima: those of ``pool2d`` have windows of one size in paddle 2."""
    if not op.adaptive or op.pooling_type != "max" or op.data_format in ("NHWC", "NDHWC"):
        return None
    pool = getattr(f, f"max_{op.type}_with_index")
    return pool(X, ksize=op.ksize, adaptive=True)[0]


def _gcd(f: Any, op: Any, X: Any, Y: Any) -> Any:
    """Euclid's algorithm as a loop, as paddle 2 builds it."""
    program = f.block.program

    def now() -> Builder:
        return Builder(program.current_block(), "greatest_divisor")

    def is_left(_: Any, rest: Any) -> Any:
        f = now()
        return f.reduce_any(f.not_equal(rest, f.fill_any_like(rest, value=0.0)), reduce_all=True)

    def step(whole: Any, rest: Any) -> list[Any]:
        f = now()
        nothing = f.fill_any_like(rest, value=0.0)
        is_done = f.equal(rest, nothing)
        divisor = f.where(is_done, f.fill_any_like(rest, value=1.0), rest)
        remainder = f.elementwise_mod(whole, divisor, floored=True)
        return [f.where(is_done, whole, rest), f.where(is_done, nothing, remainder)]

    with building_within(f.block):
        starts = [f.abs(x) for x in f.broadcast_tensors([X, Y])]
        divisor = while_loop(is_left, step, starts)[0]
    return f.assign(divisor)  # the loop's own variable is not renamed


def _lcm(f: Any, op: Any, X: Any, Y: Any) -> Any:
    divisor = _gcd(f, op, X, Y)
    nothing = f.fill_any_like(divisor, value=0.0)
    safe = f.where(f.equal(divisor, nothing), f.fill_any_like(divisor, value=1.0), divisor)
    first, second = f.broadcast_tensors([X, Y])
    return f.abs(f.elementwise_mul(f.elementwise_floordiv(first, safe, floored=True), second))


def _frexp(f: Any, op: Any, X: Any) -> Any:
    """The exponent by a logarithm, which rounds near powers of two: one step mends that."""
    size, zero = f.abs(X), f.fill_any_like(X, value=0.0)
    half, one, two = [f.fill_any_like(X, value=value) for value in (0.5, 1.0, 2.0)]
    has_none = f.equal(size, zero)
    safe = f.where(has_none, one, size)
    exponent = f.scale(f.floor(f.log2(safe)), bias=1.0)
    part = f.elementwise_div(safe, f.elementwise_pow(two, exponent))
    for is_off, up in ((f.greater_equal(part, one), 1.0), (f.less_than(part, half), -1.0)):
        part = f.where(is_off, f.scale(part, scale=2.0**-up), part)
        exponent = f.where(is_off, f.scale(exponent, bias=up), exponent)
    signed = f.elementwise_mul(f.sign(X), part)
    return dict(Out=signed, Exponent=f.where(has_none, zero, exponent))


def _as_strided(f: Any, op: Any, input: Any) -> Any:
    places = np.full(op.dims, op.offset // input.dtype.dtype.itemsize, "int64")
    for axis, (size, step) in enumerate(zip(op.dims, op.stride)):
        places += np.arange(size).reshape(-1, *[1] * (len(op.dims) - 1 - axis)) * step
    row = f.gather(f.reshape2(input, shape=[-1]), _constant(f, places))
    return f.reshape2(row, shape=list(op.dims))


def _tensor_unfold(f: Any, op: Any, input: Any) -> Any:
    axis, shape = op.axis % len(input.shape), input.shape
    if -1 in shape[axis:]:
        return None
    count = (shape[axis] - op.size) // op.step + 1
    places = np.arange(count)[:, None] * op.step + np.arange(op.size)
    windows = f.gather(input, _constant(f, places), axis=axis)
    cut = f.reshape2(windows, shape=[*[0] * axis, count, op.size, *shape[axis + 1 :]])
    order = [k for k in range(len(shape) + 1) if k != axis + 1]
    return f.transpose2(cut, axis=[*order, axis + 1])


def _put_along(f: Any, op: Any, X: Any, Index: Any, Value: Any) -> Any:
    reduce = "add" if op.adds else "assign"
    return f.put_along_axis(X, Index, Value, Axis=op.axis, Reduce=reduce)


def _constant(f: Any, places: np.ndarray[Any, Any]) -> Any:
    values = dict(shape=[places.size], dtype=DType.INT64, int64_values=places.ravel().tolist())
    return f.assign_value(**values)


#: type -> its rule
RULES: dict[str, Rule] = {
    "amax": _extreme("reduce_amax"),
    "amin": _extreme("reduce_amin"),
    "arctan2": _as("atan2"),
    "as_strided": _as_strided,
    "einsum": _einsum,
    "fill_zeros_like": _as("fill_any_like", value=0.0),  # which paddle 3 has, too
    "floor_divide": _as("elementwise_floordiv", "axis", floored=True),
    "frexp": _frexp,
    "gcd": _gcd,
    "lcm": _lcm,
    "leaky_relu_v2": _as("leaky_relu", "alpha"),
    "matmul": _matmul,
    "maximum": _as("elementwise_max", "axis"),
    "minimum": _as("elementwise_min", "axis"),
    "pad2d": _pad2d,
    "pick_label": _pick_label,
    "place_diagonal": _place_diagonal,
    "pool2d": _largest_in_parts,
    "pool3d": _largest_in_parts,
    "pseudo_inverse": _pseudo_inverse,
    "put_along": _put_along,
    "put_item": put_item,
    "remainder": _as("elementwise_mod", "axis", floored=True),
    "rnn_memory_helper": _as("assign"),
    "squeeze": _as("squeeze2", "axes"),
    "take_along": lambda f, op, X, Index: f.take_along_axis(X, Index, Axis=op.axis),
    "take_diagonal": lambda f, op, X: f.diagonal(X, offset=op.offset, axis1=op.dim1, axis2=op.dim2),
    "take_item": take_item,
    "tensor_unfold": _tensor_unfold,
    "unsqueeze": _as("unsqueeze2", "axes"),
}


def in_form(program: Program) -> Program:
    """A copy of a program as paddle 2.6 reads it from a ``.pdmodel``; arguments and warnings as of
    :func:`put_in_form`.
    """
    copied = program.clone()
    put_in_form(copied)
    return copied


def put_in_form(program: Program) -> None:
    """Let a program that is written have the operators of paddle 2.6, and say that version.

    A warning names an operator that 2.6 lacks.

    Args:
        program: is changed; of one that paddle 2 wrote only what was added to it, of one that fluid
            1.8 wrote nothing.
    """
    is_new = program.carried is None
    of_fluid = not is_new and not is_of_paddle2(program)
    if not of_fluid:
        with unique_name.guard(FreeNames(program)):
            for block in program.blocks:
                block.set_ops([part for op in block.ops for part in _parts(op, block, is_new)])
    if is_new:
        declare_byproducts(program, with_unread=True)
        _order_feeds(program.global_block())
        set_version(program, VERSION)
    left = lacking_operators(program, "paddle 2.6")
    if left:
        ops = (op for block in program.blocks for op in block.ops if op.type == left[0])
        callsite = next((op.callsite for op in ops), None)
        site = "" if callsite is None else f", built at {callsite}"
        more = f", nor {', '.join(map(repr, left[1:]))}" if left[1:] else ""
        so = "it cannot run this model" if of_fluid else "only fluidlite runs this model"
        warn(f"paddle 2.6 has no operator {left[0]!r}{site}{more}: {so}", None)


def _order_feeds(block: Block) -> None:
    """Let operators that feed come from the last one to the first one: paddle 2.6 takes arguments
    in the reverse order.
    """
    feeds = [op for op in block.ops if op.type == "feed"]
    others = [op for op in block.ops if op.type != "feed"]
    block.set_ops([*sorted(feeds, key=lambda op: -op.attr("col")), *others])


def _parts(op: Operator, block: Block, is_new: bool) -> list[Operator]:
    """What is written for an operator; as it is where it stood in the file so."""
    if op.type == "assign" and op.first_output.startswith(SCALED):
        inputs = {"X": tuple(op.input("X"))}
        scaled = Operator(block, "scale", inputs, dict(op.outputs), {"scale": 1.0})
        scaled.role, scaled.callsite, scaled.foreign = op.role, op.callsite, op.foreign
        return [scaled]
    return _written(op, block) if is_new or op.carried is None else [op]


def _written(op: Operator, block: Block) -> list[Operator]:
    change, rule = CHANGES.get(op.type), RULES.get(op.type)
    if change is not None:
        change(op)
    if rule is None or blocks_driven_by(op):
        return [op]
    instance = op.instance()

    def composed(f: Any, ins: dict[str, Any]) -> Any:
        outs = rule(f, instance, *[ins.get(slot) for slot in instance.input_slots])
        first = next(iter(op.outputs))
        return outs if outs is None or isinstance(outs, dict) else {first: outs}

    parts = parts_of(op, block, composed)
    return [part for each in parts for part in _written(each, block)] if parts else [op]
