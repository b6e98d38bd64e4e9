"""Operators that several processes, or devices, run together.

They ask ``process_group.groups`` for the group that runs; a program that runs alone is a group of
one, for which they give back what they take.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.process_group import REDUCTIONS, groups
from ..ground.values import SelectedRows
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Detached, Op
from ..opdef.effect import EXCHANGE, Effect
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_ndim, same_dtype, size_of, spec
from .families import PassesThrough


class Exchange(Op, abstract=True):
    """An operator that processes run together."""

    signature = "X -> Out"
    folds: ClassVar[bool] = False
    communicates: ClassVar[bool] = True
    grad = None


class Collective(Exchange, abstract=True):
    """An operator of a ring of processes.

    ring_id: which group of processes takes part.
    """

    ring_id: int = 0
    use_calc_stream: bool = attr(False, inert=True)
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X",))


class AllReduce(Collective, abstract=True):
    """Out = all processes' X, reduced element by element."""

    how = "sum"

    def run(self, xp: Any, X: Array) -> Array:
        return groups.get().all_reduce(X, self.how, self.ring_id)


class c_allreduce_sum(AllReduce):
    """Out = the sum of all processes' X.

    ring_id: which group of processes takes part.
    use_calc_stream: not read: operators run in order.
    """

    fluid: ClassVar[FluidForm] = replace(AllReduce.fluid, direct=True)

    def grad(self, f: Any, dOut: Value) -> Rules:
        # each process's X is part of each process's Out
        attrs = dict(ring_id=self.ring_id, use_calc_stream=self.use_calc_stream)
        return dict(X=lambda: f.c_allreduce_sum(dOut, **attrs))


class c_allreduce_max(AllReduce):
    """Out = the largest of all processes' X, element by element.

    ring_id: which group of processes takes part.
    use_calc_stream: not read: operators run in order.
    """

    how = "max"


class c_allreduce_min(AllReduce):
    """Out = the smallest of all processes' X, element by element.

    ring_id: which group of processes takes part.
    use_calc_stream: not read: operators run in order.
    """

    how = "min"


class c_allreduce_prod(AllReduce):
    """Out = the product of all processes' X, element by element.

    ring_id: which group of processes takes part.
    use_calc_stream: not read: operators run in order.
    """

    how = "prod"


class c_broadcast(Collective):
    """Out = the X of one process.

    root: the number of that process.
    ring_id: which group of processes takes part.
    use_calc_stream: not read: operators run in order.
    """

    root: int = 0
    fluid: ClassVar[FluidForm] = FluidForm(numbers=())

    def infer(self, X: Spec) -> Spec:
        return checked_root(self.root, X)

    def run(self, xp: Any, X: Array) -> Array:
        return groups.get().broadcast(X, self.root, self.ring_id)


class Divided(Collective, abstract=True):
    """An operator whose X, or Out, is a part of a whole that all processes make up."""

    nranks: int = REQUIRED
    partner = ""  #: the operator that takes a cotangent back
    fluid: ClassVar[FluidForm] = replace(Collective.fluid, direct=True)

    def grad(self, f: Any, dOut: Value) -> Rules:
        attrs = dict(nranks=self.nranks, ring_id=self.ring_id, use_calc_stream=self.use_calc_stream)
        return dict(X=lambda: getattr(f, self.partner)(dOut, **attrs))


class c_allgather(Divided):
    """Out = all processes' X, one after the other along the first dimension.

    nranks: how many processes there are.
    ring_id: which group of processes takes part.
    use_calc_stream: not read: operators run in order.
    """

    partner = "c_reducescatter"

    def infer(self, X: Spec) -> Spec:
        rows = rows_of(X, self.nranks)
        return X.with_dim(0, rows if rows == -1 else rows * self.nranks)

    def run(self, xp: Any, X: Array) -> Array:
        return members(self.nranks).all_gather(X, self.ring_id)


