"""``paddle.autograd`` of paddle 2.6."""

from __future__ import annotations

from typing import Any

from ..autograd import PyLayer, PyLayerContext, backward, saved_tensors_hooks
from ..eager.engine import grad
from ..eager.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ..errors import ArgumentError, ParameterListError, ShapeError
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..opdef.operand import Operand, Operands
from .holders import hold
from .jacobians import Hessian, Jacobian, derivatives, need_one_value

__all__ = [
    "PyLayer", "PyLayerContext", "backward", "enable_grad", "grad", "hessian", "is_grad_enabled",
    "jacobian", "no_grad", "saved_tensors_hooks", "set_grad_enabled",
]  # fmt: skip


def jacobian(ys: Operands, xs: Operands, batch_axis: int | None = None) -> Any:
    """The derivatives of every element of ``ys`` by every element of ``xs``, computed row by row.

    Args:
        ys: [M] or [], or with samples [B, M] or [B]; what was made of ``xs``, or a tuple.
        xs: [N] or [], or with samples [B, N] or [B]; a tensor or variable, or a tuple of them.
        batch_axis: 0: the first dimension counts samples that do not depend on each other.

    Returns:
        what is indexed like a tensor [M, N] or [B, M, N], without the dimensions that ``ys`` lacks.
        A tuple of them for a tuple of ``xs``, and a tuple of those for a tuple of ``ys``.

    Raises:
        ArgumentError: ``batch_axis`` is neither None nor 0.
        ShapeError: one has more dimensions.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    >>> paddle.autograd.jacobian(x * x, x)[0].tolist()
    [2.0, 0.0, 0.0]
    """
    rows = [
        [_matrix(Jacobian, y, x, batch_axis) for x in _listed("xs", xs)] for y in _listed("ys", ys)
    ]
    found = [tuple(row) if _is_several(xs) else row[0] for row in rows]
    return tuple(found) if _is_several(ys) else found[0]


def hessian(ys: Operand, xs: Operands, batch_axis: int | None = None) -> Any:
    """The second derivatives of a value with one element, computed row by row.

    Args:
        ys: [] or [1], or with samples [B] or [B, 1]; what was made of ``xs``.
        xs: [N], or with samples [B, N]; a tensor or variable, or a tuple of them.
        batch_axis: 0: the first dimension counts samples that do not depend on each other.

    Returns:
        what is indexed like a tensor [N, N] or [B, N, N]; a tuple of tuples of them for a tuple of
        ``xs``.

    Raises:
        ArgumentError: ``batch_axis`` is neither None nor 0.
        ShapeError: there are several values, or one has more dimensions.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.hessian((x * x * x).sum(), x)[:].tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    if not isinstance(ys, Operand):
        raise ParameterListError(f"expected ys to be a tensor, got {ys!r:.60}")
    _check(ys, "ys", batch_axis)
    need_one_value([ys], batch_axis is not None)
    listed = _listed("xs", xs)
    for x in listed:
        _check(x, "xs", batch_axis)
    rows = [
        tuple(_matrix(Hessian, slope, x, batch_axis) for x in listed)
        for slope in derivatives([ys], listed)
    ]
    return tuple(rows) if _is_several(xs) else rows[0][0]


def _is_several(given: Any) -> bool:
    return isinstance(given, (list, tuple))


def _listed(what: str, given: Any) -> list[Any]:
    listed = list(given) if _is_several(given) else [given]
    for each in listed:
        if not isinstance(each, Operand):
            raise ParameterListError(
                f"expected {what} to be a tensor or a tuple of them, got {each!r:.60}"
            )
    return listed


def _check(given: Any, what: str, batch_axis: int | None) -> None:
    if batch_axis is not None and (batch_axis != 0 or isinstance(batch_axis, bool)):
        raise ArgumentError(f"expected batch_axis to be None or 0, got {batch_axis!r:.60}")
    rank = len(given.shape)
    least, most = (1, 2) if batch_axis == 0 else (0, 1)
    if not least <= rank <= most:
        raise ShapeError(
            f"expected {what} to have {least} or {most} dimensions where batch_axis is "
            f"{batch_axis}, got shape {list(given.shape)}; flatten it first"
        )


def _matrix(kind: type[Jacobian], y: Any, x: Any, batch_axis: int | None) -> Jacobian:
    _check(y, "ys", batch_axis)
    _check(x, "xs", batch_axis)
    return kind([y], [x], batch_axis is not None)


list_public_names(globals())
api_boundaries(globals())
hold(globals())
