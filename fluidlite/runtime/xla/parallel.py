"""A program on several devices as one compiled function over a mesh of them.

Each device computes its part of the batch, gradients are summed between operators of backward and
those of optimizers, and every device updates its copy of the parameters.  What cannot be compiled
goes through the devices one after the other, as on NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from weakref import ref

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from ...errors import UnsupportedError
from ...ground.callsite import warn
from ...ground.process_group import Unrepeated, groups
from ...ground.values import as_fetched, is_device_array
from ...opdef.definition import lookup
from ..plan import Plan, update_stages
from ..replicated import Replicas
from ..run_state import Wanted
from .interpreter import TracedEval
from .refusal import NotTraceable
from .rows import rows_matter
from .trace import StepTrace

AXIS = "devices"
FAILURES = 2  #: after so many a program is not compiled for several devices again


class MeshGroup(Unrepeated):
    """The devices of a mesh as the members that run collective operators.

    Args:
        axis: of the mesh.
        size: how many devices there are along it.
    """

    def __init__(self, axis: str, size: int) -> None:
        self._axis = axis
        self.size = size

    @property
    def rank(self) -> Any:
        """The number of this device."""
        return lax.axis_index(self._axis)

    def all_reduce(self, x: Any, how: str, ring: int) -> Any:
        """All devices' ``x``, reduced element by element."""
        if how == "prod":
            return jnp.prod(lax.all_gather(x, self._axis), axis=0)
        reduce = {"sum": lax.psum, "max": lax.pmax, "min": lax.pmin}[how]
        return reduce(x, self._axis)

    def start_all_reduce(self, x: Any, how: str, ring: int, of: str = "") -> Any:
        """All devices' ``x``, reduced: XLA decides when it is sent."""
        return self.all_reduce(x, how, ring)

    def wait(self, handle: Any) -> Any:
        """What was begun with."""
        return handle

    def gather_rows(self, x: Any, ring: int) -> Any:
        """Nothing: steps with rows of tensors are not compiled.

        Raises:
            NotTraceable: always.
        """
        raise NotTraceable("rows of tensors are gathered on the host")

    def broadcast(self, x: Any, root: int, ring: int) -> Any:
        """The ``x`` of one device."""
        return lax.all_gather(x, self._axis)[root]

    def all_gather(self, x: Any, ring: int) -> Any:
        """All devices' ``x``, one after the other."""
        return lax.all_gather(x, self._axis, tiled=True)

    def reduce_scatter(self, x: Any, ring: int) -> Any:
        """This device's part of the sum of all ``x``."""
        return lax.psum_scatter(x, self._axis, tiled=True)

    def open_ring(self, ring: int, size: int, rank: int) -> None:
        """Check that a program expects these devices.

        Raises:
            UnsupportedError: it expects others.
        """
        if size != self.size:
            raise UnsupportedError(f"expected a program of {self.size} devices, got one of {size}")


class Stacked(Sequence[Any]):
    """What each device keeps for itself, in arrays of all devices; an item is that of a device
    behind the first, by name.

    Args:
        arrays: by name, [devices, ...].
        count: how many devices there are.
    """

    def __init__(self, arrays: dict[str, Any], count: int) -> None:
        self.arrays = arrays
        self._count = count

    def __len__(self) -> int:
        return self._count - 1

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return {name: np.asarray(value)[index + 1] for name, value in self.arrays.items()}


