"""What several processes compute together, under the names that fluid 1.8 has for it."""

from __future__ import annotations

from ..errors import ArgumentError
from ..ground.missing_names import answer
from ..ground.process_group import REDUCTIONS
from ..ir.variable import Variable
from .layer import LAYERS, LayerBuilder, layer
from .operator_layers import LayerCall, OperatorLayers


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


_COLLECTIVE = LAYERS.extended(
    {
        "x": "a variable of numbers.",
        "reduce_type": '"sum", "prod", "max" or "min".',
        "root": "the number of the process.",
        "nranks": "how many processes there are.",
        "ring_id": "which group of processes takes part.",
        "sync_mode": "kept in the operator; operators run in order.",
        "use_calc_stream": "kept in the operator; operators run in order.",
    }
)
_collective = OperatorLayers(_COLLECTIVE)
_reduced = OperatorLayers(
    _COLLECTIVE.extended({}, raises="ArgumentError: there is no such reduction.")
)


@_reduced.signature("""
    _allreduce(x, out, reduce_type: str = "sum", sync_mode) -> allreduce
""")
def _allreduce(f: LayerBuilder, call: LayerCall) -> Variable:
    """All processes' ``x``, reduced element by element.

    >>> from fluidlite.layers import collective
    >>> x = fluid.layers.fill_constant([2], "float32", 3.0)
    >>> fluid.Executor().run(fetch_list=[collective._allreduce(x)])
    [array([3., 3.], dtype=float32)]
    """
    number = _reduction(call.reduce_type)
    out = _given(f, call.x, "tmp", call.out)
    return _written(f, "allreduce", call.x, out, reduce_type=number, **call.attrs)


@_collective.signature("_broadcast(x, root=..., sync_mode) -> broadcast")
def _broadcast(f: LayerBuilder, call: LayerCall) -> Variable:
    """``x`` becomes that of one process.

    Args:
        x: a variable; it takes the result.
    """
    return _written(f, "broadcast", call.x, call.x, **call.attrs)


@_reduced.signature("""
    _c_allreduce(x, out, reduce_type: str = "sum", ring_id, use_calc_stream) -> c_allreduce_sum
""")
def _c_allreduce(f: LayerBuilder, call: LayerCall) -> Variable:
    """All processes' ``x``, reduced element by element.

    >>> from fluidlite.layers import collective
    >>> x = fluid.layers.fill_constant([2], "float32", 3.0)
    >>> largest = collective._c_allreduce(x, reduce_type="max")
    >>> largest.name
    'fill_constant_0.tmp_0.c_allreduce_max_0'
    """
    type = f"c_allreduce_{REDUCTIONS[_reduction(call.reduce_type)]}"
    return _written(f, type, call.x, _given(f, call.x, type, call.out), **call.attrs)


@_collective.signature("_c_broadcast(x, root, ring_id, use_calc_stream) -> c_broadcast")
def _c_broadcast(f: LayerBuilder, call: LayerCall) -> Variable:
    """``x`` becomes that of one process.

    Args:
        x: a variable; it takes the result.
    """
    return _written(f, "c_broadcast", call.x, call.x, **call.attrs)


@_collective.signature("_c_allgather(x, nranks, ring_id, use_calc_stream) -> c_allgather")
def _c_allgather(f: LayerBuilder, call: LayerCall) -> Variable:
    """All processes' ``x``, one after the other along the first dimension.

    Args:
        x: a variable of one dimension or more.
    """
    return _written(f, "c_allgather", call.x, _given(f, call.x, "c_allgather"), **call.attrs)


@_collective.signature("""
    _c_reducescatter(x, nranks=..., ring_id, use_calc_stream) -> c_reducescatter
""")
def _c_reducescatter(f: LayerBuilder, call: LayerCall) -> Variable:
    """This process's part of the sum of all ``x``, which is cut along the first dimension.

    Args:
        x: a variable whose first size is a multiple of ``nranks``.
    """
    out = _given(f, call.x, "c_reducescatter")
    return _written(f, "c_reducescatter", call.x, out, **call.attrs)


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


answer(globals())
