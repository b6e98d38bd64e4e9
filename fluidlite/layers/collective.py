"""What several processes compute together, under the names that fluid 1.8 has for it."""

from __future__ import annotations

from ..errors import ArgumentError
from ..ground.process_group import REDUCTIONS
from ..ir.variable import Variable
from .layer import LayerBuilder, layer


def _reduction(reduce_type: str) -> int:
    if reduce_type not in REDUCTIONS:
        raise ArgumentError(
            f"expected reduce_type to be one of {', '.join(REDUCTIONS)}, got {reduce_type!r:.60}"
        )
    return REDUCTIONS.index(reduce_type)


def _written(f: LayerBuilder, type: str, x: Variable, out: Variable, **attrs: object) -> Variable:
    f.into(type, {"X": x}, {"Out": out}, **attrs)
    return out


def _given(f: LayerBuilder, x: Variable, stem: str, out: Variable | None = None) -> Variable:
    f.layer_type = f"{x.name}.{stem}"
    return f.result(out) if out is not None else f.block.declare_var(name=f.name)


@layer
def _allreduce(
    f: LayerBuilder,
    x: Variable,
    out: Variable | None = None,
    reduce_type: str = "sum",
    sync_mode: bool = False,
) -> Variable:
    """All processes' ``x``, reduced element by element.

    Args:
        x: a variable of numbers.
        reduce_type: "sum", "prod", "max" or "min".
        sync_mode: kept in the operator; operators run in order.

    Raises:
        ArgumentError: there is no such reduction.

    >>> from fluidlite.layers import collective
    >>> x = fluid.layers.fill_constant([2], "float32", 3.0)
    >>> fluid.Executor().run(fetch_list=[collective._allreduce(x)])
    [array([3., 3.], dtype=float32)]
    """
    number = _reduction(reduce_type)
    to = _given(f, x, "tmp", out)
    return _written(f, "allreduce", x, to, reduce_type=number, sync_mode=sync_mode)


@layer
def _broadcast(f: LayerBuilder, x: Variable, root: int, sync_mode: bool = False) -> Variable:
    """``x`` becomes that of one process.

    Args:
        x: a variable; it takes the result.
        root: the number of the process.
        sync_mode: kept in the operator; operators run in order.
    """
    return _written(f, "broadcast", x, x, root=root, sync_mode=sync_mode)


@layer
def _c_allreduce(
    f: LayerBuilder,
    x: Variable,
    out: Variable | None = None,
    reduce_type: str = "sum",
    ring_id: int = 0,
    use_calc_stream: bool = False,
) -> Variable:
    """All processes' ``x``, reduced element by element.

    Args:
        x: a variable of numbers.
        reduce_type: "sum", "prod", "max" or "min".
        ring_id: which group of processes takes part.
        use_calc_stream: kept in the operator; operators run in order.

    Raises:
        ArgumentError: there is no such reduction.

    >>> from fluidlite.layers import collective
    >>> x = fluid.layers.fill_constant([2], "float32", 3.0)
    >>> largest = collective._c_allreduce(x, reduce_type="max")
    >>> largest.name
    'fill_constant_0.tmp_0.c_allreduce_max_0'
    """
    type = f"c_allreduce_{REDUCTIONS[_reduction(reduce_type)]}"
    to = _given(f, x, type, out)
    return _written(f, type, x, to, ring_id=ring_id, use_calc_stream=use_calc_stream)


@layer
def _c_broadcast(
    f: LayerBuilder, x: Variable, root: int = 0, ring_id: int = 0, use_calc_stream: bool = False
) -> Variable:
    """``x`` becomes that of one process.

    Args:
        x: a variable; it takes the result.
        root: the number of the process.
        ring_id: which group of processes takes part.
        use_calc_stream: kept in the operator; operators run in order.
    """
    attrs = dict(root=root, ring_id=ring_id, use_calc_stream=use_calc_stream)
    return _written(f, "c_broadcast", x, x, **attrs)


@layer
def _c_allgather(
    f: LayerBuilder, x: Variable, nranks: int, ring_id: int = 0, use_calc_stream: bool = False
) -> Variable:
    """All processes' ``x``, one behind the other along the first dimension.

    Args:
        x: a variable of one dimension or more.
        nranks: how many processes there are.
        ring_id: which group of processes takes part.
        use_calc_stream: kept in the operator; operators run in order.
    """
    attrs = dict(nranks=nranks, ring_id=ring_id, use_calc_stream=use_calc_stream)
    return _written(f, "c_allgather", x, _given(f, x, "c_allgather"), **attrs)


@layer
def _c_reducescatter(
    f: LayerBuilder, x: Variable, nranks: int, ring_id: int = 0, use_calc_stream: bool = False
) -> Variable:
    """This process's part of the sum of all ``x``, which is cut along the first dimension.

    Args:
        x: a variable whose first size is a multiple of ``nranks``.
        nranks: how many processes there are.
        ring_id: which group of processes takes part.
        use_calc_stream: kept in the operator; operators run in order.
    """
    attrs = dict(nranks=nranks, ring_id=ring_id, use_calc_stream=use_calc_stream)
    return _written(f, "c_reducescatter", x, _given(f, x, "c_reducescatter"), **attrs)


@layer
def _c_sync_calc_stream(f: LayerBuilder, x: Variable) -> Variable:
    """``x``, when what computes is done; operators run in order."""
    return _written(f, "c_sync_calc_stream", x, x)


@layer
def _c_sync_comm_stream(f: LayerBuilder, x: Variable, ring_id: int) -> Variable:
    """``x``, when what is sent between processes is there; operators run in order.

    Args:
        x: a variable.
        ring_id: kept in the operator.
    """
    return _written(f, "c_sync_comm_stream", x, x, ring_id=ring_id)