class MeshFunction:
    """The plans of a program as one function over devices.

    Args:
        plans: of the operators of optimizers in a row, and of those between, in turn.
        updates: which of them are of optimizers.
        fetches: the names to fetch from each device.
        scale: what a sum of gradients is multiplied by.
        devices: of JAX.
        backends: JAX's and NumPy's.
        precision: of products.
    """

    def __init__(
        self,
        plans: Sequence[Plan],
        updates: Sequence[bool],
        fetches: Sequence[str],
        scale: float,
        devices: Sequence[Any],
        backends: tuple[Any, Any],
        precision: str = "highest",
    ) -> None:
        self._precision = precision
        self._plans, self._updates, self._fetches = plans, updates, list(dict.fromkeys(fetches))
        self._scale, self._backends = scale, backends
        self.mesh: Any = Mesh(np.array(devices), (AXIS,))
        self._names_rows = rows_matter(step.op for plan in plans for step in plan.steps)
        written: dict[str, None] = {}
        self.needs: dict[str, None] = {}
        once: set[str] = set()
        for plan, is_update in zip(plans, updates, strict=True):
            for name in (*plan.needs, *plan.open):
                if name in plan.persistable and name not in written:
                    self.needs[name] = None
            written.update((name, None) for name in plan.written)
            once |= plan.written if is_update else set()
        commits = dict.fromkeys(name for plan in plans for name in plan.commits)
        #: what goes to the scope: the same everywhere, or of each device
        self.once: list[str] = [name for name in commits if name in once]
        self.own: list[str] = [name for name in commits if name not in once]
        self.failures = 0  #: how often it could not be compiled
        self.call: Any = jax.jit(self._on_devices)

    def _on_devices(
        self, state: Any, stacked: Any, feeds: Any, number: Any
    ) -> tuple[Any, Any, Any, Any, Any]:
        whole, split = P(), P(AXIS)
        mapped = jax.shard_map(
            self._on_one,
            mesh=self.mesh,
            in_specs=(whole, split, split, whole),
            out_specs=(whole, split, split, split),
            check_vma=False,
        )
        shared, own, fetched, truths = mapped(state, stacked, feeds, number)
        return shared, own, {name: value[0] for name, value in own.items()}, fetched, truths.all()

    def _on_one(
        self, state: Any, stacked: Any, feeds: Any, number: Any
    ) -> tuple[Any, Any, Any, Any]:
        backend, host = self._backends
        place = lax.axis_index(AXIS)
        mine = {n: jnp.where(place == 0, state[n], v[0]) for n, v in stacked.items()}
        env = {**state, **mine, **feeds}
        count = self.mesh.devices.size
        group = groups.guard(MeshGroup(AXIS, count))
        with group, backend.checks.guard([]) as checks, backend.products(self._precision):
            whole = backend.run_key(number)  # the first device draws as one that is alone
            key = jnp.where(place == 0, whole, jax.random.fold_in(whole, place))
            trace = StepTrace(TracedEval(backend, host), key, self._names_rows)
            for plan, is_update in zip(self._plans, self._updates, strict=True):
                for step in plan.steps:
                    trace.step(step, env)
                if not is_update:
                    self._sum_gradients(plan, env, trace)
        if trace.unsure.intersection(self.once, self.own, self._fetches):
            raise NotTraceable("what a branch writes is fetched, and it may not be taken")
        truth = jnp.ones((), bool)
        for each in checks:
            truth = truth & each
        own = {name: jnp.asarray(env[name])[None] for name in self.own}
        fetched = {name: jnp.asarray(env[name])[None] for name in self._fetches}
        return {name: jnp.asarray(env[name]) for name in self.once}, own, fetched, truth[None]

    def _sum_gradients(self, plan: Plan, env: Any, trace: StepTrace) -> None:
        for name in sorted(plan.written):
            of = name.removesuffix("@GRAD")
            if of != name and of in plan.persistable and name in env:
                total = lax.psum(env[name], AXIS)
                env[name] = total * total.dtype.type(self._scale)
                trace.rows.join(name, AXIS)


