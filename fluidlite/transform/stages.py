"""A program as stages that run one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from ..errors import ArgumentError, FetchError, suggestion
from ..ground.console import say
from ..ground.dtypes import Kind
from ..ground.values import LoDTensor
from ..ir.analysis import fed_names, fetched_names
from ..ir.costs import bytes_of, elements_of, multiply_adds
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..runtime.executor import Executor
from ..runtime.feeding import handed_out
from .block_values import said_operator
from .blocks import ENDS, subtree
from .parts import CutOut, declared_while, named_readers
from .results import Transformed
from .selecting import Operators, VariableLike, name_of, one_or_several, operator_of, place_of
from .versions import Version, Versions

_SLACK = 0.1  # of a stage's work: within that the place is taken where least passes
#: kinds of variables that pass from stage to stage: by feeding, or in the scope
_FED = Kind.LOD_TENSOR
_IN_SCOPE = frozenset({Kind.LOD_TENSOR_ARRAY, Kind.SELECTED_ROWS})


def split(
    program: Program,
    at: int | Iterable[Operators] | Operators,
    outputs: Iterable[VariableLike] = (),
    *,
    explain: bool = False,
) -> list[Transformed]:
    """The stages of a program: programs that compute, one after the other, what the program does.

    A stage is fed what earlier ones have computed, and what the program is fed.  What stays between
    runs lies in the scope, for all stages.  Arrays of tensors and sparse gradients pass through the
    scope, too.  So training programs can be split, between the gradients as well as in front of
    them; only a loop or branch and its gradient stay in one stage.

    Args:
        program: stays as it is.
        at: the operators of block 0 in front of which a stage begins; or how many stages there are
            to be, which do about the same work.
        outputs: the results of the program; they are among the outputs of the stages.  What a model
            fetches, and what nothing reads, always is.
        explain: print where each stage begins, and what it is fed and gives.

    Returns:
        for each stage its program, the variables that it is fed, and those that it computes for
        others.  :func:`run_stages` runs them.

    Raises:
        ArgumentError: a stage would be empty; or what passes from one to another cannot (says what,
            and who reads it).

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(fluid.layers.fc(x, 3, act="relu"), 2)
    >>> for stage in fluid.transform.split(fluid.default_main_program(), "relu"):
    ...     print(stage)
    <program with inputs x and outputs fc_0.tmp_1>
    <program with inputs fc_0.tmp_1 and outputs fc_1.tmp_1>
    """
    block = program.global_block()
    versions = Versions(block)
    positions = [i for i, op in enumerate(block.ops) if op.type not in ENDS]
    if not positions:
        raise ArgumentError("the program has no operators to split")
    crossings = Crossings(versions, positions)
    if isinstance(at, int) and not isinstance(at, bool):
        bounds = _balanced(versions, crossings, at)
    else:
        bounds = _chosen(program, positions, at)
    for bound in bounds:
        crossings.check(bound)
    wanted = _wanted(program, versions, positions, outputs)
    edges = [positions[0], *bounds, positions[-1] + 1]
    rows = [[i for i in positions if a <= i < b] for a, b in pairwise(edges)]
    stages = [_stage(program, versions, row, crossings, wanted) for row in rows]
    if explain:
        for number, (row, stage) in enumerate(zip(rows, stages)):
            op = block.ops[row[0]]
            place = said_operator(0, row[0], op.type, op.callsite)
            say(f"{place}: split: begins stage {number}, {stage!r}")
    return stages


def run_stages(
    executor: Executor,
    stages: Sequence[Transformed],
    feed: Mapping[str, Any] | None = None,
    fetch_list: Iterable[VariableLike] | VariableLike = (),
    return_numpy: bool = True,
) -> list[Any]:
    """What a program that was split computes, stage by stage.

    Args:
        executor: runs them, in the scope in use.
        stages: of :func:`split`.
        feed: what the program is fed.
        fetch_list: one or several outputs of stages, or variables that stay between runs.
        return_numpy: whether arrays are returned, not tensors.

    Raises:
        FetchError: no stage computes a variable for others.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.scale(fluid.layers.relu(x), 2.0)
    >>> stages = fluid.transform.split(fluid.default_main_program(), ["scale"])
    >>> feed = {"x": np.array([[-1, 3]], "float32")}
    >>> fluid.transform.run_stages(fluid.Executor(), stages, feed, [y])
    [array([[0., 6.]], dtype=float32)]
    """
    listed = one_or_several(fetch_list, (str, Variable), "variables or their names")
    wanted = [name_of(each) for each in listed]
    values: dict[str, Any] = dict(feed or {})
    for stage in stages:
        block = stage.program.global_block()
        names = [v.name for v in stage.outputs]
        names += [n for n in wanted if n in block.vars and block.vars[n].persistable]
        fed = {v.name: values[v.name] for v in stage.inputs if values.get(v.name) is not None}
        results = executor.run(stage.program, feed=fed, fetch_list=names, return_numpy=False)
        values.update(zip(names, results))
    for name in wanted:
        if name not in values:
            raise FetchError(
                f"no stage computes {name!r} for others{suggestion(name, values)}; name it among "
                "the outputs of split"
            )
    return [_given_back(name, values[name], return_numpy) for name in wanted]


def _given_back(name: str, value: Any, return_numpy: bool) -> Any:
    """A value as a user gets it; as an array, a gradient has no sequences."""
    is_plain = isinstance(value, LoDTensor) and (not value.offsets or name.endswith("@GRAD"))
    bare = value.data if return_numpy and is_plain else value
    return handed_out(name, bare, return_numpy)


def _chosen(
    program: Program, positions: Sequence[int], at: Iterable[Operators] | Operators
) -> list[int]:
    """The positions in front of which a user wants stages to begin.

    Raises:
        ArgumentError: one lies in another block, or nothing is in front of it.
    """
    listed = at if isinstance(at, (list, tuple, set, frozenset)) else [at]
    bounds = set()
    for op in (operator_of(program, each) for each in listed):
        if op.block.idx or op.type in ENDS:
            raise ArgumentError(f"expected operators of block 0 that compute, got {place_of(op)}")
        if op.idx == positions[0]:
            raise ArgumentError(f"the first stage would be empty: {place_of(op)} is the first one")
        bounds.add(op.idx)
    return sorted(bounds)


def _balanced(versions: Versions, crossings: Crossings, stages: int) -> list[int]:
    """The positions in front of which stages begin that do about the same work each.

    Raises:
        ArgumentError: there are fewer places where the program can be split.
    """
    block, positions = versions.block, crossings.positions
    legal = [i for i in positions[1:] if not crossings.forbidden_at(i)]
    if stages < 1 or len(legal) < stages - 1:
        raise ArgumentError(
            f"expected between 1 and {len(legal) + 1} stages, which is what the program can be "
            f"split into, got {stages}"
        )
    done = dict(zip(positions, accumulate(_work(block.ops[i]) for i in positions)))
    before = dict(zip(positions[1:], done.values()))
    total = done[positions[-1]]
    bounds: list[int] = []
    for k in range(1, stages):
        left = legal[bisect_right(legal, bounds[-1]) if bounds else 0 :]
        left = left[: len(left) - (stages - 1 - k)]
        aim = total * k / stages
        near = min(abs(before[i] - aim) for i in left) + _SLACK * total / stages
        close = [i for i in left if abs(before[i] - aim) <= near]
        bounds.append(min(close, key=lambda i: (crossings.bytes_at(i), abs(before[i] - aim))))
    return bounds


def _work(op: Operator) -> int:
    """About how much an operator does, with what it drives: numbers that it computes, and products
    that it adds up for them.
    """
    inner = [each for block in subtree(op.block.program, [op]) for each in block.ops]
    written = [op.find_var(name) for name in op.output_arg_names]
    numbers = sum(elements_of(v, 1) for v in written if v is not None)
    return 1 + numbers + sum(multiply_adds(each, 1) for each in (op, *inner))


class Crossings:
    """What passes from operators to operators behind them.

    Args:
        versions: of block 0.
        positions: of the operators that compute.
    """

    def __init__(self, versions: Versions, positions: Sequence[int]) -> None:
        self.versions = versions
        self.positions = positions
        self.last_read: dict[Version, int] = {}
        for i in positions:
            for version in (*versions.reads[i], *versions.passed_by[i]):
                self.last_read[version] = i
        self._bytes = [0] * (len(versions.reads) + 1)
        self._forbidden = [0] * (len(versions.reads) + 1)
        for version, read in self.last_read.items():
            writer = versions.writer.get(version)
            variable = versions.block.find_var_recursive(version[0])
            if writer is None or variable is None or variable.persistable:
                continue
            if versions.is_absent(version):
                continue
            passes = self._passes(version, variable)
            counts, amount = (
                (self._bytes, bytes_of(variable, 1)) if passes else (self._forbidden, 1)
            )
            counts[writer + 1] += amount
            counts[read + 1] -= amount
        early = declared_while(versions, self.last_read)
        #: values whose variables are declared as something else when they hold their last ones
        self.apart = {
            version
            for version, variable in early.items()
            if variable.spec != versions.block.var_recursive(version[0]).spec
        }
        self._bytes = list(accumulate(self._bytes))
        self._forbidden = list(accumulate(self._forbidden))

    def _passes(self, version: Version, variable: Variable) -> bool:
        """Whether a value can pass from a stage to another one."""
        can_pass = variable.kind is _FED or variable.kind in _IN_SCOPE
        return can_pass and not self.versions.may_be_unset(version)

    def bytes_at(self, position: int) -> int:
        """How many bytes pass a position."""
        return self._bytes[position]

    def forbidden_at(self, position: int) -> bool:
        """Whether something passes a position that cannot pass between stages."""
        return self._forbidden[position] > 0

    def check(self, position: int) -> None:
        """Refuse a position that something passes which cannot pass between stages.

        Raises:
            ArgumentError: names it, and who reads it.
        """
        if not self.forbidden_at(position):
            return
        block = self.versions.block
        for version, read in self.last_read.items():
            variable = block.find_var_recursive(version[0])
            writer = self.versions.writer.get(version, position)
            if variable is None or not writer < position <= read:
                continue
            if variable.persistable or self._passes(version, variable):
                continue
            readers = [block.ops[i] for i in self.positions if i >= position]
            readers = [op for op in readers if op.reads(version[0])]
            made = "may not compute" if variable.kind is _FED else f"makes as {variable.kind.name}"
            raise ArgumentError(
                f"cannot split in front of {place_of(block.ops[position])}: {version[0]!r}, which "
                f"{place_of(block.ops[writer])} {made}, "
                f"is read by {named_readers(readers)}; put both in one stage"
            )


def _wanted(
    program: Program, versions: Versions, positions: Sequence[int], outputs: Iterable[VariableLike]
) -> set[Version]:
    """The results of the whole program.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: nothing computes one.
    """
    block = program.global_block()
    listed = [outputs] if isinstance(outputs, (str, Variable)) else list(outputs)
    names = [block.var(name_of(each)).name for each in listed]
    for name in names:
        variable = block.vars[name]
        if name not in versions.last and not (variable.persistable or variable.is_data):
            raise ArgumentError(f"expected outputs that the program computes, {name!r} is none")
    read = {version for i in positions for version in versions.reads[i]}
    wanted = {(n, versions.last[n]) for n in (*names, *fetched_names(block)) if n in versions.last}
    return wanted | {(n, k) for n, k in versions.last.items() if (n, k) not in read}


def _stage(
    program: Program,
    versions: Versions,
    row: Sequence[int],
    crossings: Crossings,
    wanted: Collection[Version],
) -> Transformed:
    """A stage of some operators.

    Args:
        program: the whole.
        versions: of its block 0.
        row: the positions of the operators.
        crossings: what passes between them.
        wanted: the results of the whole.
    """
    block, fed = program.global_block(), fed_names(program.global_block())
    written = {version for i in row for version in versions.writes[i]}
    read = dict.fromkeys(v for i in row for v in (*versions.reads[i], *versions.passed_by[i]))
    variables = {name: block.find_var_recursive(name) for name, _ in (*read, *written)}

    def has_to_come(version: Version) -> bool:
        variable = variables[version[0]]
        if variable is None or variable.persistable or version in written:
            return False
        if versions.is_absent(version):
            return False
        return version[1] > 0 or variable.is_data or variable.name in fed

    def is_tensor(version: Version) -> bool:
        variable = variables[version[0]]
        return variable is not None and variable.kind is _FED and not variable.persistable

    come = [version for version in read if has_to_come(version)]
    go = [v for v in written if crossings.last_read.get(v, -1) > row[-1] or v in wanted]
    go = [v for v in go if v in wanted or not versions.is_absent(v)]
    go.sort(key=lambda version: (versions.writer[version], version))
    in_scope = [
        name
        for name, _ in (*come, *go)
        if (variable := variables[name]) is not None and variable.kind in _IN_SCOPE
    ]
    fed_values, results = list(filter(is_tensor, come)), list(filter(is_tensor, go))
    cut_out = CutOut(versions, row, fed_values, results, in_scope, crossings.apart)
    stage = cut_out.build(program)
    known = stage.global_block().vars
    return Transformed(
        stage,
        tuple(known[name] for name in cut_out.input_names()),
        tuple(known[name] for name in cut_out.output_names()),
    )
