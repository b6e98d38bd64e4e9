"""The gradient of ``while`` as a loop."""

from __future__ import annotations

import copy

from ..ground.dtypes import DType, Kind
from ..ir.analysis import free_reads, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.variable import Variable
from ..opdef.gradient import GRAD
from .history import Key
from .loop_gradient import LoopGradient, declared
from .sweep import gradient_kind


class WhileGradient(LoopGradient):
    """``while_grad`` as ``while``, which counts the passes of the forward loop back."""

    def __init__(self, block: Block, op: Operator) -> None:
        super().__init__(block, op)
        self.count = f"@COUNT_{self.forward.idx}"
        self.number = f"@PASS_{self.body.idx}"
        self.arrays: list[str] = []
        #: what gradients of the values that the forward loop writes are called from pass to pass
        self.carried: dict[str, str] = {}
        self.renamed: dict[str, str] = {}

    def begin_pass(self) -> None:
        if self.count not in self.around.vars:
            _counter(self.count, self.around)
            fill = {"shape": (1,), "value": 0.0, "dtype": DType.INT64}
            outs = {"Out": [self.count]}
            self.ahead.append(self.make(self.around, "fill_constant", {}, outs, fill, True))
        _counter(self.number, self.target)
        self.begin("assign", self.count, self.number)
        self.inside("increment", [self.number], self.number, {"step": -1.0})

    def keep(self, name: str, key: Key) -> None:
        array = self.transported(name, key)
        if array in self.around.vars:
            return
        self.arrays.append(array)
        like = self.forward.var_recursive(name)
        declared(array, like, self.around, kind=Kind.LOD_TENSOR_ARRAY)
        said = {"shape": like.shape, "dtype": like.dtype}
        self.ahead.append(self.make(self.around, "empty_array", {}, {"Out": [array]}, said, True))
        type = "keep_value" if self.is_open(name, key) else "write_to_array"
        if self.is_statistic(name):
            type, self.around.vars[array].stop_gradient = "keep_statistic", False
        ins = {"X": [name], "I": [self.count]}
        self.insert(self.maker(name, key) + 1, type, ins, {"Out": [array]})

    def take(self, name: str, key: Key) -> None:
        type = "kept_value" if self.is_open(name, key) else "read_from_array"
        ins = {"X": [self.transported(name, key)], "I": [self.number]}
        outs = {"Out": [self.local(name, key)]}
        self.body.take_op(self.make(self.body, type, ins, outs))

    def kept_driver(self) -> Operator:
        more = self.arrays if self._counts() else [self.count, *self.arrays]
        driver = copy.copy(self.driver)
        outs = driver.outputs.get("Out", ())
        driver.set_output("Out", *outs, *more)
        if not self._counts():
            driver.set_input("X", *driver.inputs.get("X", ()), self.count)
        return driver

    def _counts(self) -> bool:
        """Whether the forward loop counts its passes already."""
        return self.count in self.driver.outputs.get("Out", ())

    def renamed_gradients(self) -> dict[str, str]:
        given = self.op.inputs.get("Out@GRAD", ())
        for name, gradient in zip(self.op.attrs["original_output_grad"], given, strict=True):
            of = name.removesuffix(GRAD)
            carried = self.carried[name] = f"{name}@CARRIED_{self.body.idx}"
            like = self.target.var_recursive(of)
            declared(carried, like, self.target, kind=gradient_kind(like))
            if gradient == EMPTY:
                self.begin("fill_zeros_like", of, carried)
            else:
                self.begin("assign", gradient, carried)
        self.renamed.update(self.carried)
        for x, local, _ in self.wanted("X"):
            # what adds to an array must not find that of another loop
            if (
                local not in self.carried
                and self.target.var_recursive(x).kind is Kind.LOD_TENSOR_ARRAY
            ):
                array = self.renamed[local] = f"{local}@LOCAL_{self.body.idx}"
                declared(array, self.body.var_recursive(local), self.body)
        return self.renamed

    def finish(self) -> Operator:
        for x, local, out in self.wanted("X"):
            if local in self.carried:
                self.pass_on(self.carried[local], out)
            elif local in self.written:
                total = f"{local}@SUM_{self.body.idx}"
                self.sum_of_passes(x, total)
                self.inside("sum", [total, self.renamed.get(local, local)], total)
                self.pass_on(total, out)
            else:
                self.zeros(x, out)
        if not self._counts():
            ins, outs = {"X": [self.count]}, {"Out": [self.count]}
            self.insert(len(self.forward.ops), "increment", ins, outs, {"step": 1.0})
        zero, condition = f"@ZERO_{self.body.idx}", f"@MORE_{self.body.idx}"
        _counter(zero, self.target)
        _counter(condition, self.target, DType.BOOL)
        fill = {"shape": (1,), "value": 0.0, "dtype": DType.INT64}
        self.before.append(self.make(self.target, "fill_constant", {}, {"Out": [zero]}, fill))
        compared = {"X": [zero], "Y": [self.number]}, {"Out": [condition]}
        self.before.append(self.make(self.target, "less_than", *compared))
        self.body.take_op(self.make(self.body, "less_than", *compared))
        inside = self.body.vars
        written = dict.fromkeys(n for op in self.body.ops for n in writes_of(op))
        ins = {"X": [n for n in free_reads(self.body) if n != condition], "Condition": [condition]}
        outs = {"Out": [n for n in written if n not in inside], "StepScopes": [self.scopes()]}
        return self.make(self.target, "while", ins, outs, {"sub_block": self.body.idx})


def _counter(name: str, block: Block, dtype: DType = DType.INT64) -> None:
    block.declare(Variable(block, name, shape=(1,), dtype=dtype, stop_gradient=True))