class c_reducescatter(Divided):
    """Out = this process's part of the sum of all X, which is cut along the first dimension.

    nranks: how many processes there are.
    ring_id: which group of processes takes part.
    use_calc_stream: not read: operators run in order.
    """

    nranks: int = 1
    partner = "c_allgather"

    def infer(self, X: Spec) -> Spec:
        rows = rows_of(X, self.nranks)
        if rows % self.nranks and rows != -1:
            raise ShapeError(
                f"expected the first size of X, {rows}, to be a multiple of nranks={self.nranks}"
            )
        return X.with_dim(0, rows if rows == -1 else rows // self.nranks)

    def run(self, xp: Any, X: Array) -> Array:
        return members(self.nranks).reduce_scatter(X, self.ring_id)


class allreduce(Exchange):
    """Out = all processes' X, reduced element by element.

    reduce_type: 0 for the sum, 1 for the product, 2 for the maximum, 3 for the minimum.
    sync_mode: not read: operators run in order.
    """

    reduce_type: int = 0
    sync_mode: bool = attr(False, inert=True)
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X",))

    def infer(self, X: Spec) -> Spec:
        if not 0 <= self.reduce_type < len(REDUCTIONS):
            listed = ", ".join(f"{number} ({how})" for number, how in enumerate(REDUCTIONS))
            raise AttributeValueError(
                f"expected reduce_type to be one of {listed}; got {self.reduce_type}"
            )
        return X

    def run(self, xp: Any, X: Array) -> Array:
        return groups.get().all_reduce(X, REDUCTIONS[self.reduce_type], 0)


class broadcast(Exchange):
    """Out = the X of one process.

    root: the number of that process.
    sync_mode: not read: operators run in order.
    """

    root: int = 0
    sync_mode: bool = attr(False, inert=True)

    def infer(self, X: Spec) -> Spec:
        return checked_root(self.root, X)

    def run(self, xp: Any, X: Array) -> Array:
        return groups.get().broadcast(X, self.root, 0)


class c_scale_loss_grad(Op):
    """Out = X / the number of processes: the sum of all processes' gradients is their mean then.

    ring_id: which group of processes takes part; each has all of them.
    """

    signature = "X -> Out"
    ring_id: int = attr(0, inert=True)
    folds: ClassVar[bool] = False
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, numbers=("X",))

    def run(self, xp: Any, X: Array) -> Arrays:
        size = groups.get().size
        return X if size == 1 else X / xp.asarray(size, X.dtype)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.c_scale_loss_grad(dOut, ring_id=self.ring_id))


class c_allreduce_start(Detached):
    """Handle = all X in one row, whose sum over all processes has begun; c_allreduce_wait takes it.

    ring_id: which group of processes takes part.
    """

    signature = "X* -> Handle"
    ring_id: int = 0
    of: list[str] = ()
    folds: ClassVar[bool] = False
    communicates: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X",))

    def infer(self, X):
        same_dtype(**{f"X[{k}]": each for k, each in enumerate(X)})
        sizes = [size_of(each.shape) for each in X]
        return spec([-1 if -1 in sizes else sum(sizes)], X[0].dtype)

    def run(self, xp: Any, X: Array) -> Arrays:
        return self.started(xp.concatenate([xp.reshape(each, (-1,)) for each in X]))

    def run_numpy(self, xp: Any, X: Array) -> Arrays:
        joined = groups.get().buffer(sum(each.size for each in X), X[0].dtype)
        return self.started(xp.concatenate([each.reshape(-1) for each in X], out=joined))

    def started(self, joined: Any) -> Any:
        """What has begun, of all X in one row."""
        names = ", ".join(self.of[:3]) + (f" and {len(self.of) - 3} more" * (len(self.of) > 3))
        return groups.get().start_all_reduce(joined, "sum", self.ring_id, names)


class c_allreduce_wait(Detached):
    """Out = the sums that c_allreduce_start began with Handle, each in its shape.

    shape_concat: the sizes of all Out, one after the other.
    ranks: how many of them belong to each.
    ring_id: which group of processes takes part.
    """

    signature = "Handle -> Out*"
    shape_concat: list[int] = REQUIRED
    ranks: list[int] = REQUIRED
    ring_id: int = attr(0, inert=True)
    folds: ClassVar[bool] = False
    communicates: ClassVar[bool] = True

    def width(self, Handle: Spec) -> Any:
        return len(self.ranks)

    def shapes(self) -> Any:
        """The shape of each Out."""
        ends = list(accumulate(self.ranks, initial=0))
        return [tuple(self.shape_concat[a:b]) for a, b in pairwise(ends)]

    def infer(self, Handle: Spec) -> Specs:
        return {"Out": [spec(shape, Handle.dtype) for shape in self.shapes()]}

    def run(self, xp: Any, Handle: Array) -> Arrays:
        summed = groups.get().wait(Handle)
        shapes = self.shapes()
        ends = list(accumulate(map(prod, shapes), initial=0))
        parts = [summed[a:b] for a, b in pairwise(ends)]
        return {"Out": [xp.reshape(part, s) for part, s in zip(parts, shapes, strict=True)]}