class MeshReplicas(Replicas):
    """A run of a program on JAX's devices."""

    on: Any = None  #: the :class:`~fluidlite.runtime.xla.session.Device`

    def run(self, return_merged: bool) -> list[Any]:
        """Run the program, cut down to its targets; else as ``Executor.run``.

        Raises:
            UnsupportedError: there are several processes.
        """
        if jax.process_count() > 1:
            raise UnsupportedError(
                f"data parallelism of compiled programs is for the devices of one process, not of "
                f"{jax.process_count()}: run the program itself inside "
                f"fluid.distributed.mesh(data={jax.device_count()})"
            )
        takes_turns = not self._run.return_numpy or self._session().strict or self._draws_on_host()
        fetched = None
        if not takes_turns:
            with self._scope.turns.updates:
                fetched = self._on_mesh()
        if fetched is None:
            return super().run(return_merged)
        fetches = self._run.wanted[0]
        if not return_merged:
            return [[as_fetched(np.array(v)) for v in fetched[name]] for name in fetches]
        joined = {
            name: np.concatenate([np.atleast_1d(v) for v in value])
            for name, value in fetched.items()
        }
        return [as_fetched(joined[name].copy()) for name in fetches]

    def _draws_on_host(self) -> bool:
        """Whether random numbers are to be NumPy's, and the program draws some."""
        blocks = self._program.blocks if self.on.draws_on_host else ()
        return any(lookup(op.type).random for block in blocks for op in block.ops)

    def _on_mesh(self) -> dict[str, Any] | None:
        """What is fetched of all devices; None where they have to take turns."""
        devices = jax.devices() if self.on.device is None else jax.devices(self.on.device.platform)
        if len(devices) < self._count:
            warn(
                f"the program is to run on {self._count} devices, and JAX sees {len(devices)}: "
                f"they take turns; on a CPU, XLA_FLAGS=--xla_force_host_platform_device_count="
                f"{self._count} makes as many",
                None,
            )
            return None
        given, doubts = self._given()
        parts = {n: [each[n] for each in given] for n in given[0]}
        if doubts or not all(_joins(n, each, self._program) for n, each in parts.items()):
            return None
        function = self._function(self._run.wanted, devices[: self._count])
        if function is None or (self._shares and not self._scheduled().issuperset(function.own)):
            return None
        state = {name: self._scope.value(name) for name in function.needs}
        if not all(isinstance(v, np.ndarray) or is_device_array(v) for v in state.values()):
            return None
        states = self._kept.of(self._scope, self._count)
        stacked = _stacked(states, [n for n in function.own if n in state], state, self._count)
        backend, _ = self.on.backends
        number = backend.number_of(self._known.seed_of(self._program), self._known.count)
        feeds = {name: np.concatenate(each) for name, each in parts.items()}
        try:
            with backend.wide():
                outputs = function.call(state, stacked, feeds, np.uint32(number))
        except Exception:  # one device after the other: they say what is wrong
            function.failures += 1
            return None
        shared, own, firsts, fetched, truth = outputs
        if not bool(truth):
            return None
        known = [states.arrays] if isinstance(states, Stacked) else states
        others = {name for each in known for name in each}.difference(own)
        own = {**self._unwritten(states, others), **own}
        self._scope.commit(
            {**shared, **firsts},
            partial(setattr, self._known, "count", self._known.count + 1),
            partial(setattr, self._kept, "values", (ref(self._scope), Stacked(own, self._count))),
        )
        return {name: np.asarray(value) for name, value in fetched.items()}

    def _unwritten(self, kept: Sequence[Any], names: Iterable[str]) -> dict[str, Any]:
        """What devices keep, and this run has not written, in arrays of all devices."""
        firsts = {name: self._scope.value(name) for name in names}
        return _stacked(kept, list(firsts), firsts, self._count)

    def _function(self, wanted: Wanted, devices: Sequence[Any]) -> MeshFunction | None:
        """The program as a function over devices; None where there is nothing to run, and where it
        has been found to be none.
        """
        names = tuple(dict.fromkeys(wanted[0]))
        stages = list(update_stages(self._program, names, wanted[1]))
        if not stages:
            return None
        plans = [self._known.plan(self._program, (names, part), True, False) for part, _ in stages]
        known = self.on.parallel.of(plans[0])
        if known is None:
            known = self.on.parallel.keep(plans[0], {})
        key = names, wanted[1], len(devices), self._scale
        if key not in known:
            updates = [of_optimizer for _, of_optimizer in stages]
            backends = self.on.backends
            known[key] = MeshFunction(
                plans, updates, names, self._scale, devices, backends, self.on.precision
            )
        return known[key] if known[key].failures < FAILURES else None


def _joins(name: str, parts: Sequence[Any], program: Any) -> bool:
    """Whether parts of a feed are arrays of one shape, for a variable of the batch."""
    first = parts[0]
    same = all(type(v) is np.ndarray and v.shape == first.shape and v.ndim for v in parts)
    return same and not program.global_block().vars[name].persistable


def _stacked(
    kept: Sequence[Any], names: Sequence[str], state: dict[str, Any], count: int
) -> dict[str, Any]:
    """What each device keeps for itself, in arrays of all devices."""
    if isinstance(kept, Stacked) and set(names) <= set(kept.arrays):
        return {name: kept.arrays[name] for name in names}
    stacks = {}
    for name in names:
        first = np.asarray(state[name])
        stacks[name] = np.stack([first, *(np.asarray(each.get(name, first)) for each in kept)])
        assert len(stacks[name]) == count
    return stacks
