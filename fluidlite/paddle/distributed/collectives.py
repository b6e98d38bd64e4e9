"""What processes compute together and send each other, on tensors; sums and broadcasts of variables
of programs, too.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...distributed.mpi import MpiGroup
from ...eager.recording import TensorRecord
from ...errors import ArgumentError, NotInitializedError, UnsupportedError
from ...functions.shaping import split
from ...ground.docstrings import Family
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.variable import Variable
from ...opdef.operand import Operand
from .groups import Group, ReduceOp, get_world_size, global_group

_HOW = {
    ReduceOp.SUM: "sum", ReduceOp.MAX: "max", ReduceOp.MIN: "min", ReduceOp.PROD: "prod",
    ReduceOp.AVG: "sum",
}  # fmt: skip


_COLLECTIVES = Family(
    {
        "group": "the processes; all when None.",
        **dict.fromkeys(("src", "dst"), "the number of the process."),
        "sync_op": "accepted: it is done when this returns.",
    },
    raises="NotInitializedError: there are no other processes.",
)


class Task:
    """A call that has begun.

    Args:
        finish: waits for it.
    """

    def __init__(self, finish: Callable[[], None] | None = None) -> None:
        self._finish = finish

    def wait(self) -> bool:
        """Wait until it is done."""
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()
        return True

    def is_completed(self) -> bool:
        """Whether it is done."""
        return self._finish is None

    def __repr__(self) -> str:
        return f"<Task: {'done' if self._finish is None else 'begun'}>"


def _processes(group: Group | None) -> MpiGroup | None:
    """What brings the processes of a group together; None where this one does not belong to it.

    Raises:
        NotInitializedError: there is no group.
    """
    return (global_group() if group is None else group).process_group


def _array(what: str, tensor: Any) -> Any:
    if isinstance(tensor, Variable):
        raise UnsupportedError(
            f"{what}: in a program all_reduce, broadcast, all_gather and reduce_scatter are there; "
            "use them, or tensors"
        )
    if not isinstance(tensor, TensorRecord):
        raise ArgumentError(f"{what}: expected a tensor, got {tensor!r:.60}")
    return tensor.array


def _place(what: str, group: Group | None, rank: int) -> int:
    """The number in a group of a process."""
    found = global_group() if group is None else group
    place = found.get_group_rank(rank)
    if place < 0:
        raise ArgumentError(f"{what}: expected one of the processes {found.ranks}, got {rank}")
    return place


def _reduced(processes: MpiGroup, array: Any, op: int) -> Any:
    if op not in _HOW:
        raise ArgumentError(f"expected op to be one of ReduceOp, got {op!r:.60}")
    result = processes.all_reduce(array, _HOW[op], 0)
    return result / np.asarray(processes.size, array.dtype) if op == ReduceOp.AVG else result


@_COLLECTIVES
def all_reduce(
    tensor: Operand, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Any:
    """Have a tensor hold what all processes' tensors make together, element by element.

    Args:
        tensor: of the same shape everywhere; it takes the result.
        op: how, as ``ReduceOp`` says.

    Returns:
        a task that is done; None for variables.
    """
    if isinstance(tensor, Variable):
        if op not in _HOW or op == ReduceOp.AVG:
            raise ArgumentError(f"in a program op is SUM, MAX, MIN or PROD, got {op!r:.60}")
        _append(f"c_allreduce_{_HOW[op]}", tensor, tensor)
        return None
    if (processes := _processes(group)) is None:
        return None
    _write(tensor, _reduced(processes, _array("all_reduce", tensor), op))
    return Task()


def _append(type: str, x: Variable, out: Variable, **attrs: object) -> None:
    x.block.append_op(type, {"X": x}, {"Out": out}, {"ring_id": 0, **attrs})


def _write(tensor: Any, array: Any) -> None:
    """Have a tensor hold an array; gradients do not notice."""
    tensor.set_value(array)


@_COLLECTIVES
def reduce(
    tensor: Operand,
    dst: int,
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
) -> Any:
    """Have the tensor of one process hold what all make together, element by element.

    Args:
        tensor: of the same shape everywhere; that of ``dst`` takes the result.
        op: how, as ``ReduceOp`` says.
    """
    if (processes := _processes(group)) is None:
        return None
    place = _place("reduce", group, dst)
    result = _reduced(processes, _array("reduce", tensor), op)
    if processes.rank == place:
        _write(tensor, result)
    return Task()


@_COLLECTIVES
def broadcast(tensor: Operand, src: int, group: Group | None = None, sync_op: bool = True) -> Any:
    """Have all processes' tensors hold what one of them has.

    Args:
        tensor: of the same shape everywhere.
    """
    if isinstance(tensor, Variable):
        _append("c_broadcast", tensor, tensor, root=src)
        return None
    if (processes := _processes(group)) is None:
        return None
    place = _place("broadcast", group, src)
    _write(tensor, processes.broadcast(_array("broadcast", tensor), place, 0))
    return Task()


@_COLLECTIVES
def all_gather(
    tensor_list: list[Any], tensor: Operand, group: Group | None = None, sync_op: bool = True
) -> Any:
    """Gather the tensors of all processes in a list.

    Args:
        tensor_list: takes them, in the order of the processes.
        tensor: of the same shape everywhere.

    Raises:
        NotInitializedError: there are no other processes, or this one does not belong to them.
    """
    if isinstance(tensor, Variable):
        count = get_world_size(group)
        out = tensor.block.create_var(dtype=tensor.dtype)
        _append("c_allgather", tensor, out, nranks=count)
        tensor_list += split(out, count) if count > 1 else [out]
        return None
    if (processes := _processes(group)) is None:
        raise NotInitializedError("all_gather: this process does not belong to the group")
    gathered = processes.all_gather(_array("all_gather", tensor)[None], 0)
    _fill("all_gather", tensor_list, gathered, tensor)
    return Task()


@_COLLECTIVES
def gather(
    tensor: Operand,
    gather_list: list[Any] | None = None,
    dst: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
) -> Any:
    """Gather the tensors of all processes in a list of one of them.

    Args:
        tensor: of the same shape everywhere.
        gather_list: takes them in the process ``dst``; not read elsewhere.
    """
    if (processes := _processes(group)) is None:
        return None
    place = _place("gather", group, dst)
    gathered = processes.all_gather(_array("gather", tensor)[None], 0)
    if processes.rank == place and gather_list is not None:
        _fill("gather", gather_list, gathered, tensor)
    return Task()


@_COLLECTIVES
def scatter(
    tensor: Operand,
    tensor_list: Sequence[Operand] | None = None,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
) -> Any:
    """Give each process one of the tensors of a list that one of them has.

    Args:
        tensor: takes it.
        tensor_list: a tensor for each process, in the process ``src``; not read elsewhere.

    Raises:
        NotInitializedError: there are no other processes.
        ArgumentError: there is not a tensor for each.
    """
    if (processes := _processes(group)) is None:
        return None
    place = _place("scatter", group, src)
    parts = [b""] * processes.size
    if processes.rank == place:
        parts = [each.tobytes() for each in _parts("scatter", tensor_list, processes.size)]
    own = _array("scatter", tensor)
    _write(tensor, np.frombuffer(processes.exchange(parts)[place], own.dtype).reshape(own.shape))
    return Task()


@_COLLECTIVES
def alltoall(
    in_tensor_list: Sequence[Operand],
    out_tensor_list: list[Any],
    group: Group | None = None,
    sync_op: bool = True,
) -> Any:
    """Give each process a tensor, and get one of each.

    Args:
        in_tensor_list: a tensor for each process.
        out_tensor_list: takes what comes, in the order of the processes.

    Raises:
        NotInitializedError: there are no other processes.
        ArgumentError: there is not a tensor for each.
    """
    if (processes := _processes(group)) is None:
        return None
    sent = _parts("alltoall", in_tensor_list, processes.size)
    came = processes.exchange([each.tobytes() for each in sent])
    like = sent[processes.rank]
    arrays = [np.frombuffer(each, like.dtype).reshape(like.shape) for each in came]
    sample = in_tensor_list[0] if isinstance(in_tensor_list, (list, tuple)) else in_tensor_list
    _fill("alltoall", out_tensor_list, arrays, sample)
    return Task()


@_COLLECTIVES
def alltoall_single(
    in_tensor: Operand,
    out_tensor: Operand,
    in_split_sizes: Sequence[int] | None = None,
    out_split_sizes: Sequence[int] | None = None,
    group: Group | None = None,
    sync_op: bool = True,
) -> Any:
    """Give each process some rows of a tensor, and get some of each.

    Args:
        in_tensor: its rows go to the processes, in their order.
        out_tensor: takes the rows that come.
        in_split_sizes: how many go to each; equal numbers when None.
        out_split_sizes: how many come from each; equal numbers when None.

    Raises:
        NotInitializedError: there are no other processes.
        ArgumentError: rows are left over, or others come than were said.
    """
    if (processes := _processes(group)) is None:
        return None
    given, own = _array("alltoall_single", in_tensor), _array("alltoall_single", out_tensor)
    ends = _ends(in_split_sizes, len(given), processes.size)
    came = processes.exchange(
        [np.ascontiguousarray(given[a:b]).tobytes() for a, b in pairwise(ends)]
    )
    row = own[:1].nbytes if len(own) else 0
    wanted = _ends(out_split_sizes, len(own), processes.size)
    sizes = [len(each) // row if row else 0 for each in came]
    if sizes != [b - a for a, b in pairwise(wanted)]:
        raise ArgumentError(
            f"alltoall_single: expected rows {np.diff(wanted).tolist()}, got {sizes} of the "
            "processes"
        )
    _write(out_tensor, np.frombuffer(b"".join(came), own.dtype).reshape(own.shape))
    return Task()


def _ends(sizes: Sequence[int] | None, count: int, parts: int) -> list[int]:
    """Where the rows of each of some parts end, behind 0."""
    told = [count // parts] * parts if sizes is None else [int(n) for n in sizes]
    if len(told) != parts or sum(told) != count:
        raise ArgumentError(f"expected {parts} parts of {count} rows, got {told}")
    return [0, *np.cumsum(told).tolist()]


@_COLLECTIVES
def reduce_scatter(
    tensor: Operand,
    tensor_list: Sequence[Operand],
    op: int = ReduceOp.SUM,
    group: Group | None = None,
    sync_op: bool = True,
) -> Any:
    """Give each process one of what all processes' lists make together, element by element.

    Args:
        tensor: takes it.
        tensor_list: a tensor for each process.
        op: how, as ``ReduceOp`` says.
    """
    if (processes := _processes(group)) is None:
        return None
    parts = np.stack(_parts("reduce_scatter", tensor_list, processes.size))
    _write(tensor, _reduced(processes, parts, op)[processes.rank])
    return Task()


def _fill(what: str, targets: list[Any], arrays: Sequence[Any], sample: Any) -> None:
    """Put arrays into a list: into its tensors, or as new ones where it is empty; or into a tensor,
    one after the other.
    """
    if isinstance(targets, TensorRecord):
        _write(targets, np.reshape(arrays, targets.array.shape))
        return
    if not isinstance(targets, list):
        raise ArgumentError(f"{what}: expected a list that takes tensors, got {targets!r:.60}")
    if not targets:
        targets += [sample.results(np.array(each)) for each in arrays]
        return
    if len(targets) != len(arrays):
        raise ArgumentError(f"{what}: expected a list of {len(arrays)} tensors, got {len(targets)}")
    for target, array in zip(targets, arrays):
        target.set_value(array)


def _parts(what: str, given: Any, count: int) -> list[Any]:
    """The arrays of a list of tensors; or equal parts of one, in its rows."""
    if isinstance(given, TensorRecord):
        return np.split(given.array, _ends(None, len(given.array), count)[1:-1])
    arrays = [_array(what, each) for each in given or ()]
    if len(arrays) != count:
        raise ArgumentError(
            f"{what}: expected {count} tensors, one for each process, got {len(arrays)}"
        )
    return arrays


# -- from one process to another -------------------------------------------------------------------


@_COLLECTIVES
def isend(tensor: Operand, dst: int, group: Group | None = None) -> Any:
    """Begin to send a tensor to one process.

    Args:
        tensor: what is sent.
        group: the processes among which; all when None.

    Returns:
        a task, whose ``wait`` returns when it was taken.
    """
    if (processes := _processes(group)) is None:
        return None
    begun = processes.begin_send(_array("isend", tensor), _place("isend", group, dst))
    return Task(lambda: processes.finish(begun))


@_COLLECTIVES
def irecv(tensor: Operand, src: int | None = None, group: Group | None = None) -> Any:
    """Begin to wait for a tensor that one process sends.

    Args:
        tensor: takes it, when ``wait`` of the task returns.
        group: the processes among which; all when None.

    Raises:
        NotInitializedError: there are no other processes.
        ArgumentError: no process is said.
    """
    if (processes := _processes(group)) is None:
        return None
    if src is None:
        raise ArgumentError("irecv: expected src to be the number of a process, got None")
    begun = processes.begin_receive(_array("irecv", tensor), _place("irecv", group, src))
    return Task(lambda: _write(tensor, processes.finish(begun)))


@_COLLECTIVES
def send(tensor: Operand, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Any:
    """Send a tensor to one process.

    Args:
        tensor: what is sent.
        group: the processes among which; all when None.
        sync_op: False: give the task back at once.
    """
    return _waited(isend(tensor, dst, group), sync_op)


@_COLLECTIVES
def recv(tensor: Operand, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Any:
    """Wait for a tensor that one process sends.

    Args:
        tensor: takes it.
        group: the processes among which; all when None.
        sync_op: False: give the task back at once.
    """
    return _waited(irecv(tensor, src, group), sync_op)


def _waited(task: Any, sync_op: bool) -> Any:
    if task is not None and sync_op:
        task.wait()
    return task


class P2POp(NamedTuple):
    """A call of ``isend`` or ``irecv``, for :func:`batch_isend_irecv`."""

    op: Callable[..., Any]
    tensor: Any
    peer: int
    group: Group | None = None


@_COLLECTIVES
def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Any]:
    """Begin several calls, in which processes may send each other something.

    Args:
        p2p_op_list: the calls.

    Returns:
        their tasks.
    """
    tasks = [each.op(each.tensor, each.peer, each.group) for each in p2p_op_list]
    return [each for each in tasks if each is not None]


# -- objects ---------------------------------------------------------------------------------------


@_COLLECTIVES
def all_gather_object(object_list: list[Any], obj: object, group: Group | None = None) -> None:
    """Gather the objects of all processes in a list.

    Args:
        object_list: takes them, in the order of the processes.
        obj: anything that can be pickled.
    """
    if (processes := _processes(group)) is not None:
        came = processes.exchange([pickle.dumps(obj)] * processes.size)
        object_list[:] = [pickle.loads(each) for each in came]


@_COLLECTIVES
def broadcast_object_list(object_list: list[Any], src: int, group: Group | None = None) -> None:
    """Have all processes' lists hold the objects that one of them has.

    Args:
        object_list: of the same length everywhere.
    """
    if (processes := _processes(group)) is None:
        return
    place = _place("broadcast_object_list", group, src)
    own = pickle.dumps(object_list) if processes.rank == place else b""
    came = pickle.loads(processes.exchange([own] * processes.size)[place])
    object_list[:] = came[: len(object_list)]


@_COLLECTIVES
def scatter_object_list(
    out_object_list: list[Any],
    in_object_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Group | None = None,
) -> None:
    """Give each process one of the objects of a list that one of them has.

    Args:
        out_object_list: takes it, as its only item.
        in_object_list: an object for each process, in the process ``src``; not read elsewhere.

    Raises:
        NotInitializedError: there are no other processes.
        ArgumentError: there is not an object for each.
    """
    if (processes := _processes(group)) is None:
        return
    place = _place("scatter_object_list", group, src)
    parts = [b""] * processes.size
    if processes.rank == place:
        parts = [pickle.dumps(each) for each in in_object_list or ()]
        if len(parts) != processes.size:
            raise ArgumentError(
                f"scatter_object_list: expected {processes.size} objects, one for each process, "
                f"got {len(parts)}"
            )
    out_object_list[:] = [pickle.loads(processes.exchange(parts)[place])]


list_public_names(globals())
api_boundaries(globals())
