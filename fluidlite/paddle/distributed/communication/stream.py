"""``paddle.distributed.stream``: the same calls, with an argument for streams of devices.

In place of a list of tensors they take one, whose rows are those of the list.
"""

from __future__ import annotations

from typing import Any

from ....ground.public_names import list_public_names
from ....ground.spellings import Spelling
from ....ground.tracebacks import api_boundaries
from ...holders import hold
from .. import collectives

#: a function -> what it takes first, in its order here
_FIRST = {
    "all_gather": "tensor_or_tensor_list, tensor",
    "all_reduce": "tensor, op",
    "alltoall": "out_tensor_or_tensor_list, in_tensor_or_tensor_list",
    "alltoall_single": "out_tensor, in_tensor, out_split_sizes, in_split_sizes",
    "broadcast": "tensor, src",
    "gather": "tensor, gather_list, dst",
    "recv": "tensor, src",
    "reduce": "tensor, dst, op",
    "reduce_scatter": "tensor, tensor_or_tensor_list, op",
    "scatter": "tensor, tensor_or_tensor_list, src",
    "send": "tensor, dst",
}
__all__ = [*_FIRST]
_spelled = Spelling(
    {
        "tensor_list": "tensor_or_tensor_list",
        "in_tensor_list": "in_tensor_or_tensor_list",
        "out_tensor_list": "out_tensor_or_tensor_list",
    }
)


def _with_stream(result: Any, use_calc_stream: bool = False) -> Any:
    """What the call gives.

    Args:
        result: what it gives.
        use_calc_stream: accepted: there are no streams.
    """
    return result


for _name, _arguments in _FIRST.items():
    globals()[_name] = _spelled(
        getattr(collectives, _name),
        order=f"{_arguments}, group, sync_op, use_calc_stream",
        defaults={"dst": 0} if _name == "reduce" else None,
        then=_with_stream,
        scope=globals(),
    )

list_public_names(globals())
api_boundaries(globals())
hold(globals())