class c_allgather_rows(Detached):
    """Out = the sum of all processes' X; of SelectedRows, all their rows, one after the other.

    ring_id: which group of processes takes part.
    """

    signature = "X -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(rows=("X",))
    ring_id: int = 0
    folds: ClassVar[bool] = False
    communicates: ClassVar[bool] = True

    def run(self, xp: Any, X: Array) -> Arrays:
        group = groups.get()
        if isinstance(X, SelectedRows):
            return group.gather_rows(X, self.ring_id)
        return group.all_reduce(X, "sum", self.ring_id)


class Wait(PassesThrough, abstract=True):
    """Out = X, behind what was started before: operators run in order, so nothing has to wait."""

    fluid: ClassVar[FluidForm] = FluidForm(direct=True)


class c_sync_calc_stream(Wait):
    """Out = X, when what computes is done."""


class c_sync_comm_stream(Wait):
    """Out = X, when what is sent between processes is there.

    ring_id: not read: operators run in order.
    """

    ring_id: int = attr(0, inert=True)


class CommunicationStart(Detached, abstract=True):
    """An operator of a startup program about how processes find each other."""

    def infer(self) -> Specs:
        return {}


class c_gen_nccl_id(CommunicationStart):
    """Out = what processes find each other by, which nothing needs here: they are started together.

    rank: the number of this process.
    endpoint: the address of this process.
    other_endpoints: the addresses of the others.
    ring_id: which group of processes it is for.
    """

    signature = "-> Out"
    rank: int = attr(0, inert=True)
    endpoint: str = attr("", inert=True)
    other_endpoints: list[str] = attr((), inert=True)
    ring_id: int = attr(0, inert=True)
    fluid: ClassVar[FluidForm] = FluidForm(idle=("Out",))

    def execute(self, run: Any) -> None:
        """Nothing is made."""


class c_comm_init(CommunicationStart):
    """A group of processes is made, or checked.

    X: what processes find each other by; not read.
    nranks: how many processes there are.
    rank: the number of this process.
    ring_id: the number of the group.
    """

    signature = "X ->"
    fluid: ClassVar[FluidForm] = FluidForm(unread=("X",))
    effect: ClassVar[Effect | None] = EXCHANGE
    nranks: int = REQUIRED
    rank: int = REQUIRED
    ring_id: int = 0

    def execute(self, run: Any) -> None:
        groups.get().open_ring(self.ring_id, self.nranks, self.rank)


class c_comm_init_all(CommunicationStart):
    """A group of all devices of this process is made; nothing is needed for that here.

    devices: not read: those that the program runs on.
    ring_id: not read.
    """

    signature = "->"
    devices: list[int] = attr((), inert=True)
    ring_id: int = attr(0, inert=True)

    def execute(self, run: Any) -> None:
        """Nothing is made."""


def members(count: int) -> Any:
    """The group that runs, which a program was made for.

    Raises:
        AttributeValueError: it has another number of members than the program says.
    """
    group = groups.get()
    if group.size != count:
        raise AttributeValueError(
            f"expected nranks to be the number of processes that run, {group.size}, got {count}"
        )
    return group


def rows_of(X: Spec, nranks: int) -> int:
    """The first size of X."""
    if nranks < 1:
        raise AttributeValueError(f"expected nranks to be 1 or more, got {nranks}")
    if not X.shape:
        need_ndim(1, X=X)
    return X.shape[0]


def checked_root(root: int, X: Spec) -> Spec:
    """X, after a look at the number of a process."""
    if root < 0:
        raise AttributeValueError(f"expected root to be 0 or more, got {root}")
    return X
