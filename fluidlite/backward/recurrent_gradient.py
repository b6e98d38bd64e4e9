"""The gradient of ``recurrent`` as a recurrent network."""

from __future__ import annotations

import copy

from ..ground.dtypes import Kind
from ..ir.analysis import free_reads
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..opdef.gradient import GRAD
from .history import Key
from .loop_gradient import LoopGradient, declared


class RecurrentGradient(LoopGradient):
    """``recurrent_grad`` as ``recurrent``, which goes through the steps the other way."""

    def __init__(self, block: Block, op: Operator) -> None:
        super().__init__(block, op)
        self.sequences: list[str] = []
        self.states: list[tuple[str, str, str]] = []  # before all steps, before one, behind it
        self.results: list[str] = []
        self.kept: list[str] = []

    def hands_out(self, name: str, key: Key) -> bool:
        is_tensor = self.forward.var_recursive(name).kind is Kind.LOD_TENSOR
        return is_tensor and not self.is_open(name, key)

    def keep(self, name: str, key: Key) -> None:
        if self._is_step(name, key):
            return
        steps = self.transported(name, key)
        if steps in self.around.vars:
            return
        self.kept.append(steps)
        like = self.forward.var_recursive(name)
        declared(steps, like, self.forward)
        declared(steps, like, self.around, sizes=(self._length(), *like.shape))
        type = "assign"
        if self.is_statistic(name):
            type = "pass_statistic"
            for block in (self.forward, self.around):
                block.vars[steps].stop_gradient = False
        self.insert(self.maker(name, key) + 1, type, {"X": [name]}, {"Out": [steps]})

    def _is_step(self, name: str, key: Key) -> bool:
        """Whether a value is a step of a sequence."""
        return self.maker(name, key) < 0 and name in self.driver.inputs["inputs"]

    def _length(self) -> int:
        return self.around.var_recursive(self.driver.inputs["inputs"][0]).shape[0]

    def take(self, name: str, key: Key) -> None:
        if self._is_step(name, key):
            source = self.outer(name)
        else:
            source = self.transported(name, key)
        local = self.local(name, key)
        if source == local:
            self.sequences.append(local)
        else:
            self._take_step(source, local)
            if self.is_statistic(name):
                self.body.vars[source].stop_gradient = False

    def _take_step(self, source: str, local: str) -> None:
        """Let the block find a step of a sequence under a name of its own."""
        self.sequences.append(source)
        declared(source, self.body.var_recursive(local), self.body)
        self.inside("assign", [source], local)

    def kept_driver(self) -> Operator:
        driver = copy.copy(self.driver)
        driver.set_output("outputs", *driver.outputs.get("outputs", ()), *self.kept)
        return driver

    def renamed_gradients(self) -> dict[str, str]:
        """None are renamed; takes what flows to the outputs of the forward operator."""
        op = self.op
        flows = zip(op.inputs.get("outputs", ()), op.inputs.get("outputs@GRAD", ()))
        for name, flowing in flows:
            if flowing != EMPTY:
                like = self.forward.var_recursive(name)
                steps, local = f"{name}{GRAD}@STEPS_{self.body.idx}", name + GRAD
                declared(steps, like, self.target, sizes=(self._length(), *like.shape))
                self.begin("assign", flowing, steps)
                if local not in self.body.vars:
                    declared(local, like, self.body)
                self._take_step(steps, local)
        return {}

    def finish(self) -> Operator:
        op, body = self.op, self.body
        first: list[tuple[str, str, str]] = []  # before all steps, before one, behind it
        last: list[str] = []
        outs = op.outputs.get("initial_states@GRAD", ())
        flowing = op.inputs.get("final_states@GRAD", ())
        for k, initial in enumerate(op.inputs.get("initial_states", ())):
            ex_state, state = op.attrs["ex_states"][k], op.attrs["states"][k]
            like = self.around.var_recursive(initial)
            begin = declared(f"{state}{GRAD}@FIRST_{body.idx}", like, self.target)
            if k < len(flowing) and flowing[k] != EMPTY:
                self.begin("assign", flowing[k], begin)
            else:
                self.begin("fill_zeros_like", initial, begin)
            declared(state + GRAD, self.forward.var_recursive(state), body)
            first.append((begin, state + GRAD, ex_state + GRAD))
            last.append(declared(f"{ex_state}{GRAD}@LAST_{body.idx}", like, self.target))
            if k < len(outs) and outs[k] != EMPTY:
                self.pass_on(last[-1], outs[k])
        for x, local, out in self.wanted("parameters"):
            if local not in self.written:
                self.zeros(x, out)
                continue
            like = self.target.var_recursive(x)
            names = [f"{local}@{word}_{body.idx}" for word in ("FIRST", "BEFORE", "SUM", "LAST")]
            for name, block in zip(names, (self.target, body, body, self.target)):
                declared(name, like, block)
            self.begin("fill_zeros_like", x, names[0])
            self.inside("sum", [names[1], local], names[2])
            first.append((names[0], names[1], names[2]))
            last.append(names[3])
            self.pass_on(names[3], out)
        results = [name for t in self.wanted("inputs") if (name := self._result(*t))]
        ex_states = [before for _, before, _ in first]
        attrs = {
            "ex_states": ex_states,
            "states": [behind for _, _, behind in first],
            "reverse": not op.attrs.get("reverse", False),
            "has_states": bool(first),
            "sub_block": body.idx,
        }
        bound = {*self.sequences, *ex_states}
        ins = {
            "inputs": self.sequences,
            "initial_states": [begin for begin, _, _ in first],
            "parameters": [n for n in free_reads(body) if n not in bound],
        }
        results_by_slot = {"outputs": results, "step_scopes": [self.scopes()], "final_states": last}
        return self.make(self.target, "recurrent", ins, results_by_slot, attrs)

    def _result(self, x: str, local: str, out: str) -> str:
        """What the steps hand out of the gradient of a sequence; nothing where it is zero."""
        if local not in self.written:
            self.zeros(x, out)
            return ""
        like = self.target.var_recursive(x)
        steps = f"{local}@STEPS_{self.body.idx}"
        declared(steps, like, self.target)
        declared(steps, like, self.body, sizes=like.shape[1:])
        self.inside("assign", [local], steps)
        self.pass_on(steps, out)
        return steps
