"""A program that runs among eager tensors: one node, whose gradients are operators, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import backend as backends
from ...backward.program import gradients
from ...eager.function import PyLayerContext, recorded
from ...eager.mode import thread
from ...eager.recording import TensorRecord
from ...errors import ArgumentError
from ...ground.dtypes import Kind
from ...ground.seeding import next_executor
from ...ground.state import eager
from ...ir.analysis import reads_of
from ...ir.operator import Operator, OpRole
from ...ir.program import Program, program_guard
from ...layers.structure import rebuilt
from ...runtime.plan import Plan, ProgramPart
from ...runtime.run_state import RunState
from ...runtime.session import Session
from ..tensor import VarBase
from .building import Built, Output, OutputParts

COTANGENT = "@COTANGENT"


class _Way:
    """How a program is run with the gradients of some of its values.

    Args:
        built: the program.
        wanted: names of the values.
    """

    def __init__(self, built: Built, wanted: tuple[str, ...]) -> None:
        outputs = [v.name for v in built.outputs]
        self.program: Program = built.main
        self.slopes: list[str | None] = []
        self.kept: list[str] = []
        self.targets: list[int] = []
        if not wanted:
            self.forward = Plan(self.program, outputs)
            return
        self.program = built.main.clone()
        block = self.program.global_block()
        sources = [block.var(name) for name in wanted]
        for source in sources:
            source.stop_gradient = False
        goals, weights = [], []
        for place, name in enumerate(outputs):
            goal = block.var(name)
            if goal.dtype.is_continuous and goal.kind is Kind.LOD_TENSOR:
                goals.append(goal)
                self.targets.append(place)
                weight = block.create_var(
                    name=name + COTANGENT,
                    shape=goal.shape if goal.has_shape else None,
                    dtype=goal.dtype,
                    stop_gradient=True,
                )
                weights.append(weight)
        with program_guard(self.program, Program()), eager.guard(False):
            found = gradients(goals, sources, weights) if goals else [None for _ in sources]
        self.slopes = [None if each is None else each.name for each in found]
        ops = block.ops
        count = next((i for i, op in enumerate(ops) if op.role & OpRole.BACKWARD), len(ops))
        behind = [n for n in self.slopes if n is not None]
        self.backward = Plan(self.program, behind, ProgramPart(count))
        made = {n for op in ops[:count] for n in op.output_arg_names}
        self.kept = [n for n in _read_by(ops[count:]) if n in made or n in built.capture.tensors]
        self.kept += [v.name for v in built.inputs if v.name not in self.kept]
        self.forward = Plan(self.program, [*outputs, *self.kept], ProgramPart(0, count))


def _read_by(ops: Sequence[Operator]) -> list[str]:
    return list(dict.fromkeys(n for op in ops for n in reads_of(op)))


class Runner:
    """Runs a program among eager tensors.

    Args:
        built: the program.
    """

    def __init__(self, built: Built) -> None:
        self._built = built
        self._ways: dict[tuple[str, ...], _Way] = {}
        self._state = RunState(next_executor())
        self._state.seed = built.seed or None

    def __call__(self, given: Sequence[Any]) -> Any:
        """Run.

        Args:
            given: tensors and arrays for the inputs of the program.

        Returns:
            what the function gives, with tensors in place of variables.
        """
        built = self._built
        tensors = dict(zip((v.name for v in built.inputs), given))
        tensors |= built.capture.tensors
        wanted: tuple[str, ...] = ()
        if thread.recording:
            wanted = tuple(
                n
                for n, t in tensors.items()
                if isinstance(t, TensorRecord) and not t.stop and t.array.dtype.kind in "fc"
            )
        way = self._ways.get(wanted)
        if way is None:
            way = self._ways[wanted] = _Way(built, wanted)
        env = {n: t.array if isinstance(t, TensorRecord) else t for n, t in tensors.items()}
        start = dict(env)
        self._run(way.program, way.forward, env)
        outputs = [env[v.name] for v in built.outputs]
        for name in way.forward.commits:
            if name in built.capture.tensors:
                built.capture.tensors[name].set_value(np.asarray(env[name]))
        self._state.count += 1
        if wanted:
            kept = {n: env.get(n, start.get(n)) for n in way.kept}
            outputs = self._connected(way, wanted, tensors, outputs, kept)
        found = [e if isinstance(e, TensorRecord) else VarBase(np.asarray(e)) for e in outputs]
        return _assembled(built.structure, found)

    def _run(self, program: Program, plan: Plan, env: dict[str, Any]) -> None:
        self._state = self._state.renewed()
        seed = self._state.seed_of(program)
        with np.errstate(all="ignore"):  # infinities are values
            Session(backends.get("numpy"), seed, self._state.count).run(plan, env)

    def _connected(
        self,
        way: _Way,
        wanted: tuple[str, ...],
        tensors: dict[str, Any],
        outputs: list[Any],
        kept: dict[str, Any],
    ) -> list[Any]:
        """The outputs as tensors that gradients flow through."""
        count = self._state.count

        def backward(context: Any, *cotangents: Any) -> Any:
            if thread.recording:
                raise ArgumentError(
                    "the gradients of a translated function cannot be differentiated again; call "
                    "it after ProgramTranslator().enable(False), so that it runs at once"
                )
            env = dict(kept)
            for place, cotangent in zip(way.targets, cotangents):
                env[self._built.outputs[place].name + COTANGENT] = cotangent.array
            now, self._state.count = self._state.count, count
            try:
                self._run(way.program, way.backward, env)
            finally:
                self._state.count = now
            return [None if n is None else VarBase(np.asarray(env[n])) for n in way.slopes]

        results = [VarBase(outputs[place]) for place in way.targets]
        if not results:
            return outputs
        given = [tensors[n] for n in wanted]
        made = recorded("program", backward, PyLayerContext(), given, results)
        found = list(outputs)
        for place, tensor in zip(way.targets, made):
            found[place] = tensor
        return found


def _assembled(structure: Any, found: list[Any]) -> Any:
    """What a function gives, with tensors in place of the numbers of outputs."""
    if isinstance(structure, Output):
        return found[structure.number]
    if isinstance(structure, OutputParts):
        whole, sizes = found[structure.number : structure.number + 2]
        ends = np.cumsum(sizes.array)
        return [whole[int(e - n) : int(e)] for n, e in zip(sizes.array, ends)]
    if isinstance(structure, (list, tuple, dict)):
        parts = structure.values() if isinstance(structure, dict) else structure
        return rebuilt(structure, [_assembled(each, found) for each in parts])
    return structure
