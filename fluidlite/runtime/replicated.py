"""Running a program on several devices: on parts of a batch, with the mean of their gradients.

The devices are the one processor: parts go through the program one after the other.  Operators of
optimizers run once, on gradients of all parts.  What other operators write (statistics, say) each
device keeps for itself from run to run, and the scope has that of the first one.  With
``ReduceStrategy.Reduce`` devices share it: each goes on from what the one before it wrote.  What
schedules of learning rates write is one step for all of them in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any
from weakref import ref

import numpy as np

from ..compiler import BuildStrategy, CompiledProgram, GradientScaleStrategy
from ..errors import FeedError, FeedTypeError, UnsupportedError
from ..ground.process_group import groups
from ..ground.values import LoDTensor, SelectedRows, as_fetched
from ..ir.operator import OpRole
from .feeding import unknown_name
from .plan import Plan, update_stages
from .run import Run
from .run_state import RunState
from .session import Session
from .step import Environment
from .turn import Commit, in_turn


class Replicas:
    """A run of a program on several devices; ``session`` makes a run on one of them."""

    def __init__(
        self, compiled: CompiledProgram, asked: Run, known: RunState, session: Callable[[], Session]
    ) -> None:
        self._program, self._count = compiled.program, compiled.device_count
        self._run, self._scope = asked, asked.scope
        self._known, self._session = known, session
        self._kept = compiled.kept
        strategy = compiled.build_strategy or BuildStrategy()
        is_mean = strategy.gradient_scale_strategy is GradientScaleStrategy.CoeffNumDevice
        self._scale = 1 / self._count if is_mean else 1.0
        self._shares = strategy.reduce_strategy is BuildStrategy.ReduceStrategy.Reduce

    def run(self, return_merged: bool) -> list[Any]:
        """Run the program, cut down to its targets; else as ``Executor.run``."""
        if groups.get().size > 1:
            raise UnsupportedError(
                f"expected one device in each of {groups.get().size} processes, got {self._count}; "
                "let CPU_NUM be 1, or give one place, and start more processes"
            )
        program, known = self._program, self._known
        feeds, doubts = self._given()
        known.warn(doubts)
        fetches, cut = self._run.wanted
        names = tuple(dict.fromkeys(fetches))
        plans = [
            (known.plan(program, (names, part), True, False), updates)
            for part, updates in update_stages(program, names, cut)
        ]
        reads = {n for plan, _ in plans for n in plan.persistable.intersection(plan.needs)}
        changed = {*feeds[0], *(name for plan, _ in plans for name in plan.commits)}
        run = partial(self._run_plans, plans, feeds, return_merged)
        return in_turn(self._scope, reads, changed, any(p.calls_out for p, _ in plans), run)

    def _run_plans(
        self,
        plans: list[tuple[Plan, bool]],
        given: list[Environment],
        return_merged: bool,
        commit: Commit,
    ) -> list[Any]:
        """Run plans one after the other, and commit; what is fetched."""
        run, scope, known = self._run, self._scope, self._known
        states = ({}, *self._kept.of(scope, self._count))
        envs = [{**own, **each} for own, each in zip(states, given, strict=True)]
        written = {name for plan, _ in plans for name in plan.written}
        known.warn(run.without_value(written, envs[0]))
        with np.errstate(all="ignore"):
            for plan, updates in plans:
                self._run_stage(plan, envs, once=updates)
        results = [self._fetched(name, envs, return_merged) for name in run.wanted[0]]
        commits = dict.fromkeys(name for plan, _ in plans for name in plan.commits)
        news, _ = run.kept_values(commits, envs[0], given[0])
        once = {name for plan, updates in plans if updates for name in plan.written}
        own = [] if self._shares else [name for name in commits if name not in once]
        values = [
            {**before, **run.kept_values(own, env, {})[0]}
            for before, env in zip(states[1:], envs[1:], strict=True)
        ]
        commit(
            news,
            partial(setattr, known, "count", known.count + 1),
            partial(setattr, self._kept, "values", (ref(scope), values)),
        )
        return results

    def _run_stage(self, plan: Plan, envs: list[Environment], once: bool) -> None:
        """Run operators for each device, or once for all of them."""
        shared = set(plan.commits) - self._scheduled() if self._shares and not once else ()
        for device, env in enumerate(envs[:1] if once else envs):
            if shared and device:
                _carry(shared, envs[device - 1], [env])
            self._run.take_persistables(plan, env)
            self._session().run(plan, env, device or None)
        _carry(plan.written if once else shared, envs[0 if once else -1], envs)
        if once:
            return
        for name in sorted(plan.written):
            of = name[: -len("@GRAD")] if name.endswith("@GRAD") else None
            if of in plan.persistable and all(name in env for env in envs):
                gathered = _sum([env[name] for env in envs], self._scale)
                for env in envs:
                    env[name] = gathered

    def _scheduled(self) -> set[str]:
        """What schedules of learning rates write."""
        ops = self._program.global_block().ops
        return {n for op in ops if op.role & OpRole.LRSCHED for n in op.output_arg_names}

    def _given(self) -> tuple[list[Environment], dict[str, str]]:
        """What each device is fed, and what is doubtful about it.

        Raises:
            FeedTypeError: there are not as many dictionaries as devices.
            FeedError: there are fewer samples than devices, or no variable has a fed name.
        """
        feed = self._run.feed
        if isinstance(feed, (list, tuple)) and feed:
            if len(feed) != self._count:
                raise FeedTypeError(
                    f"expected a dictionary for each of {self._count} devices, got {len(feed)}"
                )
            for each in feed:
                self._refuse_strangers(each)
            pairs = [self._run.with_feed(each).fed() for each in feed]
            return [env for env, _ in pairs], {k: v for _, d in pairs for k, v in d.items()}
        self._refuse_strangers(feed)
        whole, doubts = self._run.fed()
        known = self._program.global_block().vars
        devices: list[Environment] = [{} for _ in range(self._count)]
        for name, value in whole.items():
            parts = [value] * self._count if known[name].persistable else self._parts(name, value)
            for env, part in zip(devices, parts, strict=True):
                env[name] = part
        return devices, doubts

    def _refuse_strangers(self, feed: Any) -> None:
        """Refuse names that the program does not have, as fluid 1.8 does on several devices."""
        known = self._program.global_block().vars
        if strangers := [name for name in feed or () if name not in known]:
            raise FeedError(
                f"on {self._count} devices: {unknown_name(strangers[0], self._program)}"
            )

    def _parts(self, name: str, value: Any) -> list[Any]:
        """A batch in parts of as many samples, or sequences, the first of them one longer."""
        is_lod = isinstance(value, LoDTensor)
        shape = value.data.shape if is_lod else value.shape
        count = len(value.offsets[0]) - 1 if is_lod else shape[0] if shape else 0
        if count < self._count:
            raise FeedError(
                f"variable {name!r} was fed {count} samples for {self._count} devices; feed more, "
                f"or let CPU_NUM or places be fewer"
            )
        bounds = [len(each) for each in np.array_split(np.empty(count), self._count)]
        ends = np.cumsum([0, *bounds]).tolist()
        cut = _sequences if is_lod else _rows
        return [cut(value, first, last) for first, last in pairwise(ends)]

    def _fetched(self, name: str, envs: list[Environment], return_merged: bool) -> Any:
        """A value of each device, joined or as a list."""
        found = [self._run.fetched(name, env) for env in envs]
        return _joined(found) if return_merged else found


def _carry(names: Iterable[str], source: Environment, others: list[Environment]) -> None:
    """Give other devices the values that one has of some variables."""
    for env in others:
        env.update({name: source[name] for name in names if name in source})


def _rows(value: Any, first: int, last: int) -> Any:
    return value[first:last]


def _sequences(value: LoDTensor, first: int, last: int) -> LoDTensor:
    levels = []
    for offsets in value.offsets:
        cut = offsets[first : last + 1]
        levels.append([offset - cut[0] for offset in cut])
        first, last = cut[0], cut[-1]
    return LoDTensor(value.data[first:last], levels)


def _sum(values: list[Any], scale: float) -> Any:
    """The scaled sum of a gradient of each device."""
    if all(isinstance(value, SelectedRows) for value in values):
        rows = np.concatenate([value.numbers for value in values])
        found = np.concatenate([value.value for value in values])
        return SelectedRows(rows, values[0].height(), found * found.dtype.type(scale))
    dense = [v.to_dense() if isinstance(v, SelectedRows) else v for v in values]
    return sum(dense[1:], dense[0]) * dense[0].dtype.type(scale)


def _joined(found: list[Any]) -> Any:
    """Values of devices one after the other; a list of what does not join."""
    if all(isinstance(value, np.ndarray) for value in found):
        return as_fetched(np.concatenate([np.atleast_1d(value) for value in found]))
    if not all(isinstance(value, LoDTensor) for value in found):
        return None if all(value is None for value in found) else found
    levels: list[list[int]] = [[0] for _ in found[0].offsets]
    for value in found:
        for level, offsets in zip(levels, value.offsets, strict=True):
            level += [offset + level[-1] for offset in offsets[1:]]
    return LoDTensor(np.concatenate([np.atleast_1d(value.data) for value in found]), levels)
